#pragma once
// One line a column that says what is in it, comparable between readers.

#include <string>

#include "column/column_view.h"
#include "column/text.h"
#include "md5.h"

namespace loom::file_tool {

/// Sums up the values of one column as they come, in file order.
///
/// sum: exact for booleans (how many are true), integers and decimals; the sum of the finite values
/// for floats; the total length in bytes for texts and binary. min and max as text (binary as
/// hexadecimal digits; cut beyond 200 characters). Nested columns have only count and hash.
class ColumnDigest {
  public:
    ColumnDigest(const column::DataType& type, const column::TextStyle& style);

    void add(const column::ColumnView& view);

    int64_t rows() const noexcept { return rows_; }
    int64_t non_null() const noexcept { return non_null_; }
    std::string sum() const;
    std::string min() const;
    std::string max() const;
    /// MD5 of all values as text, "<null>" for NULL, joined by line feeds. Call once.
    std::string hash() { return hash_.finish(); }

  private:
    void add_bounds(const column::ColumnView& view, int64_t row, const std::string& text);
    void add_number(const column::ColumnView& plain, int64_t row, const std::string& text);
    void keep(double key, const std::string& text);
    void keep(__int128 key, const std::string& text);
    void keep_text(const std::string& text);

    const column::DataType& type_;
    column::TextStyle style_;
    int64_t rows_ = 0;
    int64_t non_null_ = 0;
    __int128 sum_ = 0;
    bool sum_overflows_ = false;
    double float_sum_ = 0;
    double min_float_ = 0, max_float_ = 0;
    __int128 min_integer_ = 0, max_integer_ = 0;
    std::string min_, max_;
    bool bounded_ = false;
    Md5 hash_;
    std::string text_;
};

}  // namespace loom::file_tool
