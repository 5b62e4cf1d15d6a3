#pragma once
// Bounds of record batches as PG-Strom's tools and pg_loom's writer leave them in metadata.
//
// Two conventions exist. Old: the field's keys `min_values` and `max_values` list one raw integer
// per record batch. New: the record batch's key `min_max_stats.<field>` says MIN,MAX. Both are made
// for people and lose precision (floats with six decimals, texts cut short), so bounds are widened
// until no value can lie outside, unless the file says that pg_loom wrote them.

#include <string>
#include <string_view>

#include "column/data_type.h"
#include "format/table_reader.h"

namespace loom::arrow {

/// Schema metadata key whose value "exact" tells that pg_loom wrote all bounds.
inline constexpr std::string_view kStatisticsKey = "pg_loom.statistics";
inline constexpr std::string_view kStatisticsExact = "exact";
/// Record batch metadata key prefix of pg_loom's additions: `<min exact><max exact>,<NaN count>`,
/// with 0 or 1 for the flags. Only looked at in files that carry kStatisticsKey.
inline constexpr std::string_view kDetailPrefix = "pg_loom.stats.";
inline constexpr std::string_view kMinMaxPrefix = "min_max_stats.";
inline constexpr std::string_view kMinValuesKey = "min_values";
inline constexpr std::string_view kMaxValuesKey = "max_values";
/// Texts longer than this are cut in bounds.
inline constexpr size_t kMaxTextBound = 60;

enum class Trust : uint8_t {
    kForeign,  ///< widen
    kOwn       ///< take as written
};

/// Parses `MIN,MAX` for a column of `type`. Anything malformed leaves that bound unknown.
void parse_min_max(std::string_view text, const column::DataType& type, Trust trust,
                   format::ColumnStatistics& out);

/// Parses the old lists, element `batch` of each.
void parse_value_lists(std::string_view min_values, std::string_view max_values, int64_t batch,
                       const column::DataType& type, format::ColumnStatistics& out);

/// Applies pg_loom's own additions to bounds that parse_min_max() found.
void parse_detail(std::string_view text, format::ColumnStatistics& out);

/// Returns the smallest text that is larger than every text that begins with `prefix`, or an empty
/// string if there is none.
std::string after_prefix(std::string prefix);

}  // namespace loom::arrow
