#pragma once
// Random values of any type, as rows of a column and, independently, as JSON.

#include <random>
#include <string>

#include "column/column.h"

namespace loom::roundtrip {

/// Where values come from and how wild they are.
struct Source {
    std::mt19937_64 random{1};
    double nulls = 0.2;   ///< share of NULLs in nullable fields
    int64_t variety = 0;  ///< distinct values per column, 0: as they come

    uint64_t below(uint64_t n) { return random() % n; }
    bool chance(double probability) {
        return static_cast<double>(random() >> 11) * 0x1p-53 < probability;
    }
};

/// Appends one random value of `field` to `builder` and its JSON to `json`: numbers for floats,
/// null, arrays and objects for nested values (a map is an array of {key, value}), and strings for
/// all else: whole numbers and decimals in digits; dates in days, timestamps in their unit since
/// 1970; binaries in hex.
void append_random(const column::Field& field, column::ColumnBuilder& builder, Source& source,
                   std::string& json);

/// Appends a JSON string.
void append_json_string(std::string_view text, std::string& json);

}  // namespace loom::roundtrip
