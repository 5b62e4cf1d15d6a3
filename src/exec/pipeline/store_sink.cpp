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

void StoreSink::finish(const Poll& poll) {
    rows_ = std::move(parts_[0]);
    for (size_t i = 1; i < parts_.size(); ++i) {
        poll();
        rows_->append_store(std::move(*parts_[i]));
    }
    parts_.clear();
    if (join_ == nullptr) return;
    const bool wanted = join_->type == plan::JoinType::kRightSemi;
    std::vector<uint32_t> positions;
    const uint8_t* matched = join_->matched->data();
    for (int64_t row = 0; row < join_->table->length(); ++row)
        if ((matched[row] != 0) == wanted) positions.push_back(static_cast<uint32_t>(row));
    const auto count = static_cast<int64_t>(positions.size());
    for (size_t i = 0; i < build_columns_.size(); ++i) {
        if (build_columns_[i] < 0)
            rows_->column(i).append_nulls(count);
        else
            rows_->column(i).append(
                join_->table->rows().column(static_cast<size_t>(build_columns_[i])).view(),
                positions.data(), count);
    }
    rows_->set_length(rows_->length() + count);
}

RowStore StoreSink::take() {
    RowStore rows = std::move(*rows_);
    rows_.reset();
    return rows;
}

}  // namespace loom::exec
