#pragma once
// Prints the rows of a view, for tests that compare two ways of reading.

#include <string>

#include "column/column_view.h"

namespace loom::parquet::test {

/// Appends a text of one row that is equal for equal values only, whatever the encoding. Looks at
/// every byte that a consumer of the view may look at.
void append_value(const column::ColumnView& view, int64_t row, std::string& out);

/// What expected/duckdb-*.csv states of a column.
struct Summary {
    int64_t rows = 0;
    int64_t non_null = 0;
    bool summable = false;
    long double float_sum = 0;  ///< finite floats
    __int128 integer_sum = 0;   ///< integers, decimals (unscaled), booleans, lengths of bytes
    bool has_bounds = false;
    column::DataType type;
    __int128 integer_min = 0, integer_max = 0;
    double float_min = 0, float_max = 0;
    std::string bytes_min, bytes_max;

    void add(const column::ColumnView& view);
};

}  // namespace loom::parquet::test
