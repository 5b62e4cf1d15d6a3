#include <utility>

#include "exec/pipeline/sinks.h"

namespace loom::exec {

StoreSink::StoreSink(std::vector<int> slots, std::vector<plan::Type> types,
                     base::MemoryBudget* budget)
    : slots_(std::move(slots)), types_(std::move(types)), budget_(budget) {}

void StoreSink::begin(int workers) {
    parts_.clear();
    inputs_.assign(static_cast<size_t>(workers), {});
    for (int i = 0; i < workers; ++i) parts_.push_back(std::make_unique<RowStore>(types_, budget_));
}

void StoreSink::consume(int worker, Frame& frame) {
    std::vector<Vector>& inputs = inputs_[worker];
    inputs.clear();
    frame.fetch_all(slots_);
    for (const int slot : slots_) inputs.push_back(frame.fetch(slot));
    parts_[worker]->append(inputs, frame.length());
}

void StoreSink::append_build_rows(const Join* join, std::vector<int> columns) {
    join_ = join;
    build_columns_ = std::move(columns);
}

void StoreSink::finish(Tasks& tasks) {
    tasks.poll(0)();
    for (std::unique_ptr<RowStore>& part : parts_) rows_.add(std::move(*part));
    parts_.clear();
    if (join_ != nullptr) rows_.add(unmatched_rows());
}

// The build rows that the join's kind adds after the probe.
RowStore StoreSink::unmatched_rows() const {
    const bool wanted = join_->type == plan::JoinType::kRightSemi;
    std::vector<uint32_t> positions;
    const uint8_t* matched = join_->matched->data();
    for (int64_t row = 0; row < join_->table->length(); ++row)
        if ((matched[row] != 0) == wanted) positions.push_back(static_cast<uint32_t>(row));
    const auto count = static_cast<int64_t>(positions.size());
    RowStore rows(types_, budget_);
    for (size_t i = 0; i < build_columns_.size(); ++i) {
        if (build_columns_[i] < 0)
            rows.column(i).append_nulls(count);
        else
            rows.column(i).append(
                join_->table->rows().column(static_cast<size_t>(build_columns_[i])).view(),
                positions.data(), count);
    }
    rows.set_length(count);
    return rows;
}

RowSet StoreSink::take() {
    return std::exchange(rows_, RowSet());
}

}  // namespace loom::exec
