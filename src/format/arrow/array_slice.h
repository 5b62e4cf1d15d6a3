#pragma once
// Turns loaded buffers into column views, a range of rows at a time, checking everything that is
// used to find something else: offsets, views, codes, type codes.

#include <vector>

#include "column/column.h"
#include "format/arrow/array_data.h"

namespace loom::arrow {

/// How a top-level field may come out encoded. Nested members are always plain.
struct SliceOptions {
    bool keep_dictionary = false;
    bool keep_runs = false;
};

/// Reads row ranges of one ArrayData, which must outlive it. Views are valid until the next read().
class ArraySlice {
  public:
    ArraySlice(const ArrayData& data, SliceOptions options, base::MemoryBudget* budget);
    ArraySlice(ArraySlice&&) = default;

    /// Returns rows [row, row + count), which must lie within the array.
    column::ColumnView read(int64_t row, int64_t count);

  private:
    void read_validity(int64_t row, int64_t count, column::ColumnView& view);
    void read_null(int64_t count, column::ColumnView& view);
    void read_bits(int64_t row, int64_t count, column::ColumnView& view);
    template <typename Offset>
    void read_bytes(int64_t row, int64_t count, column::ColumnView& view);
    void read_byte_views(int64_t row, int64_t count, column::ColumnView& view);
    template <typename Offset>
    void read_list(int64_t row, int64_t count, column::ColumnView& view);
    template <typename Offset>
    void read_list_view(int64_t row, int64_t count, column::ColumnView& view);
    template <typename Offset>
    void gather_list_view(const Offset* offsets, const Offset* sizes, int64_t count,
                          column::ColumnView& view);
    void read_members(int64_t row, int64_t count, column::ColumnView& view);
    void read_type_codes(int64_t row, int64_t count, column::ColumnView& view);
    void read_dense_union(int64_t row, int64_t count, column::ColumnView& view);
    void read_runs(int64_t row, int64_t count, column::ColumnView& view);
    void keep_runs(int64_t first_run, int64_t row, int64_t count, column::ColumnView& view);
    void expand_runs(int64_t first_run, int64_t row, int64_t count, column::ColumnView& view);
    void read_codes(int64_t row, int64_t count, column::ColumnView& view);
    template <typename Index, typename Code>
    void copy_codes(int64_t row, int64_t count, const column::ColumnView& view);
    void expand_codes(int64_t count, column::ColumnView& view);
    int64_t run_end(int64_t run) const;
    void take_gathered(column::ColumnView& view);

    const ArrayData* data_;
    SliceOptions options_;
    std::vector<ArraySlice> children_;
    std::vector<column::ColumnView> child_views_;
    base::Buffer validity_;
    base::Buffer values_;
    base::Buffer offsets_;
    base::Buffer run_ends_;
    std::vector<int64_t> rows_;
    column::Column gathered_;
};

}  // namespace loom::arrow
