#include "exec/join/pair_runner.h"

#include <algorithm>
#include <cstring>

#include "exec/pipeline/sinks.h"

namespace loom::exec {

namespace {

// Bits that split a partition further, and where the hash ends.
constexpr int kMoreBits = 4;
constexpr int kLastShift = 4;
// A split has helped if no part has more of the rows than this, in eighths.
constexpr int64_t kMostEighths = 7;

int64_t largest(const ScatteredRows& rows) {
    int64_t most = 0;
    for (int64_t i = 0; i < rows.range.count(); ++i) most = std::max(most, rows.rows(i));
    return most;
}

// Whether the join's rows depend on whether a probe row has a match at all.
bool has_rest(plan::JoinType type) {
    return type == plan::JoinType::kLeft || type == plan::JoinType::kFull ||
           type == plan::JoinType::kSemi || type == plan::JoinType::kAnti ||
           type == plan::JoinType::kMark;
}

}  // namespace

void PairQueue::add(const std::shared_ptr<ScatteredRows>& build,
                    const std::shared_ptr<ScatteredRows>& probe, bool may_split) {
    const std::lock_guard lock(mutex_);
    for (int64_t i = build->range.count(); i-- > 0;)
        if (build->rows(i) + probe->rows(i) > 0) pairs_.push_back({build, probe, i, may_split});
}

bool PairQueue::next(PartitionPair* pair) {
    const std::lock_guard lock(mutex_);
    if (pairs_.empty()) return false;
    *pair = std::move(pairs_.back());
    pairs_.pop_back();
    return true;
}

PairRunner::PairRunner(const Pipeline& pipeline, SharedRun& shared, PairQueue& pairs, int worker,
                       Poll poll, const Resources& resources, uint64_t allowance,
                       base::MemoryBudget* in_flight)
    : template_(pipeline),
      join_(pipeline.steps[0].join),
      shared_(shared),
      pairs_(pairs),
      worker_(worker),
      poll_(std::move(poll)),
      resources_(resources),
      allowance_(allowance),
      in_flight_(in_flight),
      seen_(resources.budget) {
    for (const int key : pipeline.joins[join_].keys)
        probe_keys_.push_back(pipeline.slots[key].index);
}

int64_t PairRunner::rows_out() const noexcept {
    return rows_out_ + (runner_ != nullptr ? runner_->rows_out() : 0);
}

bool PairRunner::run(int64_t batches) {
    for (int64_t done = 0; done < batches;) {
        if (!shared_.wants_source()) return false;
        poll_();
        if (!pair_ && !next_pair()) return false;
        if (!pair_) continue;  // it was split
        if (runner_ == nullptr) open_block();
        const int64_t count = probe_cursor_->next(columns_);
        if (count == 0) {
            end_pass();
            continue;
        }
        if (pass_ != BlockPass::Kind::kRest) rows_in_ += count;
        runner_->run_rows(columns_.data(), count);
        ++done;
    }
    return true;
}

// Takes a pair; if its build rows are too many, splits it instead. False if there is none.
bool PairRunner::next_pair() {
    PartitionPair pair;
    if (!pairs_.next(&pair)) return false;
    const int64_t rows = pair.build->rows(pair.partition);
    const Join& join = template_.joins[join_];
    // Nothing comes of it.
    if ((rows == 0 && join.drops_unmatched()) ||
        (pair.probe->rows(pair.partition) == 0 && !join.marks_build())) {
        pair.build->release(pair.partition);
        pair.probe->release(pair.partition);
        return true;
    }
    const uint64_t needed = pair.build->bytes(pair.partition) + JoinTable::hash_bytes(rows);
    const bool can_split = pair.may_split && pair.build->range.shift > kLastShift + kMoreBits;
    if (needed > allowance_ && can_split) {
        split(pair);
        return true;
    }
    pair_ = std::move(pair);
    build_cursor_.emplace(*pair_->build, pair_->partition, resources_.budget, true);
    return true;
}

std::shared_ptr<ScatteredRows> PairRunner::scatter(ScatteredRows& rows, int64_t partition,
                                                   const std::vector<int>& keys, HashRange range) {
    std::vector<plan::Type> key_types;
    key_types.reserve(keys.size());
    for (const int key : keys) key_types.push_back(rows.types[key]);
    ScatterShape shape = scatter_shape(rows.types, range, allowance_, 1);
    shape.range = range;
    KeyScatter scatter(rows.types, key_types, shape, resources_, 1);
    ScatteredCursor cursor(rows, partition, resources_.budget, true);
    std::vector<Vector> columns;
    std::vector<Vector> key_columns;
    while (const int64_t count = cursor.next(columns)) {
        poll_();
        key_columns.clear();
        for (const int key : keys) key_columns.push_back(columns[key]);
        scatter.add(columns, key_columns, count);
    }
    rows.release(partition);
    scatter.spill();
    auto result = std::make_shared<ScatteredRows>();
    result->types = rows.types;
    result->range = range;
    result->parts.push_back(scatter.take());
    return result;
}

void PairRunner::split(const PartitionPair& pair) {
    const HashRange finer = pair.build->range.next(kMoreBits);
    const int64_t rows = pair.build->rows(pair.partition);
    const auto build =
        scatter(*pair.build, pair.partition, template_.joins[join_].build_keys, finer);
    const auto probe = scatter(*pair.probe, pair.partition, probe_keys_, finer);
    pairs_.add(build, probe, largest(*build) * 8 <= rows * kMostEighths);
}

// Makes a table of the next build rows that memory has room for, and starts to probe it.
void PairRunner::open_block() {
    const Join& known = template_.joins[join_];
    base::MemoryBudget* budget = resources_.budget;
    const bool first = pass_ == BlockPass::Kind::kWhole;
    RowStore rows(pair_->build->types, budget);
    last_block_ = true;
    while (const int64_t count = build_cursor_->next(columns_)) {
        poll_();
        rows.append(columns_, count);
        if (rows.bytes() + JoinTable::hash_bytes(rows.length()) > allowance_) {
            last_block_ = false;
            break;
        }
    }
    pipeline_ = std::make_unique<Pipeline>(template_);
    Join& join = pipeline_->joins[join_];
    join.by_blocks = !first || !last_block_;
    join.table =
        std::make_shared<JoinTable>(std::move(rows), known.build_keys, poll_, allowance_, budget);
    if (join.marks_build()) {
        join.matched = std::make_shared<base::Buffer>(budget);
        const auto length = static_cast<uint64_t>(join.table->length());
        join.matched->resize(length);
        if (length > 0) std::memset(join.matched->data(), 0, length);
    }
    pipeline_->prepare();
    runner_ = std::make_unique<Runner>(*pipeline_, shared_, nullptr, worker_, poll_, in_flight_);
    if (join.by_blocks && first && has_rest(join.type)) {
        const auto bytes =
            static_cast<uint64_t>(base::bitmap_bytes(pair_->probe->rows(pair_->partition)));
        seen_.resize_discarding(bytes);
        std::memset(seen_.data(), 0, bytes);
    }
    open_pass(join.by_blocks ? BlockPass::Kind::kPairs : BlockPass::Kind::kWhole);
}

void PairRunner::open_pass(BlockPass::Kind kind) {
    pass_ = kind;
    runner_->set_pass({kind, seen_.data(), 0});
    // What is read for the last time is freed.
    const bool last = kind != BlockPass::Kind::kPairs;
    probe_cursor_.emplace(*pair_->probe, pair_->partition, resources_.budget, last);
}

void PairRunner::end_pass() {
    const bool in_blocks = pass_ != BlockPass::Kind::kWhole;
    if (in_blocks && last_block_ && pass_ == BlockPass::Kind::kPairs &&
        has_rest(pipeline_->joins[join_].type))
        return open_pass(BlockPass::Kind::kRest);
    close_block();
    if (last_block_) close_pair();
}

void PairRunner::close_block() {
    const Join& join = pipeline_->joins[join_];
    // Such a join is the last step, before a store.
    if (join.marks_build()) static_cast<StoreSink&>(*template_.sink).add_build_rows(worker_, join);
    rows_out_ += runner_->rows_out();
    probe_cursor_.reset();
    runner_.reset();
    pipeline_.reset();
}

void PairRunner::close_pair() {
    build_cursor_.reset();
    pair_->build->release(pair_->partition);
    pair_->probe->release(pair_->partition);
    pair_.reset();
    pass_ = BlockPass::Kind::kWhole;
}

}  // namespace loom::exec
