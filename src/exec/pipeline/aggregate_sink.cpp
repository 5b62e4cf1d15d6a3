#include <cstring>

#include "exec/pipeline/sinks.h"

namespace loom::exec {

AggregateSink::AggregateSink(std::vector<int> key_slots, std::vector<plan::Type> key_types,
                             bool grouped, std::vector<AggregateCall> calls,
                             base::MemoryBudget* budget)
    : key_slots_(std::move(key_slots)),
      key_types_(std::move(key_types)),
      grouped_(grouped),
      calls_(std::move(calls)),
      budget_(budget) {}

void AggregateSink::begin(int workers) {
    workers_.clear();
    for (int i = 0; i < workers; ++i) {
        auto worker = std::make_unique<Worker>();
        if (!key_slots_.empty()) worker->groups = std::make_unique<GroupTable>(key_types_, budget_);
        for (const AggregateCall& call : calls_) {
            Call state;
            state.accumulator = make_accumulator(call.function, call.arg, budget_);
            if (call.distinct)
                state.distinct = std::make_unique<GroupTable>(
                    std::vector<plan::Type>{plan::make_type(plan::TypeId::kInt4), call.arg},
                    budget_);
            for (base::Buffer* buffer :
                 {&state.values, &state.validity, &state.taken, &state.taken_validity})
                *buffer = base::Buffer(budget_);
            worker->calls.push_back(std::move(state));
        }
        for (base::Buffer* buffer : {&worker->ids, &worker->call_ids, &worker->positions})
            buffer->resize(kBatchRows * sizeof(uint32_t));
        workers_.push_back(std::move(worker));
    }
}

int64_t AggregateSink::group_count(const Worker& worker) const {
    return worker.groups != nullptr ? worker.groups->groups() : 1;
}

void AggregateSink::aggregate(Worker& worker, const AggregateCall& call, Call& state, Frame& frame,
                              const uint32_t* ids) {
    Vector arg;
    arg.length = frame.length();
    if (call.slot >= 0) arg = to_plain(frame.fetch(call.slot), state.values, state.validity);
    if (call.filter != nullptr) {
        uint64_t mask[kMaskWords];
        frame.fetch_all(call.filter->columns());
        frame.evaluator(*call.filter).select(frame.vectors(), frame.length(), mask);
        auto* positions = worker.positions.as<uint16_t>();
        const int64_t kept = simd::mask_to_selection(mask, frame.length(), positions);
        if (kept == 0) return;
        if (call.slot >= 0) {
            const int width = plan::width(physical(arg.type));
            state.taken.resize_discarding(static_cast<uint64_t>(kept) * width);
            gather_values(arg.values, width, positions, kept, state.taken.data());
            arg.values = state.taken.data();
            if (arg.validity != nullptr) {
                state.taken_validity.resize_discarding(
                    static_cast<uint64_t>(base::bitmap_bytes(kept)));
                gather_bits(arg.validity, positions, kept, state.taken_validity.data());
                arg.validity = state.taken_validity.data();
            }
        }
        arg.length = kept;
        if (ids != nullptr) {
            gather_values(ids, sizeof(uint32_t), positions, kept, worker.call_ids.data());
            ids = worker.call_ids.as<uint32_t>();
        }
    }
    if (state.distinct == nullptr) return state.accumulator->update(ids, arg);
    // The distinct values of all groups are collected; they are aggregated at the end.
    const int32_t zero = 0;
    Vector group;
    group.type = plan::make_type(plan::TypeId::kInt4);
    group.length = arg.length;
    group.form = ids == nullptr ? Form::kConstant : Form::kPlain;
    group.values = ids == nullptr ? static_cast<const void*>(&zero) : ids;
    uint32_t numbers[kBatchRows];
    const Vector keys[] = {group, arg};
    state.distinct->assign(keys, arg.length, numbers);
}

void AggregateSink::consume(int index, Frame& frame) {
    Worker& worker = *workers_[index];
    worker.used = true;
    const uint32_t* ids = nullptr;
    if (worker.groups != nullptr) {
        worker.keys.clear();
        frame.fetch_all(key_slots_);
        for (const int slot : key_slots_) worker.keys.push_back(frame.fetch(slot));
        worker.groups->assign(worker.keys, frame.length(), worker.ids.as<uint32_t>());
        ids = worker.ids.as<uint32_t>();
    }
    const int64_t groups = group_count(worker);
    for (size_t i = 0; i < calls_.size(); ++i) {
        worker.calls[i].accumulator->resize(groups);
        aggregate(worker, calls_[i], worker.calls[i], frame, ids);
    }
}

void AggregateSink::merge(Worker& into, Worker& from, const Poll& poll) {
    const int64_t groups = group_count(from);
    std::vector<uint32_t> map(static_cast<size_t>(groups), 0);
    if (into.groups != nullptr) into.groups->assign_groups(*from.groups, map.data(), poll);
    const int64_t merged = group_count(into);
    for (size_t i = 0; i < calls_.size(); ++i) {
        poll();
        into.calls[i].accumulator->resize(merged);
        from.calls[i].accumulator->resize(groups);
        if (!calls_[i].distinct) {
            into.calls[i].accumulator->merge(*from.calls[i].accumulator, map.data(), groups);
            continue;
        }
        GroupTable& values = *from.calls[i].distinct;
        StoredColumn group(plan::make_type(plan::TypeId::kInt4), budget_);
        StoredColumn value(calls_[i].arg, budget_);
        values.output(0, group);
        values.output(1, value);
        std::vector<int32_t> mapped(static_cast<size_t>(values.groups()));
        for (size_t g = 0; g < mapped.size(); ++g)
            mapped[g] = static_cast<int32_t>(map[group.values<int32_t>()[g]]);
        Vector keys[] = {group.view(), value.view()};
        keys[0].values = mapped.data();
        std::vector<uint32_t> numbers(mapped.size());
        into.calls[i].distinct->assign(keys, values.groups(), numbers.data());
    }
    from.calls.clear();
    from.groups.reset();
}

void AggregateSink::finish_distinct(Worker& worker, int64_t groups) {
    for (size_t i = 0; i < calls_.size(); ++i) {
        Call& call = worker.calls[i];
        call.accumulator->resize(groups);
        if (call.distinct == nullptr) continue;
        StoredColumn group(plan::make_type(plan::TypeId::kInt4), budget_);
        StoredColumn value(calls_[i].arg, budget_);
        call.distinct->output(0, group);
        call.distinct->output(1, value);
        if (value.length() > 0) call.accumulator->update(group.values<uint32_t>(), value.view());
    }
}

void AggregateSink::finish(const Poll& poll) {
    Worker& first = *workers_[0];
    for (size_t i = 1; i < workers_.size(); ++i)
        if (workers_[i]->used) merge(first, *workers_[i], poll);
    const int64_t groups = key_slots_.empty() && grouped_ && !first.used ? 0 : group_count(first);
    finish_distinct(first, group_count(first));
    std::vector<plan::Type> types = key_types_;
    for (const AggregateCall& call : calls_) types.push_back(call.type);
    rows_ = std::make_unique<RowStore>(types, budget_);
    for (size_t i = 0; i < key_types_.size(); ++i) {
        poll();
        first.groups->output(i, rows_->column(i));
    }
    for (size_t i = 0; i < calls_.size(); ++i)
        first.calls[i].accumulator->output(groups, rows_->column(key_types_.size() + i));
    rows_->set_length(groups);
    workers_.clear();
}

RowStore AggregateSink::take() {
    RowStore rows = std::move(*rows_);
    rows_.reset();
    return rows;
}

}  // namespace loom::exec
