#pragma once
// Structs, lists, maps and variants of any depth.

#include <memory>
#include <vector>

#include "column/column_view.h"
#include "format/parquet/read/leaf_reader.h"

namespace loom::parquet {

/// What a node hands out for one batch.
struct NodeBuffers {
    explicit NodeBuffers(base::MemoryBudget* budget)
        : validity(budget), offsets(budget), values(budget), heap(budget) {}

    base::Buffer validity;
    base::Buffer offsets;
    base::Buffer values;
    base::Buffer heap;  ///< the texts of variants
    std::vector<column::ColumnView> child_views;
    std::vector<std::unique_ptr<NodeBuffers>> children;
};

/// Reads a nested column: its leaves move through the records in step, levels become offsets and
/// validity. Values are plain.
class NestedColumnReader final : public format::ColumnReader {
  public:
    NestedColumnReader(FileStatePtr file, int64_t row_group, int column,
                       const format::ReadOptions& options);

    column::Encoding encoding() override { return column::Encoding::kPlain; }
    const column::Dictionary* dictionary() override { return nullptr; }
    column::ColumnView read(int64_t row, int64_t count) override;
    column::ColumnView gather(int64_t row, int64_t count,
                              std::span<const uint16_t> selection) override;
    format::ReadProfile profile() const override;

  private:
    // Where a node stands: slots with a repetition level up to `repetition` and a definition level
    // from `existing` on are its rows.
    struct Place {
        int repetition;
        int existing;
        int64_t rows;  // how many there must be
    };

    template <typename Collect>
    column::ColumnView run(int64_t row, int64_t count, int64_t rows, Collect&& collect);
    void open_leaves(const Node& node);
    const LeafBatch& batch(int leaf) const;
    column::ColumnView build(const Node& node, Place place, NodeBuffers& out);
    column::ColumnView build_leaf(const Node& node, Place place, NodeBuffers& out);
    column::ColumnView build_struct(const Node& node, Place place, NodeBuffers& out);
    column::ColumnView build_list(const Node& node, Place place, NodeBuffers& out);
    column::ColumnView build_variant(const Node& node, Place place, NodeBuffers& out);
    int64_t mark_valid(const LeafBatch& levels, int defined, Place place, NodeBuffers& out);
    static void check_rows(int64_t found, int64_t expected);

    FileStatePtr file_;
    int64_t row_group_;
    int column_;
    const Node& root_;
    format::ReadOptions options_;
    int64_t row_count_;
    std::vector<std::unique_ptr<LeafReader>> leaves_;
    std::vector<LeafBatch> batches_;  // by leaf, from first_leaf_ on
    int first_leaf_ = 0;
    NodeBuffers buffers_;
    uint64_t total_ns_ = 0;
};

}  // namespace loom::parquet
