#pragma once
// Joins two scattered sides, partition by partition.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exec/partition/scattered_rows.h"
#include "exec/pipeline/runner.h"

namespace loom::exec {

/// A partition of both sides of a join.
struct PartitionPair {
    std::shared_ptr<ScatteredRows> build;
    std::shared_ptr<ScatteredRows> probe;
    int64_t partition = 0;
    bool may_split = true;  ///< finer partitions may help: the keys are not all the same
};

/// Pairs that are yet to be joined. Thread safe.
class PairQueue {
  public:
    PairQueue(const std::shared_ptr<ScatteredRows>& build,
              const std::shared_ptr<ScatteredRows>& probe, bool may_split = true) {
        add(build, probe, may_split);
    }
    void add(const std::shared_ptr<ScatteredRows>& build,
             const std::shared_ptr<ScatteredRows>& probe, bool may_split);
    bool next(PartitionPair* pair);
    int64_t size() const noexcept { return static_cast<int64_t>(pairs_.size()); }

  private:
    std::mutex mutex_;
    std::vector<PartitionPair> pairs_;
};

/// One worker's run of a pipeline that begins with a join of scattered sides. A build partition
/// that is too large for memory is split; if that does not help, since its rows have one key, it is
/// taken in blocks, for each of which the probe partition is read again.
class PairRunner {
  public:
    /// `pipeline` is not prepared: each pair has a copy. `allowance` is what a table may take.
    PairRunner(const Pipeline& pipeline, SharedRun& shared, PairQueue& pairs, int worker, Poll poll,
               const Resources& resources, uint64_t allowance, base::MemoryBudget* in_flight);

    /// Runs up to `batches` batches of probe rows. Returns whether there may be more.
    bool run(int64_t batches);

    int64_t rows_in() const noexcept { return rows_in_; }
    int64_t rows_out() const noexcept;

  private:
    bool next_pair();
    void split(const PartitionPair& pair);
    std::shared_ptr<ScatteredRows> scatter(ScatteredRows& rows, int64_t partition,
                                           const std::vector<int>& keys, HashRange range);
    void open_block();
    void open_pass(BlockPass::Kind kind);
    void end_pass();
    void close_block();
    void close_pair();

    const Pipeline& template_;
    int join_;
    SharedRun& shared_;
    PairQueue& pairs_;
    int worker_;
    Poll poll_;
    Resources resources_;
    uint64_t allowance_;
    base::MemoryBudget* in_flight_;
    std::vector<int> probe_keys_;  ///< columns of the probe rows

    std::optional<PartitionPair> pair_;
    std::optional<ScatteredCursor> build_cursor_;
    bool last_block_ = false;
    std::unique_ptr<Pipeline> pipeline_;  ///< of the block
    std::unique_ptr<Runner> runner_;
    std::optional<ScatteredCursor> probe_cursor_;
    BlockPass::Kind pass_ = BlockPass::Kind::kWhole;
    base::Buffer seen_;
    std::vector<Vector> columns_;
    int64_t rows_in_ = 0;
    int64_t rows_out_ = 0;
};

}  // namespace loom::exec
