#include "pg/node/value.h"

#include <cstring>

#include "pg/bridge/bridge.h"
#include "pg/types/numeric.h"
#include "plan/expr.h"

extern "C" {
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

namespace loom::pg {

using column::Int128;
using column::Scalar;
using plan::TypeId;

std::optional<ScaledNumber> scaled_number(Datum numeric) {
    const char* text =
        pg_call([&] { return DatumGetCString(DirectFunctionCall1(numeric_out, numeric)); });
    ScaledNumber number;
    const bool negative = *text == '-';
    if (negative) ++text;
    bool point = false;
    int digits = 0;
    for (; *text != '\0'; ++text) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (*text < '0' || *text > '9') return std::nullopt;
        if (digits > 0 || *text != '0') ++digits;
        if (digits > plan::kMaxPrecision) return std::nullopt;
        if (point && ++number.scale > plan::kMaxDecimalScale) return std::nullopt;
        number.unscaled = number.unscaled * 10 + (*text - '0');
    }
    if (negative) number.unscaled = -number.unscaled;
    number.digits = std::max(digits, 1);
    return number;
}

std::optional<Int128> rescale(const ScaledNumber& number, int scale) {
    Int128 value = number.unscaled;
    for (int s = number.scale; s > scale; --s) {
        if (value % 10 != 0) return std::nullopt;
        value /= 10;
    }
    if (value != 0 && number.digits + scale - number.scale > plan::kMaxPrecision)
        return std::nullopt;
    for (int s = number.scale; s < scale; ++s) value *= 10;
    return value;
}

bool is_valid_text(const char* bytes, int size) noexcept {
    return pg_verify_mbstr(PG_UTF8, bytes, size, true);
}

namespace {

Scalar bytes_of_varlena(Datum value) {
    const char* data = nullptr;
    size_t size = 0;
    pg_call([&] {
        struct varlena* detoasted = PG_DETOAST_DATUM_PACKED(value);
        data = VARDATA_ANY(detoasted);
        size = VARSIZE_ANY_EXHDR(detoasted);
    });
    return Scalar::of_bytes(std::string(data, size));
}

template <typename T>
Scalar bytes_of(const T* value) {
    return Scalar::of_bytes(std::string(reinterpret_cast<const char*>(value), sizeof(T)));
}

}  // namespace

std::optional<Scalar> to_scalar(Datum value, plan::Type type) {
    switch (type.id) {
        case TypeId::kBool:
            return Scalar::of_int(DatumGetBool(value) ? 1 : 0);
        case TypeId::kInt2:
            return Scalar::of_int(DatumGetInt16(value));
        case TypeId::kInt4:
        case TypeId::kDate:
            return Scalar::of_int(DatumGetInt32(value));
        case TypeId::kInt8:
        case TypeId::kTime:
        case TypeId::kTimestamp:
        case TypeId::kTimestampTz:
            return Scalar::of_int(DatumGetInt64(value));
        case TypeId::kFloat4:
            return Scalar::of_float(static_cast<double>(DatumGetFloat4(value)));
        case TypeId::kFloat8:
            return Scalar::of_float(DatumGetFloat8(value));
        case TypeId::kNumeric: {
            const auto number = scaled_number(value);
            if (!number) return std::nullopt;
            if (plan::is_decimal(type))
                return plan::decimal_scalar({number->unscaled, number->scale});
            const auto unscaled = rescale(*number, type.scale);
            if (!unscaled) return std::nullopt;
            return Scalar::of_int(*unscaled);
        }
        case TypeId::kText:
        case TypeId::kBpchar: {
            Scalar text = bytes_of_varlena(value);
            if (!is_valid_text(text.bytes.data(), static_cast<int>(text.bytes.size())))
                return std::nullopt;
            return text;
        }
        case TypeId::kBytea:
            return bytes_of_varlena(value);
        case TypeId::kOpaque:
            if (plan::is_opaque_varlena(type)) return bytes_of_varlena(value);
            return Scalar::of_bytes(
                std::string(DatumGetPointer(value), static_cast<size_t>(type.scale)));
        case TypeId::kOpaqueWord:
            return Scalar::of_int(static_cast<int64_t>(value));
        case TypeId::kUuid:
            return bytes_of(DatumGetUUIDP(value));
        case TypeId::kInterval: {
            const Interval* interval = DatumGetIntervalP(value);
            plan::Interval parts;
            parts.microseconds = interval->time;
            parts.days = interval->day;
            parts.months = interval->month;
            return bytes_of(&parts);
        }
    }
    return std::nullopt;
}

std::optional<std::vector<Scalar>> to_scalars(Datum array, plan::Type type) {
    Datum* elements = nullptr;
    bool* nulls = nullptr;
    int count = 0;
    pg_call([&] {
        ArrayType* value = DatumGetArrayTypeP(array);
        int16 length;
        bool by_value;
        char align;
        get_typlenbyvalalign(ARR_ELEMTYPE(value), &length, &by_value, &align);
        deconstruct_array(value, ARR_ELEMTYPE(value), length, by_value, align, &elements, &nulls,
                          &count);
    });
    std::vector<Scalar> scalars(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        auto scalar = to_scalar(elements[i], type);
        if (!scalar) return std::nullopt;
        scalars[static_cast<size_t>(i)] = std::move(*scalar);
    }
    return scalars;
}

namespace {

Datum copy_bytes_maylongjmp(const column::BytesView& bytes) {
    if (bytes.size > static_cast<int64_t>(MaxAllocSize - VARHDRSZ))
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                 errmsg("a value of %lld bytes is too long", static_cast<long long>(bytes.size))));
    const auto size = static_cast<size_t>(bytes.size);
    auto* copy = static_cast<struct varlena*>(palloc(size + VARHDRSZ));
    SET_VARSIZE(copy, size + VARHDRSZ);
    if (size > 0) memcpy(VARDATA(copy), bytes.data, size);
    return PointerGetDatum(copy);
}

// A value of an opaque type that is passed by reference and has no header.
Datum copy_fixed_maylongjmp(const column::BytesView& bytes) {
    return PointerGetDatum(memcpy(palloc(static_cast<size_t>(bytes.size)), bytes.data,
                                  static_cast<size_t>(bytes.size)));
}

template <typename T, typename Make>
void fill(const exec::Vector& vector, int64_t rows, Datum* values, bool* nulls, Make make) {
    const T* data = vector.as<T>();
    if (vector.validity == nullptr) {
        memset(nulls, 0, static_cast<size_t>(rows));
        for (int64_t i = 0; i < rows; ++i) values[i] = make(data[i]);
        return;
    }
    for (int64_t i = 0; i < rows; ++i) {
        nulls[i] = !base::bit_at(vector.validity, i);
        values[i] = nulls[i] ? 0 : make(data[i]);
    }
}

}  // namespace

void make_datums_maylongjmp(const exec::Vector& vector, int64_t rows, Datum* values, bool* nulls) {
    const int scale = vector.type.scale;
    switch (plan::physical(vector.type)) {
        case plan::Physical::kBool:
            return fill<uint8_t>(vector, rows, values, nulls,
                                 [](uint8_t v) { return BoolGetDatum(v != 0); });
        case plan::Physical::kInt16:
            return fill<int16_t>(vector, rows, values, nulls,
                                 [](int16_t v) { return Int16GetDatum(v); });
        case plan::Physical::kInt32:
            return fill<int32_t>(vector, rows, values, nulls,
                                 [](int32_t v) { return Int32GetDatum(v); });
        case plan::Physical::kInt64:
            if (vector.type.id == TypeId::kNumeric)
                return fill<int64_t>(vector, rows, values, nulls,
                                     [scale](int64_t v) { return numeric_from_int128(v, scale); });
            return fill<int64_t>(vector, rows, values, nulls,
                                 [](int64_t v) { return Int64GetDatum(v); });
        case plan::Physical::kInt128:
            return fill<Int128>(vector, rows, values, nulls,
                                [scale](Int128 v) { return numeric_from_int128(v, scale); });
        case plan::Physical::kDecimal:
            return fill<plan::Decimal>(vector, rows, values, nulls, [](const plan::Decimal& v) {
                return numeric_from_int128(v.unscaled, static_cast<int>(v.scale));
            });
        case plan::Physical::kFloat32:
            return fill<float>(vector, rows, values, nulls,
                               [](float v) { return Float4GetDatum(v); });
        case plan::Physical::kFloat64:
            return fill<double>(vector, rows, values, nulls,
                                [](double v) { return Float8GetDatum(v); });
        case plan::Physical::kBytes:
            if (vector.type.id == TypeId::kOpaque && !plan::is_opaque_varlena(vector.type))
                return fill<column::BytesView>(vector, rows, values, nulls, copy_fixed_maylongjmp);
            return fill<column::BytesView>(vector, rows, values, nulls, copy_bytes_maylongjmp);
        case plan::Physical::kInterval:
            return fill<plan::Interval>(vector, rows, values, nulls, [](const plan::Interval& v) {
                auto* interval = static_cast<Interval*>(palloc(sizeof(Interval)));
                interval->time = v.microseconds;
                interval->day = v.days;
                interval->month = v.months;
                return IntervalPGetDatum(interval);
            });
        case plan::Physical::kUuid:
            return fill<plan::Uuid>(vector, rows, values, nulls, [](const plan::Uuid& v) {
                auto* uuid = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
                memcpy(uuid->data, v.bytes, sizeof v.bytes);
                return UUIDPGetDatum(uuid);
            });
    }
}

const char* opaque_text_maylongjmp(const Scalar& value, plan::Type type) {
    Datum datum;
    const column::BytesView bytes{reinterpret_cast<const uint8_t*>(value.bytes.data()),
                                  static_cast<int64_t>(value.bytes.size())};
    if (type.id == TypeId::kOpaqueWord)
        datum = static_cast<Datum>(value.integer);
    else
        datum = plan::is_opaque_varlena(type) ? copy_bytes_maylongjmp(bytes)
                                              : copy_fixed_maylongjmp(bytes);
    Oid function;
    bool is_varlena;
    getTypeOutputInfo(type.oid, &function, &is_varlena);
    return OidOutputFunctionCall(function, datum);
}

}  // namespace loom::pg
