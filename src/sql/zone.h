#pragma once
// Time zones: from UTC to local time and back, by a table of the moments when a zone's offset
// changes.

#include <cstdint>

#include "sql/calendar.h"
#include "sql/definition.h"

namespace loom::sql {

/// From `from` on, in seconds since 1970 UTC, local time is UTC and `offset` seconds.
struct ZonePeriod {
    int64_t from;
    int64_t offset;
};

/// Ascending; the first begins before all timestamps.
struct Zone {
    const ZonePeriod* periods = nullptr;
    int64_t count = 0;
};

/// What a table says ends with the year 2400.
inline constexpr int64_t kZoneEnd = 13'569'465'600;

/// Seconds since 1970, rounded down, of a timestamp's microseconds since 2000.
LOOM_SQL constexpr int64_t unix_seconds(int64_t time) {
    const int64_t seconds = time / 1'000'000 - (time % 1'000'000 < 0 ? 1 : 0);
    return seconds - int64_t{kUnixEpochDay} * 86'400;
}

/// Returns the period that a moment lies in. `hint` is a period to look at first.
LOOM_SQL constexpr int64_t zone_period(const Zone& zone, int64_t seconds, int64_t hint) {
    if (zone.periods[hint].from <= seconds &&
        (hint + 1 == zone.count || seconds < zone.periods[hint + 1].from))
        return hint;
    int64_t low = 0;
    int64_t high = zone.count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (zone.periods[middle].from <= seconds)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/// Whether the table holds for a timestamp, a day about it included.
LOOM_SQL constexpr bool is_zoned(int64_t time) {
    return is_valid_timestamp(time) && unix_seconds(time) < kZoneEnd - 2 * 86'400;
}

/// Returns the offset of local time from UTC at `seconds`, which is local time: as PostgreSQL
/// decides where local time comes twice (the later period) or not at all (the earlier one).
LOOM_SQL constexpr int64_t local_offset(const Zone& zone, int64_t seconds, int64_t* hint) {
    // The change that matters is the first one after the same time of the day before, taken as UTC.
    *hint = zone_period(zone, seconds - 86'400, *hint);
    const int64_t before = zone.periods[*hint].offset;
    if (*hint + 1 == zone.count) return before;
    const int64_t boundary = zone.periods[*hint + 1].from;
    const int64_t after = zone.periods[*hint + 1].offset;
    const int64_t as_before = seconds - before;
    const int64_t as_after = seconds - after;
    if (as_before < boundary && as_after < boundary) return before;
    if (as_before > boundary && as_after >= boundary) return after;
    return as_before > as_after ? before : after;
}

}  // namespace loom::sql
