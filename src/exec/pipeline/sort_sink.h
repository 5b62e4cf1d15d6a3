#pragma once
// The end of a pipeline whose rows are wanted in order.

#include <functional>
#include <memory>
#include <vector>

#include "exec/partition/row_partitions.h"
#include "exec/pipeline/sinks.h"
#include "exec/resources.h"
#include "exec/sort/packed_key.h"

namespace loom::exec {

/// What is done with sorted rows before they go on, a part of them at a time.
struct SortedStep {
    size_t together = 0;  ///< rows that are equal in so many first keys are in one part
    std::function<RowStore(RowStore&& sorted, const Poll& poll)> apply;  ///< or null
    /// Of the rows that `apply` returns. Without it: of the first columns, which are wanted in the
    /// result; none: all are.
    std::vector<plan::Type> types;
};

/// Sorts all rows, or returns the first `limit` of them.
///
/// Workers collect rows and the ranges of their keys. At the end the keys are packed into words,
/// rows are scattered over ranges of words that fit the caches, and each range is sorted by itself:
/// at once by all workers, or, if rows had to go to temporary files, one after the other as they
/// are read.
class SortSink final : public StoreSink {
  public:
    SortSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<plan::SortKey> keys,
             int64_t limit, const Resources& resources, SortedStep then = {});

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;

  private:
    struct Worker {
        explicit Worker(base::MemoryBudget* budget) : words(budget) {}
        std::unique_ptr<RowPartitions> rows;  ///< one partition
        std::vector<KeyRange> ranges;         ///< by key
        KeyWords words;
        std::vector<Vector> columns;
        int64_t count = 0;
    };
    /// Rows by range of words: one RowPartitions a worker, the packed word behind the columns.
    struct Ranges {
        std::vector<std::unique_ptr<RowPartitions>> rows;
        std::vector<int64_t> counts;   ///< by range
        std::vector<uint64_t> lowest;  ///< word, by range
        std::vector<uint64_t> highest;
    };
    /// A range to be sorted, and how many of its rows are wanted.
    struct Piece {
        std::shared_ptr<Ranges> ranges;
        int64_t range = 0;
        int64_t limit = -1;
    };

    int loose_bits(const PackedKey& key) const;
    RowStore finished(RowStore&& sorted, const Poll& poll) const;
    const std::vector<plan::Type>& result_types() const noexcept;
    void sort_few(const PackedKey& key, const Poll& poll);
    std::shared_ptr<Ranges> scatter(const PackedKey& key, int64_t total, Tasks& tasks);
    std::vector<int64_t> count_bins(const PackedKey& key, int shift, size_t bins, Tasks& tasks);
    std::shared_ptr<Ranges> make_ranges(size_t parts, int64_t total) const;
    std::shared_ptr<Ranges> split(Ranges& ranges, int64_t range, int loose, const Poll& poll) const;
    void add_pieces(const std::shared_ptr<Ranges>& ranges, int loose, int64_t* left,
                    const Poll& poll, std::vector<Piece>& pieces) const;
    int64_t most_rows() const noexcept;
    bool is_full(const RowPartitions& rows) const noexcept {
        return resources_.is_full(rows.held(), workers_.size());
    }
    RowStore sort_range(Ranges& ranges, int64_t range, const PackedKey& key, int64_t limit,
                        const Poll& poll) const;

    std::vector<plan::SortKey> keys_;
    std::vector<plan::Type> sorted_types_;  ///< of the columns that sorted rows have
    std::vector<plan::Type> ranged_types_;  ///< of the rows in ranges
    int64_t row_bytes_ = 0;                 ///< of them, without those of texts
    int64_t limit_;
    Resources resources_;
    SortedStep then_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace loom::exec
