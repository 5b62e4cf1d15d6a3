#pragma once
// Dates, timestamps and intervals: days and microseconds since 2000-01-01 in the proleptic
// Gregorian calendar. Infinite values are the extremes of their integers.

#include "sql/fault.h"

namespace loom::sql {

inline constexpr int64_t kDayMicroseconds = 86'400'000'000;
inline constexpr int32_t kDateMinusInfinity = -2147483647 - 1;
inline constexpr int32_t kDateInfinity = 2147483647;
inline constexpr int64_t kTimestampMinusInfinity = -9223372036854775807LL - 1;
inline constexpr int64_t kTimestampInfinity = 9223372036854775807LL;
/// 4714-11-24 BC, the first day of both types.
inline constexpr int32_t kFirstDay = -2451545;
/// 5874898-01-01 and 294277-01-01, the first days that a date and a timestamp cannot be.
inline constexpr int32_t kDateEnd = 2145031949;
inline constexpr int32_t kTimestampEndDay = 106751983;
/// 1970-01-01.
inline constexpr int32_t kUnixEpochDay = -10957;

LOOM_SQL constexpr bool is_infinite_date(int32_t day) {
    return day == kDateInfinity || day == kDateMinusInfinity;
}
LOOM_SQL constexpr bool is_infinite_timestamp(int64_t time) {
    return time == kTimestampInfinity || time == kTimestampMinusInfinity;
}
LOOM_SQL constexpr bool is_valid_date(int32_t day) {
    return day >= kFirstDay && day < kDateEnd;
}
LOOM_SQL constexpr bool is_valid_timestamp(int64_t time) {
    return time >= kFirstDay * kDayMicroseconds && time < kTimestampEndDay * kDayMicroseconds;
}

struct Civil {
    int32_t year;  // astronomical: 0 is 1 BC
    int32_t month;
    int32_t day;
};

/// Returns the date of a day. Years run from March, so that the leap day is the last.
LOOM_SQL constexpr Civil civil_of_day(int32_t day) {
    // Days since 0000-03-01, moved by whole cycles of 400 years to be positive. 32 bits hold them,
    // and divide faster.
    constexpr uint32_t kCycle = 146097;
    constexpr uint32_t kCycles = 20;
    const uint32_t n = static_cast<uint32_t>(day) + (730425 + kCycles * kCycle);
    const uint32_t cycle = n / kCycle;
    const uint32_t in_cycle = n - cycle * kCycle;
    const uint32_t year_of_cycle =
        (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    const auto day_of_year = static_cast<int32_t>(
        in_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100));
    const int32_t march_month = (5 * day_of_year + 2) / 153;
    const int32_t month = march_month < 10 ? march_month + 3 : march_month - 9;
    const auto year = static_cast<int32_t>((cycle - kCycles) * 400 + year_of_cycle);
    return {month <= 2 ? year + 1 : year, month, day_of_year - (153 * march_month + 2) / 5 + 1};
}

/// Returns the day of a date whose month is 1 to 12.
LOOM_SQL constexpr int64_t day_of_civil(int64_t year, int32_t month, int32_t day) {
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t cycle = (y >= 0 ? y : y - 399) / 400;
    const int64_t year_of_cycle = y - cycle * 400;
    const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return cycle * 146097 + year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 +
           day_of_year - 730425;
}

LOOM_SQL constexpr int32_t days_in_month(int64_t year, int32_t month) {
    if (month == 2) return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/// Splits a timestamp: the day, and the microseconds of the day.
LOOM_SQL constexpr int32_t day_of_timestamp(int64_t time) {
    const int64_t day = time / kDayMicroseconds;
    return static_cast<int32_t>(time < day * kDayMicroseconds ? day - 1 : day);
}

// --- dates --------------------------------------------------------------------------------------

LOOM_SQL constexpr int32_t checked_date(int64_t day, Fault& fault) {
    fault.raise(kDateRange, day < kFirstDay || day >= kDateEnd);
    return static_cast<int32_t>(day);
}
/// date_pli, date_mii.
LOOM_SQL constexpr int32_t date_add(int32_t date, int32_t days, Fault& fault) {
    return is_infinite_date(date) ? date : checked_date(int64_t{date} + days, fault);
}
LOOM_SQL constexpr int32_t date_subtract_days(int32_t date, int32_t days, Fault& fault) {
    return is_infinite_date(date) ? date : checked_date(int64_t{date} - days, fault);
}
/// integer_pl_date.
LOOM_SQL constexpr int32_t days_add_date(int32_t days, int32_t date, Fault& fault) {
    return date_add(date, days, fault);
}
/// date_mi.
LOOM_SQL constexpr int32_t date_subtract(int32_t a, int32_t b, Fault& fault) {
    fault.raise(kInfiniteDates, is_infinite_date(a) || is_infinite_date(b));
    return static_cast<int32_t>(int64_t{a} - b);
}
/// date_finite, timestamp_finite.
LOOM_SQL constexpr bool date_is_finite(int32_t date) {
    return !is_infinite_date(date);
}
LOOM_SQL constexpr bool timestamp_is_finite(int64_t time) {
    return !is_infinite_timestamp(time);
}

/// date_timestamp.
LOOM_SQL constexpr int64_t date_to_timestamp(int32_t date, Fault& fault) {
    if (date == kDateInfinity) return kTimestampInfinity;
    if (date == kDateMinusInfinity) return kTimestampMinusInfinity;
    if (date < kFirstDay || date >= kTimestampEndDay) {
        fault.raise(kDateForTimestamp);
        return 0;
    }
    return date * kDayMicroseconds;
}
/// timestamp_date.
LOOM_SQL constexpr int32_t timestamp_to_date(int64_t time) {
    if (time == kTimestampInfinity) return kDateInfinity;
    if (time == kTimestampMinusInfinity) return kDateMinusInfinity;
    return day_of_timestamp(time);
}

/// date_cmp_timestamp and relatives: a date beyond all timestamps is above the finite ones.
struct DateTimestampOrder {
    LOOM_SQL static constexpr int compare(int32_t date, int64_t time) {
        if (date >= kTimestampEndDay && date != kDateInfinity)
            return time == kTimestampInfinity ? -1 : 1;
        Fault none;
        const int64_t at = date_to_timestamp(date, none);
        return at < time ? -1 : at > time ? 1 : 0;
    }
    LOOM_SQL static constexpr bool equal(int32_t a, int64_t b) { return compare(a, b) == 0; }
    LOOM_SQL static constexpr bool less(int32_t a, int64_t b) { return compare(a, b) < 0; }
    LOOM_SQL static constexpr bool less_equal(int32_t a, int64_t b) { return compare(a, b) <= 0; }
    LOOM_SQL static constexpr bool equal(int64_t a, int32_t b) { return compare(b, a) == 0; }
    LOOM_SQL static constexpr bool less(int64_t a, int32_t b) { return compare(b, a) > 0; }
    LOOM_SQL static constexpr bool less_equal(int64_t a, int32_t b) { return compare(b, a) >= 0; }
};

// --- intervals ----------------------------------------------------------------------------------

/// interval_cmp_internal: a month has 30 days, a day 24 hours.
struct IntervalOrder {
    LOOM_SQL static constexpr Int128 value(Interval a) {
        return Int128{a.microseconds} + (Int128{a.months} * 30 + a.days) * Int128{kDayMicroseconds};
    }
    LOOM_SQL static constexpr bool equal(Interval a, Interval b) { return value(a) == value(b); }
    LOOM_SQL static constexpr bool less(Interval a, Interval b) { return value(a) < value(b); }
    LOOM_SQL static constexpr bool less_equal(Interval a, Interval b) {
        return value(a) <= value(b);
    }
};

/// Whether an interval is, or could be taken for, an infinite one of PostgreSQL 17.
LOOM_SQL constexpr bool has_extreme_part(Interval a) {
    return a.months == kDateInfinity || a.months == kDateMinusInfinity || a.days == kDateInfinity ||
           a.days == kDateMinusInfinity || is_infinite_timestamp(a.microseconds);
}

/// interval_um, interval_pl, interval_mi.
LOOM_SQL constexpr Interval interval_negate(Interval a, Fault& fault) {
    fault.raise(kOther, has_extreme_part(a));
    if (has_extreme_part(a)) return {};
    return {-a.microseconds, -a.days, -a.months};
}
LOOM_SQL constexpr Interval interval_add(Interval a, Interval b, Fault& fault) {
    fault.raise(kOther, has_extreme_part(a) || has_extreme_part(b));
    Interval sum;
    const bool months = add_overflows(a.months, b.months, &sum.months);
    const bool days = add_overflows(a.days, b.days, &sum.days);
    const bool rest = add_overflows(a.microseconds, b.microseconds, &sum.microseconds);
    const bool outside = months || days || rest;
    fault.raise(kIntervalRange, outside);
    fault.raise(kOther, !outside && has_extreme_part(sum));
    return sum;
}
LOOM_SQL constexpr Interval interval_subtract(Interval a, Interval b, Fault& fault) {
    return interval_add(a, interval_negate(b, fault), fault);
}

/// timestamp_pl_interval: months first, to the last day of a shorter month, then days, then time.
LOOM_SQL constexpr int64_t timestamp_add(int64_t time, Interval span, Fault& fault) {
    fault.raise(kOther, has_extreme_part(span));
    if (is_infinite_timestamp(time) || has_extreme_part(span)) return time;
    if (span.months != 0 || span.days != 0) {
        int64_t day = day_of_timestamp(time);
        const int64_t rest = time - day * kDayMicroseconds;
        if (span.months != 0) {
            const Civil civil = civil_of_day(static_cast<int32_t>(day));
            const int64_t months = int64_t{civil.year} * 12 + (civil.month - 1) + span.months;
            const int64_t year = (months >= 0 ? months : months - 11) / 12;
            const auto month = static_cast<int32_t>(months - year * 12) + 1;
            const int32_t last = days_in_month(year, month);
            day = day_of_civil(year, month, civil.day < last ? civil.day : last);
        }
        if (day < kFirstDay || day >= kTimestampEndDay) {
            fault.raise(kTimestampRange);
            return 0;
        }
        day += span.days;
        if (day < kFirstDay || day >= kTimestampEndDay) {
            fault.raise(kTimestampRange);
            return 0;
        }
        time = day * kDayMicroseconds + rest;
    }
    int64_t sum = 0;
    const bool outside = add_overflows(time, span.microseconds, &sum);
    fault.raise(kTimestampRange, outside || !is_valid_timestamp(sum));
    return sum;
}
LOOM_SQL constexpr int64_t timestamp_subtract_interval(int64_t time, Interval span, Fault& fault) {
    return timestamp_add(time, interval_negate(span, fault), fault);
}
/// date_pl_interval, date_mi_interval.
LOOM_SQL constexpr int64_t date_add_interval(int32_t date, Interval span, Fault& fault) {
    Fault conversion;
    const int64_t time = date_to_timestamp(date, conversion);
    fault.raise(conversion);
    return conversion.bits() != 0 ? 0 : timestamp_add(time, span, fault);
}
LOOM_SQL constexpr int64_t date_subtract_interval(int32_t date, Interval span, Fault& fault) {
    return date_add_interval(date, interval_negate(span, fault), fault);
}
/// timestamp_mi: whole days and the rest. Infinite arguments are an error or, from PostgreSQL 17
/// on, infinite; what passes 64 bits differs as well.
LOOM_SQL constexpr Interval timestamp_subtract(int64_t a, int64_t b, Fault& fault) {
    int64_t difference = 0;
    fault.raise(kOther, is_infinite_timestamp(a) || is_infinite_timestamp(b) ||
                            subtract_overflows(a, b, &difference));
    const int64_t days = difference / kDayMicroseconds;
    return {difference - days * kDayMicroseconds, static_cast<int32_t>(days), 0};
}

// --- fields -------------------------------------------------------------------------------------

enum class Field : uint8_t {
    kMicroseconds,
    kMilliseconds,
    kSecond,
    kMinute,
    kHour,
    kDay,
    kWeek,
    kMonth,
    kQuarter,
    kYear,
    kDecade,
    kCentury,
    kMillennium,
    kDow,
    kIsodow,
    kDoy,
    kIsoyear,
    kEpoch,
    kJulian
};

/// 0 is Sunday.
LOOM_SQL constexpr int32_t weekday(int32_t day) {
    // 2000-01-01 was a Saturday; kFirstDay is 3 modulo 7 days from a Sunday.
    const int64_t n = int64_t{day} + 6 + 7 * int64_t{400000};
    return static_cast<int32_t>(n % 7);
}
/// Returns the Monday of the week of a day.
LOOM_SQL constexpr int32_t monday_of(int32_t day) {
    return day - (weekday(day) + 6) % 7;
}
/// Returns the year that the ISO week of a day belongs to: that of its Thursday.
LOOM_SQL constexpr int32_t iso_year(int32_t day) {
    return civil_of_day(monday_of(day) + 3).year;
}

/// Returns a whole-number field of a day, as extract() and date_part() count it: there is no year
/// 0.
LOOM_SQL constexpr int64_t field_of_day(Field field, int32_t day) {
    const Civil civil = civil_of_day(day);
    const int64_t year = civil.year;
    switch (field) {
        case Field::kDay:
            return civil.day;
        case Field::kMonth:
            return civil.month;
        case Field::kQuarter:
            return (civil.month - 1) / 3 + 1;
        case Field::kYear:
            return year > 0 ? year : year - 1;
        case Field::kDecade:
            return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10);
        case Field::kCentury:
            return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
        case Field::kMillennium:
            return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
        case Field::kDow:
            return weekday(day);
        case Field::kIsodow:
            return (weekday(day) + 6) % 7 + 1;
        case Field::kDoy:
            return day - day_of_civil(year, 1, 1) + 1;
        case Field::kIsoyear: {
            const int64_t iso = iso_year(day);
            return iso > 0 ? iso : iso - 1;
        }
        case Field::kWeek: {
            const int32_t thursday = monday_of(day) + 3;
            return (thursday - day_of_civil(civil_of_day(thursday).year, 1, 1)) / 7 + 1;
        }
        case Field::kEpoch:
            return (int64_t{day} - kUnixEpochDay) * 86400;
        case Field::kJulian:
            return int64_t{day} - kFirstDay;
        default:
            return 0;
    }
}

/// Returns a field of a timestamp: for kSecond and kEpoch in microseconds, for kMilliseconds in
/// thousandths, else whole.
LOOM_SQL constexpr Int128 field_of_timestamp(Field field, int64_t time) {
    const int32_t day = day_of_timestamp(time);
    const int64_t rest = time - day * kDayMicroseconds;
    switch (field) {
        case Field::kMicroseconds:
        case Field::kMilliseconds:
        case Field::kSecond:
            return rest % 60'000'000;
        case Field::kMinute:
            return rest / 60'000'000 % 60;
        case Field::kHour:
            return rest / 3'600'000'000;
        case Field::kEpoch:
            return Int128{time} - Int128{kUnixEpochDay} * kDayMicroseconds;
        default:
            return field_of_day(field, day);
    }
}

/// extract(field from date): infinite values have infinite or unknown fields.
LOOM_SQL constexpr int64_t date_field(Field field, int32_t date, Fault& fault) {
    fault.raise(kOther, !is_valid_date(date));
    return field_of_day(field, is_valid_date(date) ? date : 0);
}
template <Field kField>
LOOM_SQL constexpr int64_t date_field(int32_t date, Fault& fault) {
    return date_field(kField, date, fault);
}
/// extract(field from timestamp). PostgreSQL computes what passes 64 bits with fewer digits.
LOOM_SQL constexpr Int128 timestamp_field(Field field, int64_t time, Fault& fault) {
    fault.raise(kOther, !is_valid_timestamp(time));
    const Int128 value = field_of_timestamp(field, is_valid_timestamp(time) ? time : 0);
    fault.raise(kOther, value >= kTimestampInfinity);
    return value;
}
template <Field kField, typename R>
LOOM_SQL constexpr R timestamp_field(int64_t time, Fault& fault) {
    return static_cast<R>(timestamp_field(kField, time, fault));
}

/// timestamp_trunc. Weeks start on Monday; decades, centuries and millennia as people count them.
LOOM_SQL constexpr int64_t timestamp_truncate(Field field, int64_t time, Fault& fault) {
    if (is_infinite_timestamp(time)) return time;
    const int32_t day = day_of_timestamp(time);
    const int64_t rest = time - day * kDayMicroseconds;
    int64_t unit = 0;
    switch (field) {
        case Field::kMicroseconds:
            return time;
        case Field::kMilliseconds:
            unit = 1000;
            break;
        case Field::kSecond:
            unit = 1'000'000;
            break;
        case Field::kMinute:
            unit = 60'000'000;
            break;
        case Field::kHour:
            unit = 3'600'000'000;
            break;
        default:
            break;
    }
    if (unit != 0) return time - rest % unit;
    const Civil civil = civil_of_day(day);
    int64_t year = civil.year;
    int64_t start = day;
    if (field == Field::kWeek) {
        start = monday_of(day);
    } else if (field == Field::kMonth) {
        start = day - (civil.day - 1);
    } else if (field == Field::kQuarter) {
        start = day_of_civil(year, (civil.month - 1) / 3 * 3 + 1, 1);
    } else if (field != Field::kDay) {
        if (field == Field::kDecade)
            year = year > 0 ? year / 10 * 10 : -((8 - (year - 1)) / 10) * 10;
        else if (field == Field::kCentury)
            year = year > 0 ? (year + 99) / 100 * 100 - 99 : -((99 - (year - 1)) / 100) * 100 + 1;
        else if (field == Field::kMillennium)
            year = year > 0 ? (year + 999) / 1000 * 1000 - 999
                            : -((999 - (year - 1)) / 1000) * 1000 + 1;
        start = day_of_civil(year, 1, 1);
    }
    fault.raise(kTimestampRange, start < kFirstDay);
    return start * kDayMicroseconds;
}
/// date_trunc(field, timestamp).
LOOM_SQL constexpr int64_t timestamp_truncate_valid(Field field, int64_t time, Fault& fault) {
    const bool valid = is_valid_timestamp(time) || is_infinite_timestamp(time);
    fault.raise(kOther, !valid);
    return valid ? timestamp_truncate(field, time, fault) : 0;
}
template <Field kField>
LOOM_SQL constexpr int64_t timestamp_truncate_valid(int64_t time, Fault& fault) {
    return timestamp_truncate_valid(kField, time, fault);
}

}  // namespace loom::sql
