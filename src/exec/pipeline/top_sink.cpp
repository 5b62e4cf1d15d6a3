#include "exec/pipeline/top_sink.h"

#include <algorithm>

#include "exec/sort/sort_rows.h"

namespace loom::exec {

namespace {

uint64_t word_bytes(int64_t rows) {
    return static_cast<uint64_t>(rows) * sizeof(uint64_t);
}

// A worker keeps up to this many times the limit, or so many rows, before it sorts them.
constexpr int64_t kSlack = 4;
constexpr int64_t kMinRows = 8192;

}  // namespace

TopSink::TopSink(std::vector<int> slots, std::vector<plan::Type> types,
                 std::vector<plan::SortKey> keys, int64_t limit, std::shared_ptr<TopBound> bound,
                 const Resources& resources)
    : StoreSink(std::move(slots), std::move(types), resources.budget),
      keys_(std::move(keys)),
      limit_(limit),
      bound_(std::move(bound)) {}

void TopSink::begin(int workers) {
    workers_.clear();
    bound_->last.store(UINT64_MAX);
    best_.clear();
    for (int i = 0; i < workers; ++i) {
        workers_.push_back(std::make_unique<Worker>(budget_));
        workers_.back()->rows = std::make_unique<RowStore>(types_, budget_);
    }
}

// Sets out[i] to where row i's first key comes in the wanted order, as a word.
void TopSink::places(const Vector& column, KeyWords& words, uint64_t* out) const {
    const uint64_t* values = words.compute(column);
    const uint64_t flip = keys_[0].descending ? UINT64_MAX : 0;
    for (int64_t i = 0; i < column.length; ++i) out[i] = values[i] ^ flip;
    if (words.validity() == nullptr) return;
    const uint64_t null_place = keys_[0].nulls_first ? 0 : UINT64_MAX;
    for (int64_t i = 0; i < column.length; ++i)
        if (!base::bit_at(words.validity(), i)) out[i] = null_place;
}

// Returns whether rows are left.
bool TopSink::drop_late_rows(Worker& worker, Frame& frame) const {
    const uint64_t last = bound_->last.load(std::memory_order_relaxed);
    if (last == UINT64_MAX) return true;
    uint64_t place[kBatchRows] = {};
    places(frame.fetch(slots_[static_cast<size_t>(keys_[0].column)]), worker.words, place);
    uint64_t mask[kMaskWords] = {};
    for (int64_t i = 0; i < frame.length(); ++i)
        mask[i >> 6] |= static_cast<uint64_t>(place[i] <= last) << (i & 63);
    const int64_t kept = simd::count_mask(mask, frame.length());
    if (kept == 0) return false;
    if (kept < frame.length())
        frame.narrow(mask, kept, static_cast<int>(frame.pipeline().steps.size()) - 1);
    return true;
}

void TopSink::consume(int index, Frame& frame) {
    Worker& worker = *workers_[index];
    if (limit_ == 0 || !drop_late_rows(worker, frame)) return;
    worker.columns.clear();
    frame.fetch_all(slots_);
    for (const int slot : slots_) worker.columns.push_back(frame.fetch(slot));
    const int64_t begin = worker.rows->length();
    worker.packed.resize(word_bytes(begin + frame.length()));
    places(worker.columns[static_cast<size_t>(keys_[0].column)], worker.words,
           worker.packed.as<uint64_t>() + begin);
    worker.rows->append(worker.columns, frame.length());
    offer(worker.packed.as<uint64_t>() + begin, frame.length());
    if (worker.rows->length() > std::max(limit_ * kSlack, kMinRows)) shrink(worker);
}

// Tells the places of new rows to all who drop rows.
void TopSink::offer(const uint64_t* places, int64_t count) {
    const std::scoped_lock lock(best_mutex_);
    for (int64_t i = 0; i < count; ++i) {
        if (static_cast<int64_t>(best_.size()) == limit_) {
            if (places[i] >= best_.front()) continue;
            std::ranges::pop_heap(best_);
            best_.pop_back();
        }
        best_.push_back(places[i]);
        std::ranges::push_heap(best_);
    }
    if (static_cast<int64_t>(best_.size()) == limit_)
        bound_->last.store(best_.front(), std::memory_order_relaxed);
}

RowStore TopSink::first_rows(RowStore&& rows, base::Buffer& packed, const Poll& poll) const {
    return sort_rows(rows, packed, 0, keys_, types_, limit_, poll, budget_);
}

void TopSink::shrink(Worker& worker) {
    // Few rows: no need to look for a cancel.
    static const Poll kNoPoll = [] {};
    RowStore kept = first_rows(std::move(*worker.rows), worker.packed, kNoPoll);
    const auto column = static_cast<size_t>(keys_[0].column);
    worker.packed.resize(word_bytes(kept.length()));
    for (int64_t begin = 0; begin < kept.length(); begin += kBatchRows)
        places(kept.column(column).view(begin, std::min(kBatchRows, kept.length() - begin)),
               worker.words, worker.packed.as<uint64_t>() + begin);
    *worker.rows = std::move(kept);
}

void TopSink::finish(Tasks& tasks) {
    RowStore all(types_, budget_);
    base::Buffer packed(budget_);
    for (const auto& worker : workers_) {
        packed.resize(word_bytes(all.length() + worker->rows->length()));
        std::copy_n(worker->packed.as<uint64_t>(), worker->rows->length(),
                    packed.as<uint64_t>() + all.length());
        all.append_store(std::move(*worker->rows));
    }
    workers_.clear();
    if (all.length() > 0) rows_.add(first_rows(std::move(all), packed, tasks.poll(0)));
}

}  // namespace loom::exec
