#pragma once
// Dates, times and intervals as text, proleptic Gregorian, in DuckDB's form.

#include <cstdint>
#include <string>

#include "column/data_type.h"

namespace loom::column {

/// Appends e.g. 1992-01-01 or 0044-03-15 (BC).
void append_date(int64_t days, std::string& out);
/// Appends e.g. 12:00:00.5; outside a day the hours go on counting.
void append_time(int64_t value, TimeUnit unit, std::string& out);
/// Appends e.g. 1992-01-01 00:00:00.25, with +00 behind an instant in UTC.
void append_timestamp(int64_t value, TimeUnit unit, bool with_zone, std::string& out);
void append_duration(int64_t value, TimeUnit unit, std::string& out);
/// Appends e.g. 1 year 2 months -3 days 04:05:06.789; 00:00:00 if all is 0.
void append_interval(int32_t months, int32_t days, int64_t nanoseconds, std::string& out);

}  // namespace loom::column
