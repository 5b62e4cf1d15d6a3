#include "exec/pipeline/aggregate_sink.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "exec/partition/scattered_rows.h"
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
// Partitions too large for their share of memory are split by so many more bits, so often.
constexpr int kMoreBits = 4;
constexpr int kLastShift = 28;
// Groups and DISTINCT values that are not split: a table of any size takes about as much.
constexpr int64_t kFewGroups = 1024;
constexpr int64_t kMinChunkRows = 64;
// Values are looked up before they are scattered unless few of so many rows have been found.
constexpr int64_t kProbedRows = 1 << 15;
constexpr int64_t kLeastKnownShare = 8;
// What was scattered is remembered if the worker's own table lacks more than one of so many rows'
// values: the table forgets none.
constexpr int64_t kLeastNewShare = 4;
// The texts that workers remember take one of so many parts of the query's memory.
constexpr uint64_t kRecentShare = 32;
constexpr plan::Type kGroupType = plan::make_type(plan::TypeId::kInt4);

int64_t count_rows(const uint64_t* mask, int64_t count) {
    return base::count_bits(reinterpret_cast<const uint8_t*>(mask), 0, count);
}

}  // namespace

// Turns the columns of scattered rows into input of aggregates.
class AggregateSink::Reader {
  public:
    explicit Reader(const AggregateSink& sink)
        : sink_(sink),
          args_(sink.calls_.size()),
          second_args_(sink.calls_.size()),
          masks_(sink.calls_.size()),
          filters_(sink.calls_.size(), nullptr) {}

    AggregateInput input(std::span<const Vector> columns, int64_t count) {
        AggregateInput input;
        input.length = count;
        input.keys = columns.first(sink_.key_types_.size());
        for (size_t i = 0; i < args_.size(); ++i) {
            if (sink_.arg_columns_[i] >= 0) args_[i] = columns[sink_.arg_columns_[i]];
            if (sink_.second_columns_[i] >= 0) second_args_[i] = columns[sink_.second_columns_[i]];
            if (sink_.filter_columns_[i] < 0) continue;
            simd::bools_to_mask(columns[sink_.filter_columns_[i]].as<uint8_t>(), count,
                                masks_[i].data());
            filters_[i] = masks_[i].data();
        }
        input.args = args_;
        input.second_args = second_args_;
        input.filters = filters_;
        return input;
    }

  private:
    const AggregateSink& sink_;
    std::vector<Vector> args_;
    std::vector<Vector> second_args_;
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
    const auto column_of = [&](int slot, plan::Type type) {
        if (slot < 0) return -1;
        const auto known = std::find(arg_slots_.begin(), arg_slots_.end(), slot);
        const int column = first + static_cast<int>(known - arg_slots_.begin());
        if (known == arg_slots_.end()) {
            arg_slots_.push_back(slot);
            arg_types.push_back(type);
        }
        return column;
    };
    for (const AggregateCall& call : calls_) {
        arg_columns_.push_back(column_of(call.slot, call.arg));
        second_columns_.push_back(column_of(call.second_slot, call.arg));
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
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (!calls_[i].distinct) continue;
        value_calls_.push_back(calls_[i]);
        value_call_of_.push_back(i);
    }
    if (value_column_ < 0) return;
    value_types_ = {kGroupType, row_types_[value_column_]};
    for (const AggregateCall& call : value_calls_)
        if (call.filter != nullptr) value_types_.push_back(plan::make_type(plan::TypeId::kBool));
}

std::vector<plan::Type> AggregateSink::hash_types(Split split) const {
    if (split == Split::kByGroup) return key_types_;
    return {row_types_[value_column_]};
}

const std::vector<plan::Type>& AggregateSink::scattered_types(Split split) const noexcept {
    return split == Split::kByGroup ? row_types_ : value_types_;
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
        worker->second_args.resize(calls_.size());
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
        if (call.second_slot >= 0) worker.second_args[i] = frame.fetch(call.second_slot);
        if (call.filter == nullptr) continue;
        frame.fetch_all(call.filter->columns());
        frame.evaluator(*call.filter)
            .select(frame.vectors(), frame.length(), worker.masks[i].data());
        worker.filters[i] = worker.masks[i].data();
    }
    const AggregateInput input{frame.length(), worker.keys, worker.args, worker.filters,
                               worker.second_args};
    if (worker.rows != nullptr)
        return split_.load() == Split::kByGroup ? scatter(worker, input)
                                                : scatter_values(worker, input);
    worker.state->update(input);
    Split wanted = wanted_split(worker);
    if (wanted == Split::kNone) return;
    // The first worker decides for all.
    Split none = Split::kNone;
    if (!split_.compare_exchange_strong(none, wanted)) wanted = none;
    worker.rows = make_partitions(wanted, static_cast<int>(workers_.size()));
    worker.hasher = std::make_unique<KeyHasher>(hash_types(wanted), resources_.budget);
    if (wanted == Split::kByGroup) worker.known = make_known_texts(*worker.state);
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
std::unique_ptr<RowPartitions> AggregateSink::make_partitions(Split split, int workers) const {
    const HashRange range = HashRange::first(split == Split::kByGroup ? kGroupBits : kValueBits);
    const std::vector<plan::Type>& types = scattered_types(split);
    const ScatterShape shape =
        scatter_shape(types, range, resources_.spill_limit(), static_cast<size_t>(workers));
    return std::make_unique<RowPartitions>(types, shape.range, shape.chunk_rows, resources_.budget);
}

void AggregateSink::choose_columns(Worker& worker, const AggregateInput& input) {
    worker.columns.assign(input.keys.begin(), input.keys.end());
    worker.columns.resize(row_types_.size());
    for (size_t i = 0; i < calls_.size(); ++i) {
        if (arg_columns_[i] >= 0) worker.columns[arg_columns_[i]] = input.args[i];
        if (second_columns_[i] >= 0) worker.columns[second_columns_[i]] = input.second_args[i];
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
}

void AggregateSink::scatter(Worker& worker, const AggregateInput& input) {
    worker.hasher->hash(input.keys, input.length, worker.hashes.data());
    choose_columns(worker, input);
    int64_t count = input.length;
    if (worker.known != nullptr) count = add_known_groups(worker, input);
    if (count == 0) return;
    worker.rows->append(worker.columns, worker.hashes.data(), count);
    if (resources_.is_full(worker.rows->held(), workers_.size()))
        worker.rows->spill(*resources_.space);
}

// Null where groups are not told apart by one text, or where their states would go on growing.
std::unique_ptr<KnownTexts> AggregateSink::make_known_texts(const AggregateState& state) const {
    if (key_types_.size() != 1 || plan::physical(key_types_[0]) != plan::Physical::kBytes ||
        !value_calls_.empty())
        return nullptr;
    const uint64_t memory = resources_.memory > 0 ? resources_.memory : UINT64_MAX;
    auto known =
        std::make_unique<KnownTexts>(memory / (kRecentShare * workers_.size()), resources_.budget);
    state.list_texts(*known);
    return known;
}

// Adds rows whose group is known to it. Leaves the others in worker.columns and worker.hashes and
// returns their number.
int64_t AggregateSink::add_known_groups(Worker& worker, const AggregateInput& input) {
    const Vector texts = to_plain(input.keys[0], worker.value_room, worker.value_validity);
    uint32_t groups[kBatchRows];
    worker.known->find(texts.as<column::BytesView>(), texts.validity, worker.hashes.data(),
                       input.length, groups);
    Mask rows{};
    for (int64_t i = 0; i < input.length; ++i)
        rows[i >> 6] |= static_cast<uint64_t>(groups[i] != KnownTexts::kNone) << (i & 63);
    const int64_t found = count_rows(rows.data(), input.length);
    worker.rows_probed += input.length;
    worker.rows_known += found;
    if (worker.rows_probed >= kProbedRows &&
        worker.rows_known * kLeastKnownShare < worker.rows_probed)
        worker.known.reset();
    if (found == 0) return input.length;
    worker.state->update_rows(input, groups, rows.data());
    // States may grow, as those of texts do; what is written to files has no part of them.
    if (worker.budget.used() > resources_.spill_limit() / (2 * workers_.size()))
        worker.known.reset();
    invert_mask(rows.data(), input.length);
    uint16_t positions[kBatchRows + simd::kSelectionSlack];
    const int64_t count = simd::mask_to_selection(rows.data(), input.length, positions);
    keep_columns(worker, positions, count);
    // Places only move to the front.
    for (int64_t i = 0; i < count; ++i) worker.hashes[i] = worker.hashes[positions[i]];
    return count;
}

// Keeps the rows of worker.columns at `positions`, in their form.
void AggregateSink::keep_columns(Worker& worker, const uint16_t* positions, int64_t count) {
    while (worker.taken.size() < worker.columns.size())
        worker.taken.emplace_back(resources_.budget);
    while (worker.taken_validity.size() < worker.columns.size())
        worker.taken_validity.emplace_back(resources_.budget);
    for (size_t c = 0; c < worker.columns.size(); ++c) {
        Vector& column = worker.columns[c];
        column.length = count;
        if (column.form == Form::kConstant) continue;
        base::Buffer& values = worker.taken[c];
        values.resize_discarding(static_cast<uint64_t>(count) * row_width(column));
        gather_values(column.values, row_width(column), positions, count, values.data());
        column.values = values.data();
        if (column.validity == nullptr) continue;
        base::Buffer& validity = worker.taken_validity[c];
        validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        gather_bits(column.validity, positions, count, validity.data());
        column.validity = validity.data();
    }
}

// Null where known values are not told apart by their text alone.
std::unique_ptr<RecentTexts> AggregateSink::make_recent_texts(const AggregateState& state) const {
    const plan::Type type = row_types_[value_column_];
    if (!key_types_.empty() || value_calls_.size() != 1 ||
        plan::physical(type) != plan::Physical::kBytes)
        return nullptr;
    const uint64_t memory = resources_.memory > 0 ? resources_.memory : UINT64_MAX;
    auto recent =
        std::make_unique<RecentTexts>(memory / (kRecentShare * workers_.size()), resources_.budget);
    state.visit_distinct(value_call_of_[0], [&](const Vector& values, const uint64_t* hashes) {
        Mask rows;
        Mask longer;
        fill_mask(rows.data(), values.length, true);
        clear_nulls(rows.data(), values.validity, values.length);
        recent->drop_known(values.as<column::BytesView>(), hashes, values.length, rows.data(),
                           longer.data());
    });
    return recent;
}

// Clears the bits of rows whose value is in the worker's own table, or was scattered.
void AggregateSink::drop_known(Worker& worker, size_t call, const uint32_t* groups,
                               const Vector& values, uint64_t* rows) const {
    if (worker.recent == nullptr)
        return worker.state->drop_known(call, groups, values, worker.hashes.data(), rows);
    Mask longer;
    if (!worker.recent->drop_known(values.as<column::BytesView>(), worker.hashes.data(),
                                   values.length, rows, longer.data()))
        return;
    worker.state->drop_known(call, groups, values, worker.hashes.data(), longer.data());
    for (int64_t w = 0; w < simd::mask_words(values.length); ++w) rows[w] |= longer[w];
}

// Sets the bits of rows that bring an aggregate with DISTINCT a value which is not certainly known.
// What is NULL is none.
void AggregateSink::find_new_values(Worker& worker, const AggregateInput& input,
                                    const uint32_t* groups, const Vector& values,
                                    uint64_t* rows) const {
    std::fill_n(rows, simd::mask_words(input.length), 0);
    // Equal decimals of two scales must meet.
    const bool probes = plan::physical(values.type) != plan::Physical::kDecimal &&
                        (worker.rows_probed < kProbedRows ||
                         worker.rows_known * kLeastKnownShare > worker.rows_probed);
    int64_t before = 0;
    for (const size_t call : value_call_of_) {
        Mask some;
        fill_mask(some.data(), input.length, true);
        if (input.filters[call] != nullptr)
            and_mask(some.data(), input.filters[call], input.length);
        clear_nulls(some.data(), values.validity, input.length);
        if (probes) {
            before += count_rows(some.data(), input.length);
            drop_known(worker, call, groups, values, some.data());
        }
        for (int64_t w = 0; w < simd::mask_words(input.length); ++w) rows[w] |= some[w];
    }
    if (!probes) return;
    const bool first = worker.rows_probed < kProbedRows;
    worker.rows_probed += before;
    worker.rows_known += before - count_rows(rows, input.length);
    const int64_t rows_new = worker.rows_probed - worker.rows_known;
    if (first && worker.rows_probed >= kProbedRows &&
        worker.rows_known * kLeastKnownShare > worker.rows_probed &&
        rows_new * kLeastNewShare > worker.rows_probed)
        worker.recent = make_recent_texts(*worker.state);
}

void AggregateSink::scatter_values(Worker& worker, const AggregateInput& input) {
    const uint32_t* groups = worker.state->update_ordinary(input);
    const size_t argument = value_call_of_[0];
    const Vector& given = input.args[argument];
    worker.hasher->hash({&given, 1}, input.length, worker.hashes.data());
    Vector values = to_plain(given, worker.value_room, worker.value_validity);
    values.length = input.length;
    Mask rows;
    find_new_values(worker, input, groups, values, rows.data());
    uint16_t positions[kBatchRows + simd::kSelectionSlack];
    const int64_t count = simd::mask_to_selection(rows.data(), input.length, positions);
    if (count == 0) return;
    while (worker.taken.size() < value_types_.size()) worker.taken.emplace_back(resources_.budget);
    worker.columns.assign(value_types_.size(), Vector());
    const auto take = [&](size_t column, const void* from) {
        const int width = plan::width(plan::physical(value_types_[column]));
        base::Buffer& to = worker.taken[column];
        to.resize_discarding(static_cast<uint64_t>(count) * width);
        gather_values(from, width, positions, count, to.data());
        worker.columns[column].type = value_types_[column];
        worker.columns[column].length = count;
        worker.columns[column].values = to.data();
    };
    if (groups != nullptr) {
        take(0, groups);
    } else {
        base::Buffer& zeros = worker.taken[0];
        zeros.resize_discarding(static_cast<uint64_t>(count) * sizeof(int32_t));
        std::memset(zeros.data(), 0, static_cast<size_t>(count) * sizeof(int32_t));
        worker.columns[0].type = kGroupType;
        worker.columns[0].length = count;
        worker.columns[0].values = zeros.data();
    }
    take(1, values.values);
    size_t column = 2;
    for (const size_t call : value_call_of_) {
        if (calls_[call].filter == nullptr) continue;
        base::Buffer& bools = worker.bools[call];
        bools.resize_discarding(static_cast<uint64_t>(input.length) + simd::kSelectionSlack);
        simd::mask_to_bools(input.filters[call], input.length, bools.data());
        take(column++, bools.data());
    }
    // Places only move to the front.
    for (int64_t i = 0; i < count; ++i) worker.hashes[i] = worker.hashes[positions[i]];
    worker.rows->append(worker.columns, worker.hashes.data(), count);
    if (resources_.budget->used() > resources_.spill_limit()) worker.rows->spill(*resources_.space);
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
    for (const auto& worker : workers_) {
        worker->known.reset();
        if (worker->rows != nullptr) range = worker->rows->range();
    }
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
        rows_.let_give_up();
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
    sources.reserve(workers.size());
    for (const auto& from : workers)
        sources.push_back(
            {from->state.get(), &from->groups[partition], from->rows.get(), partition});
    std::vector<RowStore> out;
    aggregate_partition(sources, range, allowance, poll, out);
    for (const Source& source : sources)
        if (source.rows != nullptr) source.rows->release(partition);
    return out;
}

// Partitions are alike, but no table needs more room than there are rows.
int64_t AggregateSink::expected_groups(const std::vector<Source>& sources) const noexcept {
    int64_t rows = 0;
    for (const Source& source : sources) {
        if (source.state != nullptr) rows += static_cast<int64_t>(source.groups->size());
        if (source.rows != nullptr) rows += source.rows->rows(source.partition);
    }
    return std::min(rows, usual_groups_.load(std::memory_order_relaxed));
}

// Groups the rows of one partition; if its groups turn out to need more than `allowance`, piece by
// piece.
void AggregateSink::aggregate_partition(const std::vector<Source>& sources, HashRange range,
                                        uint64_t allowance, const Poll& poll,
                                        std::vector<RowStore>& out) {
    base::MemoryBudget budget(0, resources_.budget);
    AggregateState state(key_types_, calls_, &budget);
    state.reserve(expected_groups(sources));
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
        usual_groups_.store(rows.length(), std::memory_order_relaxed);
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

// What a worker's own table holds: for each aggregate with DISTINCT the values by partition, and
// which group of all workers each of its groups is.
struct AggregateSink::KnownValues {
    GroupMap map;
    std::vector<AggregateState::Pairs> pairs;
};

void AggregateSink::collect_values(AggregateState& state, const KnownValues& known,
                                   int64_t partition) const {
    base::Buffer values(resources_.budget);
    base::Buffer validity(resources_.budget);
    std::vector<int32_t> groups(kBatchRows);
    for (size_t call = 0; call < known.pairs.size(); ++call) {
        const AggregateState::Pairs& pairs = known.pairs[call];
        const std::vector<uint32_t>& rows = pairs.rows[static_cast<size_t>(partition)];
        const auto length = static_cast<int64_t>(rows.size());
        for (int64_t begin = 0; begin < length; begin += kBatchRows) {
            const int64_t count = std::min(kBatchRows, length - begin);
            const uint32_t* places = rows.data() + begin;
            for (int64_t i = 0; i < count; ++i)
                groups[i] = static_cast<int32_t>(
                    known.map[pairs.group_numbers.as<uint32_t>()[places[i]]].to);
            Vector key;
            key.type = kGroupType;
            key.length = count;
            key.values = groups.data();
            state.update_values(call, {&key, 1},
                                take_rows(pairs.values, places, count, values, validity));
        }
    }
}

// Frees the rows of the partition.
void AggregateSink::collect_rows(AggregateState& state, Worker& worker, const GroupMap& map,
                                 int64_t partition, const Poll& poll) const {
    std::vector<int32_t> groups(kBatchRows);
    std::vector<Mask> masks(value_calls_.size());
    std::vector<const uint64_t*> filters(value_calls_.size(), nullptr);
    worker.rows->drain(partition, resources_.budget, [&](auto columns, int64_t count) {
        poll();
        Vector key = columns[0];
        for (int64_t i = 0; i < count; ++i)
            groups[i] = static_cast<int32_t>(map[key.as<uint32_t>()[i]].to);
        key.values = groups.data();
        size_t column = 2;
        for (size_t call = 0; call < value_calls_.size(); ++call) {
            if (value_calls_[call].filter == nullptr) continue;
            simd::bools_to_mask(columns[column++].template as<uint8_t>(), count,
                                masks[call].data());
            filters[call] = masks[call].data();
        }
        const std::vector<Vector> args(value_calls_.size(), columns[1]);
        state.update({count, {&key, 1}, args, filters, {}});
    });
}

void AggregateSink::finish_by_value(Tasks& tasks) {
    HashRange range = HashRange::first(kSliceBits);
    for (const auto& worker : workers_) {
        worker->recent.reset();
        if (worker->rows != nullptr) range = worker->rows->range();
    }
    AggregateState all(key_types_, calls_, resources_.budget);
    std::vector<KnownValues> known(workers_.size());
    for (size_t w = 0; w < workers_.size(); ++w)
        known[w].map =
            all.merge(*workers_[w]->state, AggregateState::Part::kOrdinary, tasks.poll(0));
    tasks.run(static_cast<int64_t>(workers_.size()), [&](int64_t w, int) {
        for (const size_t call : value_call_of_)
            known[w].pairs.push_back(workers_[w]->state->split_pairs(call, range));
    });
    all.settle_distinct();
    std::vector<plan::Type> keys;
    if (!key_types_.empty()) keys.push_back(kGroupType);
    std::mutex mutex;  // of `all`
    tasks.run(range.count(), [&](int64_t partition, int worker) {
        const Poll& poll = tasks.poll(worker);
        AggregateState state(keys, value_calls_, resources_.budget);
        for (size_t w = 0; w < workers_.size(); ++w) {
            poll();
            collect_values(state, known[w], partition);
            if (workers_[w]->rows != nullptr)
                collect_rows(state, *workers_[w], known[w].map, partition, poll);
        }
        // Each value is in one partition only, so what the settled states say adds up.
        state.settle_distinct();
        const std::lock_guard lock(mutex);
        all.merge_values(state, value_call_of_);
    });
    RowStore rows = empty_rows();
    all.output(rows, tasks.poll(0));
    rows_.add(std::move(rows));
}

RowSet AggregateSink::take() {
    return std::exchange(rows_, RowSet());
}

}  // namespace loom::exec
