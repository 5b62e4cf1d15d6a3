#include "column/calendar_text.h"

#include <fmt/format.h>

#include "base/division.h"

namespace loom::column {

using base::floor_divide;
using base::floor_modulo;

namespace {

using Int128 = __int128;

int64_t ticks_per_second(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::kSecond:
            return 1;
        case TimeUnit::kMilli:
            return 1'000;
        case TimeUnit::kMicro:
            return 1'000'000;
        case TimeUnit::kNano:
            return 1'000'000'000;
    }
    return 1;
}

// Appends ".25" for a fraction of a second, nothing for 0.
void append_fraction(int64_t ticks, int64_t per_second, std::string& out) {
    if (ticks == 0) return;
    std::string digits = fmt::format("{:09}", ticks * (1'000'000'000 / per_second));
    while (digits.back() == '0') digits.pop_back();
    out += '.';
    out += digits;
}

void append_clock(int64_t seconds, std::string& out) {
    fmt::format_to(std::back_inserter(out), "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60,
                   seconds % 60);
}

struct Civil {
    int64_t year;
    int month;
    int day;
};

// Days since 1970-01-01 to a date. Works in 400-year cycles of 146,097 days that begin in March, so
// that the leap day is a year's last.
Civil civil_from_days(int64_t days) {
    const int64_t shifted = days + 719468;  // from 0000-03-01
    const int64_t cycle = floor_divide(shifted, 146097);
    const int64_t in_cycle = shifted - cycle * 146097;
    const int64_t year_of_cycle =
        (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    const int64_t in_year =
        in_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    const int64_t month_from_march = (5 * in_year + 2) / 153;
    const int day = static_cast<int>(in_year - (153 * month_from_march + 2) / 5 + 1);
    const int month =
        static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    return {year_of_cycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day};
}

void append_count(int64_t count, const char* what, std::string& out) {
    if (count == 0) return;
    if (!out.empty() && out.back() != ' ') out += ' ';
    fmt::format_to(std::back_inserter(out), "{} {}{}", count, what,
                   count == 1 || count == -1 ? "" : "s");
}

}  // namespace

void append_date(int64_t days, std::string& out) {
    const Civil date = civil_from_days(days);
    const bool before = date.year <= 0;
    fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02}{}",
                   before ? 1 - date.year : date.year, date.month, date.day, before ? " (BC)" : "");
}

void append_time(int64_t value, TimeUnit unit, std::string& out) {
    const int64_t per_second = ticks_per_second(unit);
    if (value < 0) out += '-';
    const Int128 magnitude = value < 0 ? -Int128{value} : Int128{value};
    append_clock(static_cast<int64_t>(magnitude / per_second), out);
    append_fraction(static_cast<int64_t>(magnitude % per_second), per_second, out);
}

void append_timestamp(int64_t value, TimeUnit unit, bool with_zone, std::string& out) {
    const int64_t per_second = ticks_per_second(unit);
    const int64_t seconds = floor_divide(value, per_second);
    append_date(floor_divide(seconds, 86400), out);
    out += ' ';
    append_clock(floor_modulo(seconds, 86400), out);
    append_fraction(floor_modulo(value, per_second), per_second, out);
    if (with_zone) out += "+00";
}

void append_duration(int64_t value, TimeUnit unit, std::string& out) {
    const Int128 nanoseconds = Int128{value} * (1'000'000'000 / ticks_per_second(unit));
    const bool negative = nanoseconds < 0;
    const Int128 magnitude = negative ? -nanoseconds : nanoseconds;
    if (negative) out += '-';
    append_clock(static_cast<int64_t>(magnitude / 1'000'000'000), out);
    append_fraction(static_cast<int64_t>(magnitude % 1'000'000'000), 1'000'000'000, out);
}

void append_interval(int32_t months, int32_t days, int64_t nanoseconds, std::string& out) {
    std::string text;
    append_count(months / 12, "year", text);
    append_count(months % 12, "month", text);
    append_count(days, "day", text);
    if (nanoseconds != 0 || text.empty()) {
        if (!text.empty()) text += ' ';
        append_duration(nanoseconds, TimeUnit::kNano, text);
    }
    out += text;
}

}  // namespace loom::column
