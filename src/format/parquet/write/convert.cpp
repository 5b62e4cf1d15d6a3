#include "format/parquet/write/convert.h"

#include <cstring>
#include <limits>

#include "column/scalar.h"

namespace loom::parquet::write {

using column::BytesView;
using column::ColumnView;
using column::TimeUnit;
using column::TypeId;

namespace {

constexpr int64_t kMillisPerDay = 86'400'000;
constexpr int64_t kNanosPerMilli = 1'000'000;

[[noreturn]] void out_of_range(const char* what) {
    base::raise(base::ErrorKind::kValueRange, "a value of {} does not fit the file's type", what);
}

// Applies `convert` to each picked value; the contiguous case is a plain loop for the vectoriser.
template <typename Source, typename Target, typename Convert>
void transform(const ColumnView& view, const RowPick& pick, base::Buffer& out, Convert convert) {
    const Source* from = view.as<Source>();
    Target* to = out.as<Target>();
    if (pick.rows == nullptr) {
        from += pick.begin;
        for (int64_t i = 0; i < pick.count; ++i) to[i] = convert(from[i]);
    } else {
        for (int64_t i = 0; i < pick.count; ++i) to[i] = convert(from[pick.rows[i]]);
    }
}

template <typename Source, typename Target>
void widen(const ColumnView& view, const RowPick& pick, base::Buffer& out) {
    transform<Source, Target>(view, pick, out,
                              [](Source value) { return static_cast<Target>(value); });
}

template <typename T>
void copy(const ColumnView& view, const RowPick& pick, base::Buffer& out) {
    transform<T, T>(view, pick, out, [](T value) { return value; });
}

template <typename Body>
void each_row(const RowPick& pick, Body body) {
    for (int64_t i = 0; i < pick.count; ++i)
        body(i, pick.rows == nullptr ? pick.begin + i : pick.rows[i]);
}

void copy_blocks(const ColumnView& view, const RowPick& pick, base::Buffer& out, int32_t width) {
    const uint8_t* from = view.as<uint8_t>();
    if (pick.rows == nullptr) {
        std::memcpy(out.data(), from + pick.begin * width, pick.count * width);
        return;
    }
    each_row(pick, [&](int64_t i, int64_t row) {
        std::memcpy(out.data() + i * width, from + row * width, width);
    });
}

void convert_bools(const ColumnView& view, const RowPick& pick, base::Buffer& out) {
    const uint8_t* bits = view.as<uint8_t>();
    each_row(pick, [&](int64_t i, int64_t row) { out.data()[i] = base::bit_at(bits, row); });
}

// Little-endian integers of `source_width` bytes to big-endian ones of `width` bytes.
void convert_wide_decimals(const ColumnView& view, const RowPick& pick, base::Buffer& out,
                           int32_t source_width, int32_t width) {
    const uint8_t* from = view.as<uint8_t>();
    each_row(pick, [&](int64_t i, int64_t row) {
        const uint8_t* value = from + row * source_width;
        uint8_t* to = out.data() + i * width;
        const uint8_t sign = value[source_width - 1] & 0x80 ? 0xff : 0;
        for (int32_t k = 0; k < width; ++k) to[width - 1 - k] = k < source_width ? value[k] : sign;
        for (int32_t k = width; k < source_width; ++k)
            if (value[k] != sign) out_of_range("a decimal");
        if (width < source_width && (to[0] & 0x80) != (sign & 0x80)) out_of_range("a decimal");
    });
}

void convert_dates(const ColumnView& view, const RowPick& pick, base::Buffer& out) {
    transform<int64_t, int32_t>(view, pick, out, [](int64_t millis) {
        if (millis % kMillisPerDay != 0) out_of_range("a date with a time of day");
        const int64_t days = millis / kMillisPerDay;
        if (days != static_cast<int32_t>(days)) out_of_range("a date");
        return static_cast<int32_t>(days);
    });
}

// Parquet has no unit of seconds.
template <typename T>
void seconds_to_millis(const ColumnView& view, const RowPick& pick, base::Buffer& out) {
    transform<T, T>(view, pick, out, [](T seconds) {
        T millis;
        if (__builtin_mul_overflow(seconds, T{1000}, &millis)) out_of_range("a time in seconds");
        return millis;
    });
}

// LogicalTypes.md, "INTERVAL": three unsigned little-endian numbers: months, days, milliseconds.
struct FileInterval {
    uint32_t months = 0;
    uint32_t days = 0;
    uint32_t millis = 0;
};

FileInterval make_interval(int64_t months, int64_t days, int64_t millis) {
    constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
    if (months < 0 || days < 0 || millis < 0 || millis > kMax)
        out_of_range("an interval (negative or more than 49 days of milliseconds)");
    return {static_cast<uint32_t>(months), static_cast<uint32_t>(days),
            static_cast<uint32_t>(millis)};
}

void convert_intervals(const ColumnView& view, const RowPick& pick, base::Buffer& out) {
    struct DayTime {
        int32_t days, millis;
    };
    struct MonthDayNano {
        int32_t months, days;
        int64_t nanos;
    };
    switch (view.type->id) {
        case TypeId::kIntervalMonths:
            return transform<int32_t, FileInterval>(
                view, pick, out, [](int32_t months) { return make_interval(months, 0, 0); });
        case TypeId::kIntervalDayTime:
            return transform<DayTime, FileInterval>(view, pick, out, [](DayTime value) {
                return make_interval(0, value.days, value.millis);
            });
        default:
            return transform<MonthDayNano, FileInterval>(view, pick, out, [](MonthDayNano value) {
                if (value.nanos % kNanosPerMilli != 0)
                    out_of_range("an interval with parts of a millisecond");
                return make_interval(value.months, value.days, value.nanos / kNanosPerMilli);
            });
    }
}

}  // namespace

void convert_values(const Leaf& leaf, const ColumnView& view, const RowPick& pick,
                    base::Buffer& out) {
    out.resize_discarding(pick.count * (leaf.width == 0 ? sizeof(BytesView) : leaf.width));
    switch (view.type->id) {
        case TypeId::kNull:
            return;
        case TypeId::kBool:
            return convert_bools(view, pick, out);
        case TypeId::kInt8:
            return widen<int8_t, int32_t>(view, pick, out);
        case TypeId::kInt16:
            return widen<int16_t, int32_t>(view, pick, out);
        case TypeId::kUInt8:
            return widen<uint8_t, uint32_t>(view, pick, out);
        case TypeId::kUInt16:
            return widen<uint16_t, uint32_t>(view, pick, out);
        case TypeId::kDate64:
            return convert_dates(view, pick, out);
        case TypeId::kTime:
            if (view.type->unit == TimeUnit::kSecond)
                return seconds_to_millis<int32_t>(view, pick, out);
            break;
        case TypeId::kTimestamp:
            if (view.type->unit == TimeUnit::kSecond)
                return seconds_to_millis<int64_t>(view, pick, out);
            break;
        case TypeId::kDecimal:
            if (leaf.physical == PhysicalType::kFixed)
                return convert_wide_decimals(view, pick, out, byte_width(*view.type), leaf.width);
            break;
        case TypeId::kIntervalMonths:
        case TypeId::kIntervalDayTime:
        case TypeId::kIntervalMonthDayNano:
            return convert_intervals(view, pick, out);
        default:
            break;
    }
    switch (leaf.width) {
        case 0:
            return copy<BytesView>(view, pick, out);
        case 4:
            return copy<uint32_t>(view, pick, out);
        case 8:
            return copy<uint64_t>(view, pick, out);
        default:
            return copy_blocks(view, pick, out, leaf.width);
    }
}

}  // namespace loom::parquet::write
