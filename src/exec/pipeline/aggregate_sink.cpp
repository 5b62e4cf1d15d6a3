#include "exec/pipeline/aggregate_sink.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "simd/mask.h"

namespace loom::exec {

namespace {

// Groups, or DISTINCT values, that a worker's own table may have: it then takes a few megabytes,
// and a look-up is still a hit in the last-level cache.
constexpr int64_t kMaxLocalGroups = 1 << 17;
// A partition should have a table that fits the second-level cache: 256 make that true for tens of
// millions of groups.
constexpr int kGroupBits = 8;
// With at least so many DISTINCT values a group, partitions are by value: then each meets most
// groups.
constexpr int64_t kPairsPerGroup = 64;
constexpr int kValueBits = 6;
// Slices of DISTINCT values that are merged at once when no rows were scattered.
constexpr int kSliceBits = 3;
constexpr int kMinBits = 3;
// Partitions too large for their share of memory are split by so many more bits, so often.
constexpr int kMoreBits = 4;
constexpr int kLastShift = 28;
// Groups and DISTINCT values that are not split: a table of any size takes about as much.
constexpr int64_t kFewGroups = 1024;
constexpr int64_t kChunkRows = 1024;
constexpr int64_t kMinChunkRows = 64;

}  // namespace

// Turns the columns of scattered rows into input of aggregates.
class AggregateSink::Reader {
  public:
    explicit Reader(const AggregateSink& sink)
        : sink_(sink),
          args_(sink.calls_.size()),
          masks_(sink.calls_.size()),
          filters_(sink.calls_.size(), nullptr) {}

    AggregateInput input(std::span<const Vector> columns, int64_t count) {
        AggregateInput input;
        input.length = count;
        input.keys = columns.first(sink_.key_types_.size());
        for (size_t i = 0; i < args_.size(); ++i) {
            if (sink_.arg_columns_[i] >= 0) args_[i] = columns[sink_.arg_columns_[i]];
            if (sink_.filter_columns_[i] < 0) continue;
            simd::bools_to_mask(columns[sink_.filter_columns_[i]].as<uint8_t>(), count,
                                masks_[i].data());
            filters_[i] = masks_[i].data();
        }
        input.args = args_;
        input.filters = filters_;
        return input;
    }

  private:
    const AggregateSink& sink_;
    std::vector<Vector> args_;
    std::vector<Mask> masks_;
    std::vector<const uint64_t*> filters_;
};

AggregateSink::AggregateSink(std::vector<int> key_slots, std::vector<plan::Type> key_types,
                             bool grouped, std::vector<AggregateCall> calls,
                             const Resources& resources)
    : key_slots_(std::move(key_slots)),
      key_types_(std::move(key_types)),
      grouped_(grouped),
      calls_(std::move(calls)),
      resources_(resources) {
    const auto first = static_cast<int>(key_types_.size());
    std::vector<plan::Type> arg_types;
    for (const AggregateCall& call : calls_) {
        int column = -1;
        if (call.slot >= 0) {
            const auto known = std::find(arg_slots_.begin(), arg_slots_.end(), call.slot);
            column = first + static_cast<int>(known - arg_slots_.begin());
            if (known == arg_slots_.end()) {
                arg_slots_.push_back(call.slot);
                arg_types.push_back(call.arg);
            }
        }
        arg_columns_.push_back(column);
    }
    row_types_ = key_types_;
    row_types_.insert(row_types_.end(), arg_types.begin(), arg_types.end());
    bool one_value = true;
    for (size_t i = 0; i < calls_.size(); ++i) {
        const bool filtered = calls_[i].filter != nullptr;
        filter_columns_.push_back(filtered ? static_cast<int>(row_types_.size()) : -1);
        if (filtered) row_types_.push_back(plan::make_type(plan::TypeId::kBool));
        if (!calls_[i].distinct) continue;
        if (value_column_ < 0)
            value_column_ = arg_columns_[i];
        else
            one_value = one_value && value_column_ == arg_columns_[i];
    }
    if (!one_value) value_column_ = -1;
}

std::vector<plan::Type> AggregateSink::hash_types(Split split) const {
    if (split == Split::kByGroup) return key_types_;
    return {row_types_[value_column_]};
}

std::vector<plan::Type> AggregateSink::output_types() const {
    std::vector<plan::Type> types = key_types_;
    for (const AggregateCall& call : calls_) types.push_back(call.type);
    return types;
}

RowStore AggregateSink::empty_rows() const {
    return {output_types(), resources_.budget};
}

void AggregateSink::begin(int workers) {
    workers_.clear();
    split_ = Split::kNone;
    for (int i = 0; i < workers; ++i) {
        auto worker = std::make_shared<Worker>(resources_.budget);
        worker->state = std::make_unique<AggregateState>(key_types_, calls_, &worker->budget);
        worker->args.resize(calls_.size());
        worker->masks.resize(calls_.size());
        worker->filters.assign(calls_.size(), nullptr);
        for (size_t c = 0; c < calls_.size(); ++c) worker->bools.emplace_back(resources_.budget);
        worker->hashes.resize(kBatchRows);
        workers_.push_back(std::move(worker));
    }
}

void AggregateSink::consume(int index, Frame& frame) {
    Worker& worker = *workers_[index];
    worker.used = true;
    worker.keys.clear();
    frame.fetch_all(key_slots_);
    frame.fetch_all(arg_slots_);
    for (const int slot : key_slots_) worker.keys.push_back(frame.fetch(slot));
    for (size_t i = 0; i < calls_.size(); ++i) {
        const AggregateCall& call = calls_[i];
        if (call.slot >= 0) worker.args[i] = frame.fetch(call.slot);
        if (call.filter == nullptr) continue;
        frame.fetch_all(call.filter->columns());
        frame.evaluator(*call.filter)
            .select(frame.vectors(), frame.length(), worker.masks[i].data());
        worker.filters[i] = worker.masks[i].data();
    }
    const AggregateInput input{frame.length(), worker.keys, worker.args, worker.filters};
    if (worker.rows != nullptr) return scatter(worker, input);
    worker.state->update(input);
    Split wanted = wanted_split(worker);
    if (wanted == Split::kNone) return;
    // The first worker decides for all.
    Split none = Split::kNone;
    if (!split_.compare_exchange_strong(none, wanted)) wanted = none;
    const int bits = wanted == Split::kByGroup ? kGroupBits : kValueBits;
    worker.rows = make_partitions(HashRange::first(bits), static_cast<int>(workers_.size()));
    worker.hasher = std::make_unique<KeyHasher>(hash_types(wanted), resources_.budget);
}

AggregateSink::Split AggregateSink::wanted_split(const Worker& worker) const {
    const uint64_t share = resources_.spill_limit() / (4 * workers_.size());
    const int64_t groups = worker.state->groups();
    const int64_t pairs = worker.state->distinct_pairs();
    const bool few_groups =
        key_types_.empty() || (value_column_ >= 0 && groups * kPairsPerGroup <= pairs);
    if (groups <= kMaxLocalGroups && pairs <= kMaxLocalGroups && worker.budget.used() <= share)
        return Split::kNone;
    if (!few_groups) return Split::kByGroup;
    return value_column_ >= 0 ? Split::kByValue : Split::kNone;
}

// All workers must arrive at the same number of partitions.
std::unique_ptr<RowPartitions> AggregateSink::make_partitions(HashRange range, int workers) const {
    int64_t row_bytes = 1;
    for (const plan::Type type : row_types_) row_bytes += plan::width(plan::physical(type));
    const uint64_t limit = resources_.spill_limit() / (4 * static_cast<uint64_t>(workers));
    int64_t chunk_rows = kChunkRows;
    const auto least = [&] {
        return static_cast<uint64_t>(row_bytes * chunk_rows * range.count());
    };
    while (least() > limit && chunk_rows > kMinChunkRows) chunk_rows /= 2;
    while (least() > limit && range.bits > kMinBits) {
        --range.bits;
        ++range.shift;
    }
    return std::make_unique<RowPartitions>(row_types_, range, chunk_rows, resources_.budget);
}

void AggregateSink::scatter(Worker& worker, const AggregateInput& input) {
    worker.columns.assign(input.keys.begin(), input.keys.end());
    worker.columns.resize(row_types_.size());
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (arg_columns_[i] >= 0) worker.columns[arg_columns_[i]] = input.args[i];
        if (filter_columns_[i] < 0) continue;
        worker.bools[i].resize_discarding(static_cast<uint64_t>(input.length) +
                                          simd::kSelectionSlack);
        simd::mask_to_bools(input.filters[i], input.length, worker.bools[i].data());
        Vector& column = worker.columns[filter_columns_[i]];
        column = Vector();
        column.type = plan::make_type(plan::TypeId::kBool);
        column.length = input.length;
        column.values = worker.bools[i].data();
    }
    const std::span<const Vector> keys =
        split_.load() == Split::kByGroup
            ? input.keys
            : std::span<const Vector>(worker.columns).subspan(value_column_, 1);
    worker.hasher->hash(keys, input.length, worker.hashes.data());
    worker.rows->append(worker.columns, worker.hashes.data(), input.length);
    if (resources_.is_full(worker.rows->held(), workers_.size()))
        worker.rows->spill(*resources_.space);
}

// Lists the groups of a worker's table by partition.
void AggregateSink::split_groups(Worker& worker, HashRange range) const {
    const int64_t groups = worker.state->groups();
    std::vector<uint64_t> hashes(static_cast<size_t>(groups));
    worker.state->hash_groups(hashes.data());
    worker.groups.assign(static_cast<size_t>(range.count()), {});
    for (size_t g = 0; g < hashes.size(); ++g)
        worker.groups[range.partition(hashes[g])].push_back(static_cast<uint32_t>(g));
}

void AggregateSink::finish(Tasks& tasks) {
    int64_t pairs = 0;
    for (const auto& worker : workers_) pairs += worker->state->distinct_pairs();
    if (split_.load() == Split::kNone && value_column_ >= 0 && workers_.size() > 1 &&
        pairs > kMaxLocalGroups)
        split_ = Split::kByValue;
    switch (split_.load()) {
        case Split::kNone:
            finish_whole(tasks);
            break;
        case Split::kByGroup:
            finish_by_group(tasks);
            break;
        case Split::kByValue:
            finish_by_value(tasks);
            break;
    }
    workers_.clear();
}

void AggregateSink::finish_whole(Tasks& tasks) {
    const Poll& poll = tasks.poll(0);
    AggregateState& first = *workers_[0]->state;
    bool used = workers_[0]->used;
    for (size_t i = 1; i < workers_.size(); ++i) {
        if (!workers_[i]->used) continue;
        used = true;
        first.merge(*workers_[i]->state, AggregateState::Part::kAll, poll);
        workers_[i]->state.reset();
    }
    RowStore rows = empty_rows();
    // A group that nothing belongs to exists only without GROUP BY.
    if (used || !grouped_ || !key_types_.empty()) first.output(rows, poll);
    rows_.add(std::move(rows));
}

void AggregateSink::finish_by_group(Tasks& tasks) {
    HashRange range;
    for (const auto& worker : workers_)
        if (worker->rows != nullptr) range = worker->rows->range();
    tasks.run(static_cast<int64_t>(workers_.size()),
              [&](int64_t index, int) { split_groups(*workers_[index], range); });
    const uint64_t allowance =
        resources_.spill_limit() / (2 * static_cast<uint64_t>(tasks.workers()));
    // If the rows had to leave memory, or fill half of what may be held, the groups might not fit
    // it either: then they come into being as they are read.
    if (resources_.budget->used() > resources_.spill_limit() / 2 || has_spilled()) {
        add_made_rows(
            rows_, range.count(), tasks, output_types(), resources_.budget,
            [this, workers = workers_, range, allowance](int64_t partition, const Poll& poll) {
                RowStore all = empty_rows();
                for (RowStore& rows : take_partition(workers, range, partition, allowance, poll))
                    all.append_store(std::move(rows));
                return all;
            });
        return;
    }
    std::vector<std::vector<RowStore>> results(static_cast<size_t>(range.count()));
    tasks.run(range.count(), [&](int64_t partition, int worker) {
        results[partition] =
            take_partition(workers_, range, partition, allowance, tasks.poll(worker));
    });
    for (std::vector<RowStore>& parts : results)
        for (RowStore& part : parts) rows_.add(std::move(part));
}

bool AggregateSink::has_spilled() const noexcept {
    for (const auto& worker : workers_)
        if (worker->rows != nullptr && worker->rows->spilled()) return true;
    return false;
}

// Groups one partition and frees its rows.
std::vector<RowStore> AggregateSink::take_partition(
    const std::vector<std::shared_ptr<Worker>>& workers, HashRange range, int64_t partition,
    uint64_t allowance, const Poll& poll) {
    std::vector<Source> sources;
    for (const auto& from : workers)
        sources.push_back(
            {from->state.get(), &from->groups[partition], from->rows.get(), partition});
    std::vector<RowStore> out;
    aggregate_partition(sources, range, allowance, poll, out);
    for (const Source& source : sources)
        if (source.rows != nullptr) source.rows->release(partition);
    return out;
}

// Groups the rows of one partition; if its groups turn out to need more than `allowance`, piece by
// piece.
void AggregateSink::aggregate_partition(const std::vector<Source>& sources, HashRange range,
                                        uint64_t allowance, const Poll& poll,
                                        std::vector<RowStore>& out) {
    base::MemoryBudget budget(0, resources_.budget);
    AggregateState state(key_types_, calls_, &budget);
    Reader reader(*this);
    bool too_large = false;
    for (const Source& source : sources) {
        if (source.state != nullptr && !source.groups->empty())
            state.merge(*source.state, AggregateState::Part::kAll, poll, source.groups);
        if (source.rows == nullptr) continue;
        source.rows->read(source.partition, &budget, [&](auto columns, int64_t count) {
            if (too_large) return;
            poll();
            state.update(reader.input(columns, count));
            too_large = budget.used() > allowance && range.shift >= kLastShift &&
                        state.groups() + state.distinct_pairs() > kFewGroups;
        });
        if (too_large) break;
    }
    if (!too_large) {
        RowStore rows = empty_rows();
        state.output(rows, poll);
        if (rows.length() > 0) out.push_back(std::move(rows));
        return;
    }
    state = AggregateState(key_types_, calls_, &budget);
    aggregate_pieces(sources, range.next(kMoreBits), allowance, poll, out);
}

void AggregateSink::aggregate_pieces(const std::vector<Source>& sources, HashRange range,
                                     uint64_t allowance, const Poll& poll,
                                     std::vector<RowStore>& out) {
    RowPartitions pieces(row_types_, range, kMinChunkRows, resources_.budget);
    KeyHasher hasher(key_types_, resources_.budget);
    std::vector<uint64_t> hashes(kBatchRows);
    std::vector<std::vector<std::vector<uint32_t>>> groups(sources.size());
    for (size_t s = 0; s < sources.size(); ++s) {
        groups[s].resize(static_cast<size_t>(range.count()));
        const Source& source = sources[s];
        if (source.state != nullptr && !source.groups->empty()) {
            std::vector<uint64_t> all(static_cast<size_t>(source.state->groups()));
            source.state->hash_groups(all.data());
            for (const uint32_t group : *source.groups)
                groups[s][range.partition(all[group])].push_back(group);
        }
        if (source.rows == nullptr) continue;
        source.rows->read(source.partition, resources_.budget,
                          [&](std::span<const Vector> columns, int64_t count) {
                              poll();
                              hasher.hash(columns.first(key_types_.size()), count, hashes.data());
                              pieces.append(columns, hashes.data(), count);
                              if (resources_.is_full(pieces.held(), workers_.size()))
                                  pieces.spill(*resources_.space);
                          });
    }
    for (int64_t piece = 0; piece < range.count(); ++piece) {
        std::vector<Source> parts;
        for (size_t s = 0; s < sources.size(); ++s)
            parts.push_back({sources[s].state, &groups[s][piece], nullptr, piece});
        parts.push_back({nullptr, nullptr, &pieces, piece});
        aggregate_partition(parts, range, allowance, poll, out);
        pieces.release(piece);
    }
}

void AggregateSink::finish_by_value(Tasks& tasks) {
    HashRange range = HashRange::first(kSliceBits);
    for (const auto& worker : workers_)
        if (worker->rows != nullptr) range = worker->rows->range();
    AggregateState all(key_types_, calls_, resources_.budget);
    for (const auto& from : workers_)
        all.merge(*from->state, AggregateState::Part::kOrdinary, tasks.poll(0));
    all.settle_distinct();
    std::mutex mutex;  // of `all`
    tasks.run(range.count(), [&](int64_t partition, int worker) {
        const Poll& poll = tasks.poll(worker);
        AggregateState state(key_types_, calls_, resources_.budget);
        Reader reader(*this);
        const AggregateState::Slice slice{range, partition};
        for (const auto& from : workers_) {
            state.merge(*from->state, AggregateState::Part::kValues, poll, nullptr, &slice);
            if (from->rows == nullptr) continue;
            from->rows->drain(partition, resources_.budget, [&](auto columns, int64_t count) {
                poll();
                state.update(reader.input(columns, count));
            });
        }
        // Each value is in one partition only, so what the settled states say adds up.
        state.settle_distinct();
        const std::lock_guard lock(mutex);
        all.merge(state, AggregateState::Part::kAll, poll);
    });
    RowStore rows = empty_rows();
    all.output(rows, tasks.poll(0));
    rows_.add(std::move(rows));
}

RowSet AggregateSink::take() {
    return std::exchange(rows_, RowSet());
}

}  // namespace loom::exec
