// bool, integers, floats and decimals.

#include <cmath>
#include <limits>
#include <type_traits>

#include "column/text.h"
#include "pg/types/convert_steps.h"
#include "pg/types/numeric.h"

extern "C" {
#include "utils/numeric.h"
}

namespace loom::pg {

using column::ColumnView;
using column::TypeId;

namespace {

void rows_bool(Converter&, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    const auto* bits = view.as<uint8_t>();
    for (int64_t i = 0; i < count; ++i) values[i] = BoolGetDatum(base::bit_at(bits, begin + i));
}

template <typename S, typename T>
void rows_integer(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                  Datum* values, bool* nulls) {
    const S* source = view.as<S>() + begin;
    constexpr bool kFits =
        std::cmp_less_equal(std::numeric_limits<S>::max(), std::numeric_limits<T>::max()) &&
        std::cmp_greater_equal(std::numeric_limits<S>::min(), std::numeric_limits<T>::min());
    for (int64_t i = 0; i < count; ++i) {
        if constexpr (!kFits)
            if (!nulls[i] && !std::in_range<T>(source[i])) report_out_of_range(self);
        const T value = static_cast<T>(source[i]);
        if constexpr (std::is_same_v<T, int16>) values[i] = Int16GetDatum(value);
        if constexpr (std::is_same_v<T, int32>) values[i] = Int32GetDatum(value);
        if constexpr (std::is_same_v<T, int64>) values[i] = Int64GetDatum(value);
    }
}

template <typename S>
void rows_integer_float8(Converter&, const ColumnView& view, int64_t begin, int64_t count,
                         Datum* values, bool*) {
    const S* source = view.as<S>() + begin;
    for (int64_t i = 0; i < count; ++i) values[i] = Float8GetDatum(source[i]);
}

template <typename S>
void rows_integer_float4(Converter&, const ColumnView& view, int64_t begin, int64_t count,
                         Datum* values, bool*) {
    const S* source = view.as<S>() + begin;
    for (int64_t i = 0; i < count; ++i) values[i] = Float4GetDatum(source[i]);
}

// Applies the declared precision and scale; a value that they would change or refuse is an error.
Datum fit_numeric(Converter& self, Datum value) {
    const Datum fitted = DirectFunctionCall2(numeric, value, Int32GetDatum(self.typmod));
    if (!DatumGetBool(DirectFunctionCall2(numeric_eq, value, fitted))) report_out_of_range(self);
    return fitted;
}

template <typename S>
void rows_integer_numeric(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                          Datum* values, bool* nulls) {
    const S* source = view.as<S>() + begin;
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        values[i] = numeric_from_int128(source[i], 0);
        if (self.check_range) values[i] = fit_numeric(self, values[i]);
    }
}

void rows_decimal_numeric(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                          Datum* values, bool* nulls) {
    const int width = self.source->byte_width8;
    const auto* source = view.as<uint8_t>() + begin * width;
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        values[i] = numeric_from_bytes(source + i * width, width, self.source->scale);
        if (self.check_range) values[i] = fit_numeric(self, values[i]);
    }
}

// Decimals without fraction that are declared as integers.
void rows_decimal_integer(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                          Datum* values, bool* nulls) {
    const int width = self.source->byte_width8;
    const auto* source = view.as<uint8_t>() + begin * width;
    PGFunction cast = self.type == INT2OID   ? numeric_int2
                      : self.type == INT4OID ? numeric_int4
                                             : numeric_int8;
    for (int64_t i = 0; i < count; ++i)
        if (!nulls[i])
            values[i] = DirectFunctionCall1(cast, numeric_from_bytes(source + i * width, width, 0));
}

template <typename S>
ConvertRows choose_integer(Converter& self) {
    switch (self.type) {
        case INT2OID:
            return rows_integer<S, int16>;
        case INT4OID:
            return rows_integer<S, int32>;
        case INT8OID:
            return rows_integer<S, int64>;
        case NUMERICOID:
            self.check_range = self.typmod >= 0;
            return rows_integer_numeric<S>;
        case FLOAT8OID:
            return sizeof(S) <= 4 ? rows_integer_float8<S> : nullptr;
        case FLOAT4OID:
            return sizeof(S) <= 2 ? rows_integer_float4<S> : nullptr;
        // Hinted by pg2arrow, which stores such types as plain integers of their size.
        case CASHOID:
            return sizeof(S) == 8 ? rows_integer<S, int64> : nullptr;
        case OIDOID:
            return sizeof(S) == 4 ? rows_integer<int32, int32> : nullptr;
        default:
            return nullptr;
    }
}

template <bool kDouble>
void rows_half(Converter&, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool*) {
    const auto* source = view.as<uint16_t>() + begin;
    for (int64_t i = 0; i < count; ++i) {
        const float value = column::half_to_float(source[i]);
        values[i] = kDouble ? Float8GetDatum(value) : Float4GetDatum(value);
    }
}

template <typename S, bool kDouble>
void rows_float(Converter&, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
                bool*) {
    const S* source = view.as<S>() + begin;
    for (int64_t i = 0; i < count; ++i)
        values[i] =
            kDouble ? Float8GetDatum(source[i]) : Float4GetDatum(static_cast<float>(source[i]));
}

ConvertRows choose_float(Converter& self) {
    const bool wide = self.type == FLOAT8OID;
    if (!wide && self.type != FLOAT4OID) return nullptr;
    switch (self.source->id) {
        case TypeId::kFloat16:
            return wide ? rows_half<true> : rows_half<false>;
        case TypeId::kFloat32:
            return wide ? rows_float<float, true> : rows_float<float, false>;
        case TypeId::kFloat64:
            return wide ? rows_float<double, true> : nullptr;
        default:
            return nullptr;
    }
}

ConvertRows choose_decimal(Converter& self) {
    const column::DataType& source = *self.source;
    if (self.type == INT2OID || self.type == INT4OID || self.type == INT8OID)
        return source.scale == 0 ? rows_decimal_integer : nullptr;
    if (self.type != NUMERICOID) return nullptr;
    int32 natural;
    column::Field field;
    field.type = column::TypePtr(column::TypePtr(), &source);
    default_type(field, &natural);
    self.check_range = self.typmod >= 0 && self.typmod != natural;
    return rows_decimal_numeric;
}

}  // namespace

ConvertRows choose_number(Converter& self) {
    switch (self.source->id) {
        case TypeId::kBool:
            return self.type == BOOLOID ? rows_bool : nullptr;
        case TypeId::kInt8:
            return choose_integer<int8_t>(self);
        case TypeId::kInt16:
            return choose_integer<int16_t>(self);
        case TypeId::kInt32:
            return choose_integer<int32_t>(self);
        case TypeId::kInt64:
            return choose_integer<int64_t>(self);
        case TypeId::kUInt8:
            return choose_integer<uint8_t>(self);
        case TypeId::kUInt16:
            return choose_integer<uint16_t>(self);
        case TypeId::kUInt32:
            return choose_integer<uint32_t>(self);
        case TypeId::kUInt64:
            return choose_integer<uint64_t>(self);
        case TypeId::kFloat16:
        case TypeId::kFloat32:
        case TypeId::kFloat64:
            return choose_float(self);
        case TypeId::kDecimal:
            return choose_decimal(self);
        default:
            return nullptr;
    }
}

}  // namespace loom::pg
