#include "exec/join/build_sink.h"

#include "exec/join/join_table.h"

namespace loom::exec {

namespace {

// Partitions of a build side: each may be as large as what memory holds, and is split if it is
// larger.
constexpr int kJoinBits = 6;

std::vector<plan::Type> types_of(const std::vector<plan::Type>& types,
                                 const std::vector<int>& columns) {
    std::vector<plan::Type> chosen;
    chosen.reserve(columns.size());
    for (const int column : columns) chosen.push_back(types[static_cast<size_t>(column)]);
    return chosen;
}

std::vector<Vector> chosen_columns(const std::vector<Vector>& columns,
                                   const std::vector<int>& chosen) {
    std::vector<Vector> keys;
    keys.reserve(chosen.size());
    for (const int column : chosen) keys.push_back(columns[static_cast<size_t>(column)]);
    return keys;
}

std::shared_ptr<ScatteredRows> gather_parts(const std::vector<plan::Type>& types, HashRange range,
                                            std::vector<std::unique_ptr<KeyScatter>>& scatters) {
    auto rows = std::make_shared<ScatteredRows>();
    rows->types = types;
    rows->range = range;
    for (std::unique_ptr<KeyScatter>& scatter : scatters) {
        if (scatter == nullptr) continue;
        rows->null_key = rows->null_key || scatter->null_key();
        rows->parts.push_back(scatter->take());
    }
    scatters.clear();
    return rows;
}

}  // namespace

BuildSink::BuildSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<int> keys,
                     const Resources& resources)
    : StoreSink(std::move(slots), std::move(types), resources.budget),
      keys_(std::move(keys)),
      key_types_(types_of(types_, keys_)),
      given_(resources) {}

void BuildSink::begin(int workers) {
    StoreSink::begin(workers);
    scatters_.clear();
    scatters_.resize(static_cast<size_t>(workers));
    may_scatter_ = may_scatter_ && !keys_.empty() && given_.may_spill();
}

void BuildSink::consume(int worker, Frame& frame) {
    add(worker, fetch_inputs(worker, frame), frame.length());
}

void BuildSink::add(int worker, const std::vector<Vector>& columns, int64_t count) {
    if (scatters_[worker] != nullptr)
        return scatters_[worker]->add(columns, chosen_columns(columns, keys_), count);
    RowStore& part = *parts_[worker];
    part.append(columns, count);
    if (!may_scatter_) return;
    // Columns double as they grow, with both copies there for a moment.
    const bool grows = given_.budget->used() + 2 * part.bytes() > given_.memory;
    if (grows || given_.is_full(part.bytes(), parts_.size())) scatter_part(worker);
}

// Scatters the stored rows of a worker; its further rows follow them.
void BuildSink::scatter_part(int worker) {
    const ScatterShape shape =
        scatter_shape(types_, HashRange::first(kJoinBits), given_.spill_limit(), parts_.size());
    auto scatter = std::make_unique<KeyScatter>(types_, key_types_, shape, given_, parts_.size());
    RowSet rows;
    rows.add(std::move(*parts_[worker]));
    std::vector<Vector> columns;
    for (int64_t i = 0; i < rows.batches(); ++i) {
        poll_thread();
        const int64_t count = rows.view(i, columns);
        scatter->add(columns, chosen_columns(columns, keys_), count);
    }
    *parts_[worker] = RowStore(types_, budget_);
    scatters_[worker] = std::move(scatter);
}

// Whether memory has room for all rows in one store and a table over them.
bool BuildSink::fits_memory() const {
    if (!may_scatter_) return true;
    int64_t rows = 0;
    uint64_t copied = 0;
    int used = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
        if (scatters_[i] != nullptr) return false;
        rows += parts_[i]->length();
        copied += parts_[i]->bytes();
        used += parts_[i]->length() > 0 ? 1 : 0;
    }
    const uint64_t index = JoinTable::hash_bytes(rows);
    return given_.budget->used() + index + (used > 1 ? copied : 0) <= given_.memory;
}

void BuildSink::finish(Tasks& tasks) {
    if (fits_memory()) return StoreSink::finish(tasks);
    tasks.run(static_cast<int64_t>(parts_.size()), [&](int64_t index, int) {
        const auto worker = static_cast<int>(index);
        if (scatters_[worker] == nullptr) scatter_part(worker);
        // The probe side needs the memory.
        scatters_[worker]->spill();
    });
    const HashRange range =
        scatter_shape(types_, HashRange::first(kJoinBits), given_.spill_limit(), parts_.size())
            .range;
    scattered_ = gather_parts(types_, range, scatters_);
    parts_.clear();
}

ProbeSink::ProbeSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<int> keys,
                     HashRange range, const Resources& resources)
    : slots_(std::move(slots)),
      types_(std::move(types)),
      keys_(std::move(keys)),
      range_(range),
      resources_(resources) {}

void ProbeSink::begin(int workers) {
    scatters_.clear();
    ScatterShape shape =
        scatter_shape(types_, range_, resources_.spill_limit(), static_cast<size_t>(workers));
    shape.range = range_;
    for (int i = 0; i < workers; ++i)
        scatters_.push_back(std::make_unique<KeyScatter>(types_, types_of(types_, keys_), shape,
                                                         resources_, static_cast<size_t>(workers)));
}

void ProbeSink::consume(int worker, Frame& frame) {
    std::vector<Vector> columns;
    frame.fetch_all(slots_);
    for (const int slot : slots_) columns.push_back(frame.fetch(slot));
    scatters_[worker]->add(columns, chosen_columns(columns, keys_), frame.length());
}

void ProbeSink::finish(Tasks& tasks) {
    tasks.poll(0)();
    scattered_ = gather_parts(types_, range_, scatters_);
}

}  // namespace loom::exec
