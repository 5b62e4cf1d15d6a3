#pragma once
// The tables that random queries read. All have the same columns; each exists three times with the
// same rows: in schema parquet, in schema arrow, and as an ordinary table in schema heap.

#include <cstdint>
#include <string>
#include <vector>

#include "plan/type.h"

namespace loom::test {

struct ColumnInfo {
    std::string name;
    plan::TypeId type;
    std::string sql_type;
    /// Values that are equal print alike: no zeros of two signs, one display scale.
    bool is_canonical = true;
    /// Values are small enough for arithmetic.
    bool is_tame = true;
    /// Values that are different, in a table of many rows; 0: as many as rows.
    int64_t distinct = 0;
};

struct TableInfo {
    std::string name;
    int64_t rows;
};

const std::vector<ColumnInfo>& table_columns();
const std::vector<TableInfo>& tables();

/// Writes the files of all tables.
void write_tables(const std::string& dir);
/// Returns the statements that make the tables anew from those files.
std::vector<std::string> table_statements(const std::string& dir);

}  // namespace loom::test
