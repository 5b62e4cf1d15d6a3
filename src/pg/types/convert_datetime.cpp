// Dates, times, timestamps, durations and intervals. Files count from 1970, PostgreSQL from 2000;
// finer units than microseconds are floored, also before 1970, here and nowhere else
// (pg/types/conditions.cpp turns constants around by the same rule).

#include "pg/types/convert_steps.h"

#include "base/division.h"

extern "C" {
#include "utils/date.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"
}

namespace loom::pg {

using base::floor_divide;
using column::ColumnView;
using column::TimeUnit;
using column::TypeId;

namespace {

constexpr int64_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;

// Scales a count of `unit` to microseconds; returns false on overflow.
bool to_micros(int64_t value, TimeUnit unit, int64_t* micros) {
    switch (unit) {
        case TimeUnit::kSecond:
            return !__builtin_mul_overflow(value, int64_t{1'000'000}, micros);
        case TimeUnit::kMilli:
            return !__builtin_mul_overflow(value, int64_t{1'000}, micros);
        case TimeUnit::kMicro:
            *micros = value;
            return true;
        case TimeUnit::kNano:
            *micros = floor_divide(value, 1'000);
            return true;
    }
    return false;
}

int64_t days_at(const ColumnView& view, int64_t row) {
    return view.type->id == TypeId::kDate32 ? view.as<int32_t>()[row]
                                            : floor_divide(view.as<int64_t>()[row], 86'400'000);
}

DateADT date_at(const Converter& self, const ColumnView& view, int64_t row) {
    const int64_t date = days_at(view, row) - kEpochDays;
    if (date < INT32_MIN || date > INT32_MAX || !IS_VALID_DATE(date)) report_datetime_range(self);
    return static_cast<DateADT>(date);
}

void rows_date(Converter& self, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    for (int64_t i = 0; i < count; ++i)
        if (!nulls[i]) values[i] = DateADTGetDatum(date_at(self, view, begin + i));
}

// date -> timestamp or timestamptz, with PostgreSQL's own cast (the latter depends on TimeZone).
void rows_date_timestamp(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                         Datum* values, bool* nulls) {
    PGFunction cast = self.type == TIMESTAMPOID ? date_timestamp : date_timestamptz;
    for (int64_t i = 0; i < count; ++i)
        if (!nulls[i])
            values[i] = DirectFunctionCall1(cast, DateADTGetDatum(date_at(self, view, begin + i)));
}

void rows_time(Converter& self, const ColumnView& view, int64_t begin, int64_t count, Datum* values,
               bool* nulls) {
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        const int64_t raw = self.source->byte_width8 == 4 ? view.as<int32_t>()[begin + i]
                                                          : view.as<int64_t>()[begin + i];
        int64_t micros;
        if (!to_micros(raw, self.source->unit, &micros) || micros < 0 || micros > USECS_PER_DAY)
            report_datetime_range(self);
        values[i] = TimeADTGetDatum(micros);
    }
}

Timestamp timestamp_at(const Converter& self, const ColumnView& view, int64_t row) {
    int64_t micros;
    if (!to_micros(view.as<int64_t>()[row], self.source->unit, &micros) ||
        __builtin_sub_overflow(micros, kEpochMicros, &micros) || !IS_VALID_TIMESTAMP(micros))
        report_datetime_range(self);
    return micros;
}

void rows_timestamp(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                    Datum* values, bool* nulls) {
    for (int64_t i = 0; i < count; ++i)
        if (!nulls[i]) values[i] = TimestampGetDatum(timestamp_at(self, view, begin + i));
}

// An instant declared as local time, or the reverse: PostgreSQL's cast in the session's TimeZone.
void rows_timestamp_zone(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                         Datum* values, bool* nulls) {
    PGFunction cast = self.type == TIMESTAMPOID ? timestamptz_timestamp : timestamp_timestamptz;
    for (int64_t i = 0; i < count; ++i)
        if (!nulls[i])
            values[i] =
                DirectFunctionCall1(cast, TimestampGetDatum(timestamp_at(self, view, begin + i)));
}

Interval interval_at(const Converter& self, const ColumnView& view, int64_t row) {
    Interval result = {0, 0, 0};
    int64_t micros = 0;
    const auto* raw = view.as<uint8_t>() + row * column::byte_width(*self.source);
    switch (self.source->id) {
        case TypeId::kDuration:
            if (!to_micros(base::load<int64_t>(raw), self.source->unit, &micros))
                report_datetime_range(self);
            break;
        case TypeId::kIntervalMonths:
            result.month = base::load<int32_t>(raw);
            break;
        case TypeId::kIntervalDayTime:
            result.day = base::load<int32_t>(raw);
            micros = int64_t{base::load<int32_t>(raw + 4)} * 1'000;
            break;
        default:
            result.month = base::load<int32_t>(raw);
            result.day = base::load<int32_t>(raw + 4);
            micros = floor_divide(base::load<int64_t>(raw + 8), 1'000);
            break;
    }
    result.time = micros;
#ifdef INTERVAL_NOT_FINITE
    // Since PostgreSQL 17 the extreme values mean infinity; a file's numbers never do.
    if (INTERVAL_NOT_FINITE(&result)) report_datetime_range(self);
#endif
    return result;
}

void rows_interval(Converter& self, const ColumnView& view, int64_t begin, int64_t count,
                   Datum* values, bool* nulls) {
    for (int64_t i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        auto* interval = static_cast<Interval*>(palloc(sizeof(Interval)));
        *interval = interval_at(self, view, begin + i);
        values[i] = IntervalPGetDatum(interval);
    }
}

// time, timestamp and interval with a declared precision, e.g. timestamp(3): allowed only where the
// file's unit is no finer, so that nothing is rounded away.
bool precision_kept(const Converter& self) {
    if (self.typmod < 0) return true;
    if (self.type == INTERVALOID) return false;
    const int digits = self.source->unit == TimeUnit::kSecond  ? 0
                       : self.source->unit == TimeUnit::kMilli ? 3
                                                               : 6;
    return self.typmod >= digits;
}

}  // namespace

ConvertRows choose_datetime(Converter& self) {
    const bool to_timestamp = self.type == TIMESTAMPOID || self.type == TIMESTAMPTZOID;
    if (!precision_kept(self)) return nullptr;
    switch (self.source->id) {
        case TypeId::kDate32:
        case TypeId::kDate64:
            if (self.type == DATEOID) return rows_date;
            return to_timestamp ? rows_date_timestamp : nullptr;
        case TypeId::kTime:
            return self.type == TIMEOID ? rows_time : nullptr;
        case TypeId::kTimestamp: {
            if (!to_timestamp) return nullptr;
            const bool instant = !self.source->timezone.empty();
            return instant == (self.type == TIMESTAMPTZOID) ? rows_timestamp : rows_timestamp_zone;
        }
        case TypeId::kDuration:
        case TypeId::kIntervalMonths:
        case TypeId::kIntervalDayTime:
        case TypeId::kIntervalMonthDayNano:
            return self.type == INTERVALOID ? rows_interval : nullptr;
        default:
            return nullptr;
    }
}

}  // namespace loom::pg
