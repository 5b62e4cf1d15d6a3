#include <algorithm>
#include <utility>

#include "exec/pipeline/sinks.h"

namespace loom::exec {

namespace {

constexpr int64_t kChunkRows = 1024;
// Build rows between two looks at the stop token.
constexpr int64_t kRowsPerPoll = 1 << 15;

void append_in_order(RowPartitions& rows, const std::vector<Vector>& columns, int64_t count) {
    static constexpr uint64_t kOnePartition[kBatchRows] = {};
    rows.append(columns, kOnePartition, count);
}

}  // namespace

StoreSink::StoreSink(std::vector<int> slots, std::vector<plan::Type> types,
                     base::MemoryBudget* budget)
    : slots_(std::move(slots)), types_(std::move(types)), budget_(budget) {}

void StoreSink::begin(int workers) {
    parts_.clear();
    inputs_.assign(static_cast<size_t>(workers), {});
    overflow_.assign(static_cast<size_t>(workers), nullptr);
    for (int i = 0; i < workers; ++i) parts_.push_back(std::make_unique<RowStore>(types_, budget_));
}

std::vector<Vector>& StoreSink::fetch_inputs(int worker, Frame& frame) {
    std::vector<Vector>& inputs = inputs_[worker];
    inputs.clear();
    frame.fetch_all(slots_);
    for (const int slot : slots_) inputs.push_back(frame.fetch(slot));
    return inputs;
}

void StoreSink::consume(int worker, Frame& frame) {
    store(worker, fetch_inputs(worker, frame), frame.length());
}

bool StoreSink::is_full(int worker) const noexcept {
    return resources_.budget != nullptr &&
           resources_.is_full(parts_[worker]->bytes(), parts_.size());
}

void StoreSink::store(int worker, const std::vector<Vector>& columns, int64_t count) {
    std::shared_ptr<RowPartitions>& overflow = overflow_[worker];
    if (overflow != nullptr) {
        append_in_order(*overflow, columns, count);
        if (resources_.is_full(overflow->held(), parts_.size())) overflow->spill(*resources_.space);
        return;
    }
    parts_[worker]->append(columns, count);
    if (!is_full(worker)) return;
    overflow = std::make_shared<RowPartitions>(types_, HashRange{}, kChunkRows, budget_);
    RowSet rows;
    rows.add(std::move(*parts_[worker]));
    std::vector<Vector> batch;
    for (int64_t i = 0; i < rows.batches(); ++i) {
        poll_thread();
        const int64_t length = rows.view(i, batch);
        append_in_order(*overflow, batch, length);
        if (resources_.is_full(overflow->held(), parts_.size())) overflow->spill(*resources_.space);
    }
    *parts_[worker] = RowStore(types_, budget_);
}

void StoreSink::append_build_rows(const Join* join, std::vector<int> columns) {
    join_ = join;
    build_columns_ = std::move(columns);
}

void StoreSink::finish(Tasks& tasks) {
    tasks.poll(0)();
    // Those of a scattered build side were added part by part.
    if (join_ != nullptr && join_->table != nullptr) add_build_rows(0, *join_);
    for (size_t i = 0; i < parts_.size(); ++i) {
        rows_.add(std::move(*parts_[i]));
        if (overflow_[i] != nullptr) rows_.add(std::move(overflow_[i]), types_, budget_);
    }
    parts_.clear();
    overflow_.clear();
}

void StoreSink::add_build_rows(int worker, const Join& join) {
    const bool wanted = join.type == plan::JoinType::kRightSemi;
    const RowStore& build = join.table->rows();
    const uint8_t* matched = join.matched->data();
    std::vector<base::Buffer> values(build_columns_.size());
    std::vector<base::Buffer> validity(build_columns_.size());
    std::vector<Vector> columns(build_columns_.size());
    int32_t rows[kBatchRows];
    int64_t count = 0;
    const auto flush = [&] {
        if (count == 0) return;
        poll_thread();
        for (size_t i = 0; i < columns.size(); ++i)
            columns[i] = build_columns_[i] < 0
                             ? null_rows(types_[i], count)
                             : build.column(static_cast<size_t>(build_columns_[i]))
                                   .gather(rows, count, values[i], validity[i]);
        store(worker, columns, count);
        count = 0;
    };
    for (int64_t row = 0; row < build.length(); ++row) {
        if (row % kRowsPerPoll == 0) poll_thread();
        if ((matched[row] != 0) != wanted) continue;
        rows[count++] = static_cast<int32_t>(row);
        if (count == kBatchRows) flush();
    }
    flush();
}

RowSet StoreSink::take() {
    return std::exchange(rows_, RowSet());
}

}  // namespace loom::exec
