#pragma once
// Values as text, for tools: DuckDB's form (CAST ... AS VARCHAR), which its users know from CSV
// output and which the expected contents of the corpus are written in.

#include <string>
#include <string_view>

#include "column/column_view.h"

namespace loom::column {

/// Nanoseconds are kept, or cut to microseconds: down, or towards zero (as DuckDB casts them).
enum class Nanos : uint8_t { kKeep, kFloor, kTowardsZero };

/// Options of append_text().
struct TextStyle {
    /// Top-level binary values as upper-case hexadecimal digits instead of DuckDB's \x escapes.
    bool hex_binary = false;
    /// Dates, times, timestamps, durations and decimals as the integers that the file stores.
    bool raw_integers = false;
    /// What happens to the digits of nanoseconds.
    Nanos nanos = Nanos::kKeep;
    /// Instants without the "+00" of their zone.
    bool omit_zone = false;
};

/// Appends the value of `row`; "NULL" if it is NULL. Any encoding; for runs the run is searched.
void append_text(const ColumnView& view, int64_t row, const TextStyle& style, std::string& out);

/// Appends the value of `row` as JSON: numbers as numbers (NaN and infinities as strings), binary
/// as hexadecimal strings, lists as arrays, structs as objects, maps as arrays of [key, value].
void append_json(const ColumnView& view, int64_t row, const TextStyle& style, std::string& out);

/// Appends `text` as a JSON string. Bytes that are not UTF-8 become U+FFFD.
void append_json_string(std::string_view text, std::string& out);

/// Appends shortest digits that read back as the same number: 1.0, 1e-05, 1e+20, inf, nan.
void append_float(double value, std::string& out);
void append_float(float value, std::string& out);

/// Converts an IEEE half to float, exactly.
float half_to_float(uint16_t half) noexcept;

/// Returns the row of the run (or the row itself) that holds the value of `row`.
int64_t value_slot(const ColumnView& view, int64_t row) noexcept;

/// Returns whether `row` is NULL in itself or through its dictionary entry.
bool is_null_value(const ColumnView& view, int64_t row) noexcept;

}  // namespace loom::column
