#include "pg/types/conditions.h"

#include <cmath>

#include "base/division.h"

extern "C" {
#include "access/stratnum.h"
#include "mb/pg_wchar.h"
#include "utils/date.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
}

namespace loom::pg {

using base::ceil_divide;
using base::floor_divide;
using column::DataType;
using column::Int128;
using column::TimeUnit;
using column::TypeId;

namespace {

constexpr int64_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;

// The integers of a field that equal a value: [first, last]. Empty (last = first - 1) if the value
// lies between two of them; more than one where the field's unit is finer. `unbounded`: beyond
// every integer. `uncertain`: the value itself is only known to lie in the interval (it depends on
// TimeZone).
struct IntegerValue {
    Int128 first = 0;
    Int128 last = 0;
    bool usable = false;
    bool unbounded = false;
    bool uncertain = false;
};

IntegerValue exactly(Int128 value) {
    return {value, value, true, false, false};
}
IntegerValue between(Int128 ceil, Int128 floor) {
    return {ceil, floor, true, false, false};
}
IntegerValue beyond() {
    return {0, 0, true, true, false};
}

// Parses numeric's text as an integer scaled by 10^scale, rounded both ways.
IntegerValue scaled_numeric(Datum value, int scale) {
    const char* text = DatumGetCString(DirectFunctionCall1(numeric_out, value));
    const bool negative = *text == '-';
    if (negative) ++text;
    if (*text < '0' || *text > '9') return beyond();  // NaN, Infinity
    Int128 magnitude = 0;
    bool rest = false;
    int fraction = 0;
    bool in_fraction = false;
    auto push = [&](int digit) {
        return !__builtin_mul_overflow(magnitude, Int128{10}, &magnitude) &&
               !__builtin_add_overflow(magnitude, Int128{digit}, &magnitude);
    };
    for (; *text != '\0'; ++text) {
        if (*text == '.') {
            in_fraction = true;
        } else if (in_fraction && fraction >= scale) {
            rest = rest || *text != '0';
        } else {
            if (!push(*text - '0')) return beyond();
            fraction += in_fraction ? 1 : 0;
        }
    }
    for (; fraction < scale; ++fraction)
        if (!push(0)) return beyond();
    for (int i = scale; i < 0; ++i) {
        rest = rest || magnitude % 10 != 0;
        magnitude /= 10;
    }
    const Int128 up = magnitude + (rest ? 1 : 0);
    return negative ? between(-magnitude, -up) : between(up, magnitude);
}

IntegerValue rounded_double(double value) {
    if (std::isnan(value) || std::fabs(value) > 1e30) return beyond();
    return between(static_cast<Int128>(std::ceil(value)), static_cast<Int128>(std::floor(value)));
}

// An integer or numeric value on an integer or decimal field.
IntegerValue number_value(Oid type, Datum value, int scale) {
    switch (type) {
        case INT2OID:
        case INT4OID:
        case INT8OID: {
            const int64 integer = type == INT2OID   ? DatumGetInt16(value)
                                  : type == INT4OID ? DatumGetInt32(value)
                                                    : DatumGetInt64(value);
            if (scale == 0) return exactly(integer);
            return scaled_numeric(NumericGetDatum(int64_to_numeric(integer)), scale);
        }
        case NUMERICOID:
            return scaled_numeric(value, scale);
        case FLOAT4OID:
            return scale == 0 ? rounded_double(DatumGetFloat4(value)) : IntegerValue{};
        case FLOAT8OID:
            return scale == 0 ? rounded_double(DatumGetFloat8(value)) : IntegerValue{};
        default:
            return {};
    }
}

// A date or timestamp as microseconds since 1970, `zoned` telling whether it is an instant.
struct DatetimeValue {
    IntegerValue micros;
    bool zoned = false;
};

DatetimeValue datetime_value(Oid type, Datum value) {
    switch (type) {
        case DATEOID: {
            const DateADT date = DatumGetDateADT(value);
            if (DATE_NOT_FINITE(date)) return {beyond(), false};
            return {exactly((Int128{date} + kEpochDays) * USECS_PER_DAY), false};
        }
        case TIMESTAMPOID:
        case TIMESTAMPTZOID: {
            const Timestamp timestamp = DatumGetTimestamp(value);
            if (TIMESTAMP_NOT_FINITE(timestamp)) return {beyond(), false};
            return {exactly(Int128{timestamp} + kEpochMicros), type == TIMESTAMPTZOID};
        }
        default:
            return {};
    }
}

// How many of a field's units one microsecond has or takes.
struct UnitScale {
    Int128 micros_per_unit;  // or 1
    Int128 units_per_micro;  // or 1
};

UnitScale unit_scale(const DataType& field) {
    if (field.id == TypeId::kDate32) return {USECS_PER_DAY, 1};
    if (field.id == TypeId::kDate64) return {1'000, 1};
    switch (field.unit) {
        case TimeUnit::kSecond:
            return {1'000'000, 1};
        case TimeUnit::kMilli:
            return {1'000, 1};
        case TimeUnit::kMicro:
            return {1, 1};
        case TimeUnit::kNano:
            return {1, 1'000};
    }
    return {1, 1};
}

// The values of a field that satisfy `column OP value`.
FieldBounds integer_bounds(int strategy, const IntegerValue& value) {
    FieldBounds bounds;
    if (!value.usable) return bounds;
    bounds.kind = FieldBounds::Kind::kInteger;
    if (value.unbounded) return bounds;
    bounds.has_lo = strategy >= BTEqualStrategyNumber;
    bounds.has_hi = strategy <= BTEqualStrategyNumber;
    bounds.lo = value.first;
    bounds.hi = value.last;
    if (value.uncertain) return bounds;
    if (strategy == BTLessStrategyNumber) bounds.hi = value.first - 1;
    if (strategy == BTGreaterStrategyNumber) bounds.lo = value.last + 1;
    return bounds;
}

// Turns microseconds into a field's unit.
IntegerValue in_unit(const IntegerValue& micros, const DataType& field) {
    const UnitScale scale = unit_scale(field);
    IntegerValue result = micros;
    result.first = ceil_divide(micros.first, scale.micros_per_unit) * scale.units_per_micro;
    result.last = floor_divide(micros.last, scale.micros_per_unit) * scale.units_per_micro +
                  scale.units_per_micro - 1;
    return result;
}

// A date column holds whole days; comparing it with a timestamp compares its midnight.
IntegerValue in_days(const IntegerValue& micros, const DataType& field) {
    IntegerValue result = micros;
    result.first = ceil_divide(micros.first, USECS_PER_DAY);
    result.last = floor_divide(micros.last, USECS_PER_DAY);
    if (field.id == TypeId::kDate32) return result;
    constexpr Int128 kMillis = USECS_PER_DAY / 1000;  // kDate64 is floored to its day
    result.first *= kMillis;
    result.last = result.last * kMillis + kMillis - 1;
    return result;
}

FieldBounds datetime_bounds(const Comparison& comparison, Datum value, const DataType& field) {
    DatetimeValue point = datetime_value(comparison.value_type, value);
    if (!point.micros.usable || point.micros.unbounded)
        return integer_bounds(comparison.strategy, point.micros);
    // Only when column, constant and file agree on being instants does TimeZone not matter.
    const bool column_zoned = comparison.column_type == TIMESTAMPTZOID;
    const bool file_zoned = field.id == TypeId::kTimestamp && !field.timezone.empty();
    if (column_zoned != file_zoned || column_zoned != point.zoned) {
        point.micros.first -= USECS_PER_DAY;
        point.micros.last += USECS_PER_DAY;
        point.micros.uncertain = true;
    }
    if (comparison.column_type == DATEOID) {
        if (field.id == TypeId::kTimestamp) return {};
        return integer_bounds(comparison.strategy, in_days(point.micros, field));
    }
    // A timestamp column over a file of dates shows midnights; kDate64 is floored to its day first.
    if (field.id == TypeId::kDate64)
        return integer_bounds(comparison.strategy, in_days(point.micros, field));
    return integer_bounds(comparison.strategy, in_unit(point.micros, field));
}

FieldBounds time_bounds(const Comparison& comparison, Datum value, const DataType& field) {
    if (comparison.value_type != TIMEOID) return {};
    return integer_bounds(comparison.strategy, in_unit(exactly(DatumGetTimeADT(value)), field));
}

FieldBounds float_bounds(const Comparison& comparison, Datum value) {
    double number;
    if (comparison.value_type == FLOAT8OID)
        number = DatumGetFloat8(value);
    else if (comparison.value_type == FLOAT4OID)
        number = DatumGetFloat4(value);
    else
        return {};
    FieldBounds bounds;
    bounds.kind = FieldBounds::Kind::kFloat;
    bounds.has_lo = comparison.strategy >= BTEqualStrategyNumber;
    bounds.has_hi = comparison.strategy <= BTEqualStrategyNumber;
    bounds.float_lo = bounds.float_hi = number;
    bounds.nans = !bounds.has_hi || std::isnan(number);
    return bounds;
}

void set_bytes(FieldBounds& bounds, int strategy, const char* data, size_t size) {
    bounds.kind = FieldBounds::Kind::kBytes;
    bounds.has_lo = strategy >= BTEqualStrategyNumber;
    bounds.has_hi = strategy <= BTEqualStrategyNumber;
    bounds.bytes_lo = bounds.bytes_hi = data;
    bounds.bytes_lo_size = bounds.bytes_hi_size = size;
}

FieldBounds bytes_bounds(const Comparison& comparison, Datum value, const DataType& field) {
    FieldBounds bounds;
    if (comparison.value_type == UUIDOID && comparison.column_type == UUIDOID) {
        if (field.id == TypeId::kFixedBinary && field.fixed_width == UUID_LEN)
            set_bytes(bounds, comparison.strategy,
                      reinterpret_cast<const char*>(DatumGetUUIDP(value)->data), UUID_LEN);
        return bounds;
    }
    const bool text = comparison.column_type == TEXTOID || comparison.column_type == VARCHAROID;
    if (!text && comparison.column_type != BYTEAOID) return bounds;
    if (text && GetDatabaseEncoding() != PG_UTF8) return bounds;
    if (text != (comparison.value_type == TEXTOID || comparison.value_type == VARCHAROID))
        return bounds;
    const auto* varlena = reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM_PACKED(value));
    set_bytes(bounds, comparison.strategy, VARDATA_ANY(varlena), VARSIZE_ANY_EXHDR(varlena));
    return bounds;
}

FieldBounds prefix_bounds(char* prefix, size_t size) {
    FieldBounds bounds;
    if (size == 0) return bounds;
    set_bytes(bounds, BTEqualStrategyNumber, prefix, size);
    // The least text above all that begin with the prefix: add one to its last byte that can take
    // it.
    auto* successor = static_cast<unsigned char*>(palloc(size));
    memcpy(successor, prefix, size);
    while (size > 0 && successor[size - 1] == 0xFF) --size;
    bounds.has_hi = size > 0;
    if (size > 0) ++successor[size - 1];
    bounds.bytes_hi = reinterpret_cast<char*>(successor);
    bounds.bytes_hi_size = size;
    return bounds;
}

}  // namespace

FieldBounds bounds_of_comparison_maylongjmp(const Comparison& comparison, Datum value,
                                            const DataType& field) {
    const Oid column = comparison.column_type;
    const bool numeric_column =
        column == INT2OID || column == INT4OID || column == INT8OID || column == NUMERICOID;
    switch (field.id) {
        case TypeId::kBool:
            if (column != BOOLOID || comparison.value_type != BOOLOID) return {};
            return integer_bounds(comparison.strategy, exactly(DatumGetBool(value) ? 1 : 0));
        case TypeId::kInt8:
        case TypeId::kInt16:
        case TypeId::kInt32:
        case TypeId::kInt64:
        case TypeId::kUInt8:
        case TypeId::kUInt16:
        case TypeId::kUInt32:
        case TypeId::kUInt64:
            if (!numeric_column) return {};
            return integer_bounds(comparison.strategy,
                                  number_value(comparison.value_type, value, 0));
        case TypeId::kDecimal:
            if (!numeric_column) return {};
            return integer_bounds(comparison.strategy,
                                  number_value(comparison.value_type, value, field.scale));
        case TypeId::kFloat16:
        case TypeId::kFloat32:
        case TypeId::kFloat64:
            if (column != FLOAT4OID && column != FLOAT8OID) return {};
            return float_bounds(comparison, value);
        case TypeId::kDate32:
        case TypeId::kDate64:
        case TypeId::kTimestamp:
            if (column != DATEOID && column != TIMESTAMPOID && column != TIMESTAMPTZOID) return {};
            return datetime_bounds(comparison, value, field);
        case TypeId::kTime:
            return column == TIMEOID ? time_bounds(comparison, value, field) : FieldBounds{};
        case TypeId::kUtf8:
        case TypeId::kBinary:
        case TypeId::kFixedBinary:
            return bytes_bounds(comparison, value, field);
        default:
            return {};
    }
}

FieldBounds bounds_of_like_maylongjmp(Datum pattern, const DataType& field) {
    if (!column::is_bytes(field.id) || GetDatabaseEncoding() != PG_UTF8) return {};
    const auto* text = reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM_PACKED(pattern));
    const char* data = VARDATA_ANY(text);
    const size_t size = VARSIZE_ANY_EXHDR(text);
    auto* prefix = static_cast<char*>(palloc(size + 1));
    size_t length = 0;
    for (size_t i = 0; i < size && data[i] != '%' && data[i] != '_'; ++i) {
        if (data[i] == '\\' && ++i == size) break;
        prefix[length++] = data[i];
    }
    return prefix_bounds(prefix, length);
}

FieldBounds bounds_of_prefix_maylongjmp(Datum prefix, const DataType& field) {
    if (!column::is_bytes(field.id) || GetDatabaseEncoding() != PG_UTF8) return {};
    const auto* text = reinterpret_cast<struct varlena*>(PG_DETOAST_DATUM_PACKED(prefix));
    return prefix_bounds(const_cast<char*>(VARDATA_ANY(text)), VARSIZE_ANY_EXHDR(text));
}

format::ScalarRange to_range(const FieldBounds& bounds) {
    using column::Scalar;
    format::ScalarRange range;
    switch (bounds.kind) {
        case FieldBounds::Kind::kInteger:
            if (bounds.has_lo) range.lo = Scalar::of_int(bounds.lo);
            if (bounds.has_hi) range.hi = Scalar::of_int(bounds.hi);
            break;
        case FieldBounds::Kind::kFloat:
            if (bounds.has_lo) range.lo = Scalar::of_float(bounds.float_lo);
            if (bounds.has_hi) range.hi = Scalar::of_float(bounds.float_hi);
            break;
        case FieldBounds::Kind::kBytes:
            if (bounds.has_lo) range.lo = Scalar::of_bytes({bounds.bytes_lo, bounds.bytes_lo_size});
            if (bounds.has_hi) range.hi = Scalar::of_bytes({bounds.bytes_hi, bounds.bytes_hi_size});
            break;
        case FieldBounds::Kind::kUnusable:
            break;
    }
    return range;
}

}  // namespace loom::pg
