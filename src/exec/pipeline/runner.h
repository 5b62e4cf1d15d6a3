#pragma once
// One worker's run of one pipeline.

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "exec/pipeline/frame.h"
#include "exec/pipeline/morsels.h"

namespace loom::exec {

/// Counters that the workers of a pipeline share.
struct SharedRun {
    std::vector<std::atomic<int64_t>> limits;  ///< rows that reached each step of kind kLimit
    std::atomic<int> reached{-1};              ///< the last step whose limit is reached
    std::atomic<int64_t> stored_batch{0};      ///< next batch of the stored source

    explicit SharedRun(size_t steps) : limits(steps) {}

    /// Whether rows that have not passed step `step` yet are still wanted. Those that have passed a
    /// limit go on to the end, and may be multiplied there.
    bool wants(int step) const noexcept { return reached.load(std::memory_order_relaxed) <= step; }
    bool wants_source() const noexcept { return wants(-1); }
    void reach(int step) noexcept {
        int before = reached.load(std::memory_order_relaxed);
        while (before < step && !reached.compare_exchange_weak(before, step)) {
        }
    }
};

/// What a pass over the probe rows of a join does whose build rows come in blocks.
struct BlockPass {
    enum class Kind : uint8_t {
        kWhole,  ///< all: there is one block
        kPairs,  ///< finds the pairs with one block, and notes which probe rows have one
        kRest    ///< goes on with what depends on whether a probe row has a pair at all
    };
    Kind kind = Kind::kWhole;
    uint8_t* seen = nullptr;  ///< bit i: probe row i has a pair; null: nobody asks
    int64_t row = 0;          ///< where the next batch begins in `seen`
};

class Runner {
  public:
    /// `poll` is called at least once a batch; what it throws ends the run.
    Runner(const Pipeline& pipeline, SharedRun& shared, const TableSource* table, int worker,
           Poll poll, base::MemoryBudget* budget);

    /// Runs morsels until none is left (or one, if `single`). Returns whether it ran any.
    bool run_scan(MorselQueue& morsels, bool single);
    /// Runs up to `batches` batches of the stored source. Returns whether there may be more.
    bool run_stored(int64_t batches);
    /// Runs one batch of given columns.
    void run_rows(const Vector* columns, int64_t count);
    /// Sets what the next batches do at the join whose build side was scattered.
    void set_pass(const BlockPass& pass) noexcept { pass_ = pass; }

    ScanCursor* cursor() noexcept { return cursor_.get(); }
    int64_t rows_in() const noexcept { return rows_in_; }
    int64_t rows_out() const noexcept { return rows_out_; }

  private:
    struct TestState {
        double passed = 0;
        double seen = 0;
        double cost = 0;  ///< cycles
    };

    int64_t next_stored(std::vector<Vector>& columns);
    void run_batch();
    bool run_head(Frame& frame);
    void process(Frame& frame, size_t step);
    void evaluate(Frame& frame, const Step& step, uint64_t* mask);
    bool match(Frame& frame, size_t step);
    bool match_pairs(Frame& frame, size_t step, uint64_t* matched);
    bool note_pass(int64_t length, uint64_t* matched);
    bool finish_match(Frame& frame, size_t step, uint64_t* matched);
    void order_head();

    const Pipeline& pipeline_;
    SharedRun& shared_;
    int worker_;
    Poll poll_;
    std::unique_ptr<ScanCursor> cursor_;
    std::vector<std::unique_ptr<Frame>> frames_;  ///< [0], and one for each kMatch step
    std::vector<Frame*> match_frames_;            ///< by step
    std::vector<int> head_order_;
    std::vector<TestState> head_states_;
    BlockPass pass_;
    int64_t batches_ = 0;
    int64_t rows_in_ = 0;
    int64_t rows_out_ = 0;
};

}  // namespace loom::exec
