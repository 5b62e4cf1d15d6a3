#pragma once
// Rows on their way from a generator to a file, and ways to fill them.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "column/column.h"

namespace loom::datagen {

/// Some consecutive rows of a table, one Column per field of its schema.
struct Block {
    int64_t rows = 0;
    std::vector<column::Column> columns;

    /// Returns views that are valid until the block changes.
    std::vector<column::ColumnView> views();
};

/// A fixed set of texts; columns store their numbers.
class Words {
  public:
    explicit Words(std::span<const std::string_view> words);
    explicit Words(const std::vector<std::string>& words);

    int64_t size() const noexcept { return column_->length; }
    /// Returns a column of `rows` codes (uint8_t up to 256 words, else uint16_t) to be filled.
    column::Column make_column(int64_t rows) const;
    std::string_view word(int64_t code) const noexcept {
        return column_->values.as<column::BytesView>()[code].text();
    }

  private:
    std::shared_ptr<const column::Column> column_;
    column::Dictionary dictionary_;
};

/// Returns a column of `rows` fixed-width values to be filled.
column::Column make_fixed(column::TypePtr type, int64_t rows);

/// Collects texts or binaries of one column, row by row.
class BytesFiller {
  public:
    BytesFiller(column::TypePtr type, int64_t rows, int64_t bytes_a_row);
    void add(std::string_view value);
    void add_null();
    column::Column finish();

  private:
    column::Column column_;
    std::string heap_;
    std::vector<int64_t> ends_;
    std::vector<int64_t> nulls_;
};

/// Returns a column of T, filled by a function of the row.
template <typename T, typename Value>
column::Column make_values(column::TypePtr type, int64_t rows, Value value) {
    column::Column column = make_fixed(std::move(type), rows);
    for (int64_t row = 0; row < rows; ++row)
        column.values.as<T>()[row] = static_cast<T>(value(row));
    return column;
}
template <typename Value>
column::Column make_int32(int64_t rows, Value value) {
    return make_values<int32_t>(column::make_type(column::TypeId::kInt32), rows, value);
}

/// Returns a column of texts, filled by a function of the row.
template <typename Text>
column::Column make_text(int64_t rows, Text text) {
    BytesFiller filler(column::make_type(column::TypeId::kUtf8), rows, 16);
    for (int64_t row = 0; row < rows; ++row) filler.add(text(row));
    return filler.finish();
}

/// Returns a column of words, filled by a function of the row that gives the number of a word.
template <typename Code>
column::Column make_codes(const Words& words, int64_t rows, Code code) {
    column::Column column = words.make_column(rows);
    for (int64_t row = 0; row < rows; ++row)
        if (column.code_width == 1)
            column.values.as<uint8_t>()[row] = static_cast<uint8_t>(code(row));
        else
            column.values.as<uint16_t>()[row] = static_cast<uint16_t>(code(row));
    return column;
}

/// Turns the listed rows of a column that is not nested into a column of their own.
column::Column take_rows(column::Column& from, std::span<const int64_t> rows);

/// Marks rows of a filled column as NULL.
void set_nulls(column::Column& column, std::span<const int64_t> rows);

}  // namespace loom::datagen
