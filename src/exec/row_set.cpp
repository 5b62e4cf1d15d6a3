#include "exec/row_set.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace loom::exec {

namespace {

// Rows that are brought into memory at once, and up to a batch more.
constexpr int64_t kPieceRows = 8192;

int64_t view_rows(const RowStore& rows, int64_t begin, std::vector<Vector>& columns) {
    const int64_t count = std::min(kBatchRows, rows.length() - begin);
    columns.clear();
    for (size_t i = 0; i < rows.width(); ++i) columns.push_back(rows.column(i).view(begin, count));
    return count;
}

}  // namespace

void RowSet::add(RowStore&& rows) {
    if (rows.length() == 0) return;
    first_batch_.push_back(batches_);
    batches_ += (rows.length() + kBatchRows - 1) / kBatchRows;
    length_ += rows.length();
    parts_.push_back({std::move(rows), nullptr});
}

void RowSet::add(Maker make) {
    makers_ = true;
    first_batch_.push_back(batches_);
    parts_.push_back({RowStore({}, nullptr), std::move(make)});
}

void RowSet::add(const std::shared_ptr<RowPartitions>& rows, const std::vector<plan::Type>& types,
                 base::MemoryBudget* budget) {
    const int64_t total = rows->rows(0);
    const auto cursor = std::make_shared<PartitionCursor>(*rows, 0, budget, true);
    for (int64_t first = 0; first < total; first += kPieceRows)
        add([=] {
            RowStore piece(types, budget);
            std::vector<Vector> columns;
            while (piece.length() < kPieceRows) {
                poll_thread();
                const int64_t count = cursor->next(columns);
                if (count == 0) break;
                piece.append(columns, count);
            }
            // The cursor reads what `rows` owns.
            static_cast<void>(rows);
            return piece;
        });
}

void RowSet::add(RowSet&& other) {
    for (Part& part : other.parts_) {
        if (part.make != nullptr)
            add(std::move(part.make));
        else
            add(std::move(part.rows));
    }
    may_give_up_ = may_give_up_ || other.may_give_up_;
    other = RowSet();
}

int64_t RowSet::view(int64_t batch, std::vector<Vector>& columns) const {
    const auto after = std::upper_bound(first_batch_.begin(), first_batch_.end(), batch);
    const auto part = static_cast<size_t>(after - first_batch_.begin()) - 1;
    return view_rows(parts_[part].rows, (batch - first_batch_[part]) * kBatchRows, columns);
}

int64_t RowSet::next(std::vector<Vector>& columns) {
    for (; part_ < parts_.size(); ++part_, row_ = 0) {
        Part& part = parts_[part_];
        if (part.make != nullptr) part.rows = std::exchange(part.make, nullptr)();
        if (row_ < part.rows.length()) {
            const int64_t count = view_rows(part.rows, row_, columns);
            row_ += count;
            return count;
        }
        part.rows = RowStore({}, nullptr);
    }
    return 0;
}

RowStore RowSet::join(const std::vector<plan::Type>& types, base::MemoryBudget* budget) && {
    RowStore all(types, budget);
    for (Part& part : parts_) {
        RowStore rows = part.make != nullptr ? part.make() : std::move(part.rows);
        if (all.length() == 0)
            all = std::move(rows);
        else
            all.append_store(std::move(rows));
    }
    *this = RowSet();
    return all;
}

void add_made_rows(RowSet& rows, int64_t count, Tasks& tasks, const std::vector<plan::Type>& types,
                   base::MemoryBudget* budget,
                   std::function<RowStore(int64_t index, const Poll& poll)> make) {
    const auto shared = std::make_shared<decltype(make)>(std::move(make));
    const int64_t step = tasks.workers();
    for (int64_t first = 0; first < count; first += step) {
        const int64_t number = std::min(step, count - first);
        rows.add([=, &tasks] {
            std::vector<RowStore> made;
            for (int64_t i = 0; i < number; ++i) made.emplace_back(types, budget);
            tasks.run(number, [&](int64_t i, int worker) {
                made[i] = (*shared)(first + i, tasks.poll(worker));
            });
            RowStore all = std::move(made[0]);
            for (int64_t i = 1; i < number; ++i) all.append_store(std::move(made[i]));
            return all;
        });
    }
}

}  // namespace loom::exec
