#pragma once
// Values as text: CSV fields and names of partitions.

#include <string>

#include "column/column_view.h"

namespace loom::datagen {

/// Appends the value of a row that is not NULL, as PostgreSQL would read it. Raises kUnsupported
/// for a type that no kind of data uses.
void append_text(const column::ColumnView& view, int64_t row, std::string& out);

/// Appends a CSV field (RFC 4180). NULL is an empty field, the empty text is a quoted one.
void append_csv_field(const column::ColumnView& view, int64_t row, std::string& out);

/// Appends a text as a CSV field, in quotes where it needs them.
void append_quoted(std::string_view text, std::string& out);

}  // namespace loom::datagen
