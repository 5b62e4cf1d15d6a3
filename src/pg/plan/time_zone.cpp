#include "pg/plan/time_zone.h"

#include <map>

#include "pg/bridge/bridge.h"
#include "sql/zone.h"

extern "C" {
#include "pgtime.h"
}

namespace loom::pg {

namespace {

// Before all that a timestamp can say.
constexpr int64_t kBeginning = -300'000'000'000;
// More changes than any zone has.
constexpr int kMostPeriods = 5000;

void append(std::string* bytes, int64_t from, int64_t offset) {
    const sql::ZonePeriod period{from, offset};
    bytes->append(reinterpret_cast<const char*>(&period), sizeof period);
}

std::optional<std::string> constant_of(pg_tz* zone) {
    // Tables of a process; zones do not change while it runs.
    static std::map<std::string, std::string> known;
    const char* name = pg_get_timezone_name(zone);
    if (name == nullptr) return std::nullopt;
    if (const auto found = known.find(name); found != known.end()) return found->second;
    std::string bytes = name;
    bytes += '\0';
    int64_t from = kBeginning;
    for (int i = 0; from < sql::kZoneEnd; ++i) {
        if (i == kMostPeriods) return std::nullopt;
        const pg_time_t at = from;
        long before = 0;
        long after = 0;
        int before_dst = 0;
        int after_dst = 0;
        pg_time_t boundary = 0;
        const int found =
            pg_next_dst_boundary(&at, &before, &before_dst, &boundary, &after, &after_dst, zone);
        if (found < 0) return std::nullopt;
        if (i == 0) append(&bytes, INT64_MIN, before);
        if (found == 0) break;
        append(&bytes, boundary, after);
        from = boundary;
    }
    known.emplace(name, bytes);
    return bytes;
}

}  // namespace

std::string session_zone_name() {
    const char* name = pg_get_timezone_name(session_timezone);
    return name != nullptr ? name : "";
}

std::optional<std::string> zone_constant(const std::string& name) {
    // Abbreviations come first in PostgreSQL's eyes, and none has a slash.
    if (name.find('/') == std::string::npos && name != "UTC" && name != "GMT") return std::nullopt;
    pg_tz* zone = pg_call([&] { return pg_tzset(name.c_str()); });
    if (zone == nullptr) return std::nullopt;
    return constant_of(zone);
}

std::optional<std::string> session_zone_constant() {
    return constant_of(session_timezone);
}

}  // namespace loom::pg
