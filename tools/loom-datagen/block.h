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

/// Turns the listed rows of a column that is not nested into a column of their own.
column::Column take_rows(column::Column& from, std::span<const int64_t> rows);

/// Marks rows of a filled column as NULL.
void set_nulls(column::Column& column, std::span<const int64_t> rows);

}  // namespace loom::datagen
