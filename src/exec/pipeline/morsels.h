#pragma once
// The row groups of a table, handed out to workers.

#include <atomic>
#include <vector>

#include "exec/pipeline/pipeline.h"
#include "exec/query.h"

namespace loom::exec {

struct Morsel {
    int file = 0;
    int64_t row_group = 0;
    format::RowRanges ranges;  ///< rows to read
    bool partial = false;      ///< the ranges are not the whole row group
};

/// Thread safe after construction.
class MorselQueue {
  public:
    /// `workers` decides whether large row groups are split so that all have work.
    MorselQueue(const TableSource& table, int workers);

    /// Hands out row groups in the order of their best rows and skips those that have none within
    /// the bound, which must live as long. `types` are those of the scan. Call before next().
    void follow(const TopBound& bound, const std::vector<plan::Type>& types);

    /// Skips what `conditions`, by file, exclude, besides those of the files. Call before next().
    void restrict(std::vector<std::vector<format::PruneCondition>> conditions) {
        conditions_ = std::move(conditions);
    }

    /// Claims the next morsel that statistics do not exclude; false at the end.
    bool next(Morsel* morsel);

    int64_t size() const noexcept { return static_cast<int64_t>(parts_.size()); }
    int64_t row_groups() const noexcept { return row_groups_; }
    int64_t skipped() const noexcept { return skipped_.load(std::memory_order_relaxed); }

  private:
    struct Part {
        int file;
        int64_t row_group;
        int64_t begin;
        int64_t end;
        uint64_t best = 0;  ///< where its first row can come in the wanted order
    };
    uint64_t best_place(const Part& part, const TopBound& bound, plan::Type type) const;

    bool exclude(const Part& part, Morsel* morsel);

    const TableSource& table_;
    std::vector<Part> parts_;
    std::vector<std::vector<format::PruneCondition>> conditions_;
    std::atomic<int64_t> pages_asked_{0};   ///< row groups whose pages were compared
    std::atomic<int64_t> pages_gained_{0};  ///< of these, with pages that need not be read
    const TopBound* bound_ = nullptr;
    int64_t row_groups_ = 0;
    std::atomic<size_t> position_{0};
    std::atomic<int64_t> skipped_{0};
};

}  // namespace loom::exec
