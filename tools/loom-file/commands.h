#pragma once
// The commands of loom-file. Each works on one open file and writes to standard output.

#include <cstdint>
#include <string>
#include <vector>

#include "column/text.h"
#include "format/table_reader.h"

namespace loom::file_tool {

enum class RowFormat : uint8_t { kCsv, kJson };

struct Options {
    RowFormat rows = RowFormat::kCsv;
    int64_t limit = -1;                ///< rows; -1 for all
    std::vector<std::string> columns;  ///< empty for all
    column::TextStyle style;
    bool with_name = false;  ///< several files: say which one comes
};

void print_schema(const format::TableReader& table);
void print_metadata(const format::TableReader& table);
void print_row_groups(const format::TableReader& table);
void print_rows(const format::TableReader& table, const Options& options);
void print_digest(const format::TableReader& table, const Options& options);

/// Returns the numbers of the chosen columns. Raises kBadName for a name that the file does not
/// have.
std::vector<int> chosen_columns(const format::TableReader& table, const Options& options);

}  // namespace loom::file_tool
