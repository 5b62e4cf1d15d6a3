#pragma once
// Tables whose values are text, in PostgreSQL's spelling: written as CSV for COPY and, parsed by
// code of its own, as Parquet and Arrow. So a test compares two ways from the same text to the same
// rows.

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "column/column.h"
#include "format/arrow/writer.h"
#include "format/parquet/write/writer.h"

namespace loom::test {

using Cell = std::optional<std::string>;

/// A column: its file type and the text of each row.
struct TextColumn {
    column::Field field;
    std::vector<Cell> cells;
};

/// A table of equally long columns.
struct TextTable {
    std::deque<TextColumn> columns;  ///< a deque: add() must not move what callers refer to

    TextColumn& add(std::string name, column::TypePtr type);
    size_t rows() const { return columns.empty() ? 0 : columns[0].cells.size(); }
};

/// Appends one value, given in PostgreSQL's spelling, to a builder. Lists as `{a,b,NULL}`.
void append_text(column::ColumnBuilder& builder, const column::DataType& type, const Cell& cell);

/// Writes rows [begin, end) as a Parquet or Arrow file.
void write_parquet(const TextTable& table, const std::string& path, parquet::WriterOptions options);
void write_arrow(const TextTable& table, const std::string& path, arrow::WriterOptions options);

/// Writes CSV as COPY ... (FORMAT csv, NULL '\N') reads it.
void write_csv(const TextTable& table, const std::string& path);

}  // namespace loom::test
