#include "exec/pipeline/runner.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace loom::exec {

namespace {

// Batches of each worker that run all head filters on all rows, to learn what each passes and
// costs.
constexpr int64_t kSampleBatches = 4;
// A filter over all rows of a batch costs less than one over a selection until few rows are left:
// gathering and decoding a selected row costs 4 to 5 cycles, a row of a full batch 0.3 to 1.5.
constexpr int64_t kNarrowTest = 4;
constexpr int64_t kNarrowFilter = 8;

uint64_t cycles() noexcept {
#if defined(__x86_64__)
    return __rdtsc();
#else
    uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
}

}  // namespace

Runner::Runner(const Pipeline& pipeline, SharedRun& shared, const TableSource* table, int worker,
               Poll poll, base::MemoryBudget* budget)
    : pipeline_(pipeline), shared_(shared), worker_(worker), poll_(std::move(poll)) {
    if (table != nullptr)
        cursor_ = std::make_unique<ScanCursor>(*table, pipeline.source_types, budget);
    frames_.push_back(std::make_unique<Frame>(pipeline, budget));
    match_frames_.resize(pipeline.steps.size());
    for (size_t i = 0; i < pipeline.steps.size(); ++i) {
        if (pipeline.steps[i].kind != Step::Kind::kMatch) continue;
        frames_.push_back(std::make_unique<Frame>(pipeline, budget));
        match_frames_[i] = frames_.back().get();
    }
    head_states_.resize(static_cast<size_t>(pipeline.head));
    for (int i = 0; i < pipeline.head; ++i) head_order_.push_back(i);
}

bool Runner::run_scan(MorselQueue& morsels, bool single) {
    Morsel morsel;
    bool any = false;
    while (shared_.wants_source() && morsels.next(&morsel)) {
        any = true;
        cursor_->enter(morsel.file, morsel.row_group, morsel.ranges, morsel.partial);
        for (const format::RowRange& range : morsel.ranges) {
            for (int64_t row = range.begin; row < range.end; row += kBatchRows) {
                poll_();
                if (!shared_.wants_source()) break;
                const int64_t count = std::min(kBatchRows, range.end - row);
                frames_[0]->start_scan(cursor_.get(), row, count);
                rows_in_ += count;
                run_batch();
            }
        }
        cursor_->check_file();
        cursor_->leave();
        if (single) break;
    }
    return any;
}

int64_t Runner::next_stored(std::vector<Vector>& columns) {
    RowSet& rows = *pipeline_.stored;
    if (rows.sequential()) return rows.next(columns);
    const int64_t batch = shared_.stored_batch.fetch_add(1, std::memory_order_relaxed);
    return batch < rows.batches() ? rows.view(batch, columns) : 0;
}

bool Runner::run_stored(int64_t batches) {
    std::vector<Vector> columns;
    for (int64_t done = 0; done < batches; ++done) {
        if (!shared_.wants_source()) return false;
        poll_();
        const int64_t count = next_stored(columns);
        if (count == 0) return false;
        run_rows(columns.data(), count);
    }
    return true;
}

void Runner::run_rows(const Vector* columns, int64_t count) {
    rows_in_ += count;
    frames_[0]->start_rows(columns, count);
    run_batch();
}

void Runner::run_batch() {
    if (run_head(*frames_[0])) process(*frames_[0], static_cast<size_t>(pipeline_.head));
}

void Runner::evaluate(Frame& frame, const Step& step, uint64_t* mask) {
    frame.fetch_all(step.inputs);
    if (step.kind == Step::Kind::kFilter) {
        frame.evaluator(*step.expression).select(frame.vectors(), frame.length(), mask);
        return;
    }
    const Join& join = pipeline_.joins[step.join];
    ProbeScratch& scratch = frame.probe(step.join);
    scratch.keys.clear();
    for (const int key : join.keys) scratch.keys.push_back(frame.fetch(key));
    join.table->test(scratch.keys, frame.length(), mask, scratch);
    if (step.negate) invert_mask(mask, frame.length());
}

// Sorts head filters by what they remove for their cost: textbook rank (1 - selectivity) / cost.
void Runner::order_head() {
    const auto rank = [&](int i) {
        const TestState& state = head_states_[i];
        return (1 - state.passed / std::max(state.seen, 1.0)) / std::max(state.cost, 1.0);
    };
    std::stable_sort(head_order_.begin(), head_order_.end(),
                     [&](int a, int b) { return rank(a) > rank(b); });
}

// Returns whether any row is left.
bool Runner::run_head(Frame& frame) {
    const bool sampling = batches_ < kSampleBatches && pipeline_.head > 1;
    ++batches_;
    uint64_t all[kMaskWords];
    uint64_t one[kMaskWords];
    bool masked = false;
    int64_t left = frame.length();
    for (size_t position = 0; position < head_order_.size(); ++position) {
        const int index = head_order_[position];
        const Step& step = pipeline_.steps[index];
        // Every slot that is used at all survives a narrowing here: the order may change.
        const int64_t factor = step.kind == Step::Kind::kFilter ? kNarrowFilter : kNarrowTest;
        if (masked && !sampling && left * factor < frame.length()) {
            frame.narrow(all, left, -1);
            masked = false;
        }
        const uint64_t start = cycles();
        evaluate(frame, step, masked ? one : all);
        TestState& state = head_states_[index];
        if (sampling) {
            state.cost += static_cast<double>(cycles() - start);
            state.seen += static_cast<double>(frame.length());
            state.passed +=
                static_cast<double>(simd::count_mask(masked ? one : all, frame.length()));
        }
        if (masked) and_mask(all, one, frame.length());
        masked = true;
        left = simd::count_mask(all, frame.length());
        if (left == 0 && !sampling) return false;
    }
    if (sampling && batches_ == kSampleBatches) order_head();
    if (left == 0) return false;
    if (masked && left < frame.length()) frame.narrow(all, left, pipeline_.head - 1);
    return true;
}

void Runner::process(Frame& frame, size_t step_index) {
    for (; step_index < pipeline_.steps.size(); ++step_index) {
        const Step& step = pipeline_.steps[step_index];
        const int index = static_cast<int>(step_index);
        switch (step.kind) {
            case Step::Kind::kFilter:
            case Step::Kind::kTest: {
                uint64_t mask[kMaskWords];
                evaluate(frame, step, mask);
                const int64_t left = simd::count_mask(mask, frame.length());
                if (left == 0) return;
                if (left < frame.length()) frame.narrow(mask, left, index);
                break;
            }
            case Step::Kind::kJoin:
                throw base::Error(base::ErrorKind::kBug, "a join was not prepared");
            case Step::Kind::kCompute:
                frame.fetch(step.slot);
                break;
            case Step::Kind::kMatch:
                if (!match(frame, step_index)) return;
                break;
            case Step::Kind::kLimit: {
                const int64_t before = shared_.limits[step_index].fetch_add(frame.length());
                const int64_t end = step.count < 0 ? INT64_MAX : step.offset + step.count;
                if (before + frame.length() >= end) shared_.reach(index);
                const int64_t first = std::clamp<int64_t>(step.offset - before, 0, frame.length());
                const int64_t last = std::clamp<int64_t>(end - before, first, frame.length());
                if (first == last) return;
                if (last - first < frame.length()) frame.truncate(first, last - first, index);
                break;
            }
        }
    }
    rows_out_ += frame.length();
    pipeline_.sink->consume(worker_, frame);
}

namespace {

bool puts_pairs_out(plan::JoinType type) {
    return type == plan::JoinType::kInner || type == plan::JoinType::kLeft ||
           type == plan::JoinType::kRight || type == plan::JoinType::kFull;
}

}  // namespace

// Returns whether the frame itself goes on: the rows of semi, anti and mark joins do.
bool Runner::match(Frame& frame, size_t step_index) {
    uint64_t matched[kMaskWords] = {};
    const bool in_blocks = pipeline_.joins[pipeline_.steps[step_index].join].by_blocks;
    if (!in_blocks || pass_.kind == BlockPass::Kind::kPairs)
        if (!match_pairs(frame, step_index, matched)) return false;
    if (in_blocks && !note_pass(frame.length(), matched)) return false;
    return finish_match(frame, step_index, matched);
}

// Keeps what a pass found for the last one; returns whether this is the last.
bool Runner::note_pass(int64_t length, uint64_t* matched) {
    const bool last = pass_.kind == BlockPass::Kind::kRest;
    for (int64_t i = 0; i < length; ++i) {
        const uint64_t bit = uint64_t{1} << (i & 63);
        if (last)
            matched[i >> 6] |= base::bit_at(pass_.seen, pass_.row + i) ? bit : 0;
        else if (pass_.seen != nullptr && (matched[i >> 6] & bit) != 0)
            base::put_bit(pass_.seen, pass_.row + i, true);
    }
    pass_.row += length;
    return last;
}

// Finds the pairs of probe and build rows, sends them on where they are the join's rows, and sets
// the bits of the probe rows that have one. Returns false if no more rows are wanted.
bool Runner::match_pairs(Frame& frame, size_t step_index, uint64_t* matched) {
    const Step& step = pipeline_.steps[step_index];
    const Join& join = pipeline_.joins[step.join];
    const int index = static_cast<int>(step_index);
    const bool pairs_out = puts_pairs_out(join.type);
    // Further matches of a row that has one change nothing.
    const bool one_is_enough = !pairs_out && join.matched == nullptr;
    Frame& child = *match_frames_[step_index];
    ProbeScratch& scratch = frame.probe(step.join);
    scratch.keys.clear();
    for (const int key : join.keys) scratch.keys.push_back(frame.fetch(key));
    int32_t first[kBatchRows];
    join.table->lookup(scratch.keys, frame.length(), first, scratch);

    uint16_t positions[kBatchRows];
    int32_t rows[kBatchRows];
    int64_t pending = 0;
    const auto flush = [&] {
        if (pending == 0) return;
        poll_();
        // Without a residual condition only joins that output pairs need the child's rows.
        uint64_t mask[kMaskWords];
        fill_mask(mask, pending, true);
        if (join.residual != nullptr || pairs_out)
            child.start_match(frame, positions, rows, pending, join.row_slot, index);
        if (join.residual != nullptr) {
            child.fetch_all(join.residual->columns());
            child.evaluator(*join.residual).select(child.vectors(), pending, mask);
        }
        for (int64_t i = 0; i < pending; ++i) {
            if ((mask[i >> 6] >> (i & 63) & 1) == 0) continue;
            matched[positions[i] >> 6] |= uint64_t{1} << (positions[i] & 63);
            if (join.matched != nullptr)
                std::atomic_ref(join.matched->data()[rows[i]]).store(1, std::memory_order_relaxed);
        }
        const int64_t left = simd::count_mask(mask, pending);
        pending = 0;
        if (!pairs_out || left == 0) return;
        if (left < child.length()) child.narrow(mask, left, index);
        process(child, step_index + 1);
    };
    for (int64_t i = 0; i < frame.length(); ++i) {
        for (int32_t row = first[i]; row >= 0; row = join.table->next(row)) {
            positions[pending] = static_cast<uint16_t>(i);
            rows[pending] = row;
            if (++pending == kBatchRows) {
                flush();
                if (!shared_.wants(index)) return false;
                if (one_is_enough && (matched[i >> 6] >> (i & 63) & 1) != 0) break;
            }
            if (one_is_enough && join.residual == nullptr) break;
        }
    }
    flush();
    return true;
}

bool Runner::finish_match(Frame& frame, size_t step_index, uint64_t* matched) {
    const Step& step = pipeline_.steps[step_index];
    const Join& join = pipeline_.joins[step.join];
    const int index = static_cast<int>(step_index);
    if (join.type == plan::JoinType::kLeft || join.type == plan::JoinType::kFull) {
        Frame& child = *match_frames_[step_index];
        uint16_t positions[kBatchRows];
        int32_t rows[kBatchRows];
        int64_t pending = 0;
        for (int64_t i = 0; i < frame.length(); ++i)
            if ((matched[i >> 6] >> (i & 63) & 1) == 0) {
                positions[pending] = static_cast<uint16_t>(i);
                rows[pending++] = -1;
            }
        if (pending > 0) {
            child.start_match(frame, positions, rows, pending, join.row_slot, index);
            process(child, step_index + 1);
        }
        return false;
    }
    switch (join.type) {
        case plan::JoinType::kMark: {
            std::vector<Vector> keys;
            for (const int key : join.keys) keys.push_back(frame.fetch(key));
            frame.write_marks(join, keys, matched);
            return true;
        }
        case plan::JoinType::kAnti:
            invert_mask(matched, frame.length());
            [[fallthrough]];
        case plan::JoinType::kSemi: {
            const int64_t left = simd::count_mask(matched, frame.length());
            if (left == 0) return false;
            frame.narrow(matched, left, index);
            return true;
        }
        default:
            return false;
    }
}

}  // namespace loom::exec
