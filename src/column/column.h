#pragma once
// Owned columns: what tests, generators and format conversion build.

#include <memory>
#include <vector>

#include "base/buffer.h"
#include "column/column_view.h"

namespace loom::column {

/// Owns the memory of one column (or dictionary, or child). Fill the public buffers, set `length`,
/// then call view(). Buffers hold what ColumnView documents for the same members; `heap` holds the
/// bytes that BytesViews point to. Move-only.
struct Column {
    TypePtr type;
    Encoding encoding = Encoding::kPlain;
    uint8_t code_width = 0;
    int64_t length = 0;
    int64_t null_count = 0;
    int32_t run_count = 0;
    base::Buffer validity;  ///< empty: no NULLs
    base::Buffer values;
    base::Buffer offsets;
    base::Buffer heap;
    base::Buffer run_ends;
    std::vector<Column> children;
    std::shared_ptr<const Column> dictionary_column;
    Dictionary dictionary;

    Column() = default;
    explicit Column(TypePtr column_type) : type(std::move(column_type)) {}

    /// Returns a view that is valid until this column changes, moves or dies.
    ColumnView view();

  private:
    std::vector<ColumnView> child_views_;
};

/// Appends values row by row; slow but convenient, for tests and small data. Nested values are
/// appended to child(i) before finish_row() of the parent closes the row.
class ColumnBuilder {
  public:
    explicit ColumnBuilder(TypePtr type);

    void append_null();
    void append_bool(bool value);
    /// Appends the bytes of one fixed-width value; `size` must equal byte_width(type).
    void append_fixed(const void* value, size_t size);
    template <typename T>
    void append(T value) {
        append_fixed(&value, sizeof value);
    }
    void append_bytes(std::string_view bytes);
    /// Closes a row of a list or map: all rows appended to child(0) since the last call are its
    /// elements. For a fixed list or struct the children must hold the right number of rows.
    void append_nested();
    /// Closes a row of a union whose value was appended to child(index).
    void append_union(int index);

    ColumnBuilder& child(int index) { return *children_[index]; }
    int64_t length() const noexcept { return length_; }

    /// Moves the rows out; the builder is empty afterwards.
    Column finish();

  private:
    void mark(bool valid);

    TypePtr type_;
    int64_t length_ = 0;
    int64_t null_count_ = 0;
    std::vector<uint8_t> validity_;
    std::vector<uint8_t> values_;
    std::vector<int64_t> offsets_;
    std::vector<uint8_t> heap_;
    std::vector<std::pair<int64_t, int64_t>> slices_;  // offset and size in heap_, per row
    std::vector<std::unique_ptr<ColumnBuilder>> children_;
};

/// Decodes dictionary or runs of `view` itself (not of its children) into plain form. Returns
/// `view` where it is plain already, else a view into `scratch`, valid until the next use of
/// `scratch`.
ColumnView to_plain(const ColumnView& view, Column& scratch);

}  // namespace loom::column
