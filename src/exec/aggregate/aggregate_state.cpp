#include "exec/aggregate/aggregate_state.h"

#include <algorithm>

#include "exec/key_hasher.h"
#include "simd/mask.h"

namespace loom::exec {

namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;
// Distinct values between two looks at the stop token: some milliseconds.
constexpr int64_t kValuesPerPoll = 1 << 15;

std::vector<plan::Type> pair_types(plan::Type value) {
    return {plan::make_type(plan::TypeId::kInt4), value};
}

}  // namespace

AggregateState::AggregateState(const std::vector<plan::Type>& keys,
                               const std::vector<AggregateCall>& calls, base::MemoryBudget* budget)
    : call_info_(&calls),
      key_types_(keys),
      budget_(budget),
      ids_(budget),
      call_ids_(budget),
      positions_(budget) {
    if (!keys.empty()) groups_ = std::make_unique<GroupTable>(keys, budget);
    for (const AggregateCall& info : calls) {
        Call call;
        call.accumulator = make_accumulator(info.function, info.arg, budget);
        call.accumulator->resize(groups());
        if (info.distinct)
            call.distinct = std::make_unique<GroupTable>(pair_types(info.arg), budget);
        for (base::Buffer* buffer :
             {&call.values, &call.validity, &call.taken, &call.taken_validity})
            *buffer = base::Buffer(budget);
        calls_.push_back(std::move(call));
    }
    for (base::Buffer* buffer : {&ids_, &call_ids_, &positions_})
        buffer->resize(kBatchRows * sizeof(uint32_t));
}

int64_t AggregateState::distinct_pairs() const noexcept {
    int64_t pairs = 0;
    for (const Call& call : calls_)
        if (call.distinct != nullptr) pairs += call.distinct->groups();
    return pairs;
}

void AggregateState::update(const AggregateInput& input) {
    const uint32_t* ids = nullptr;
    if (groups_ != nullptr) {
        groups_->assign(input.keys, input.length, ids_.as<uint32_t>());
        ids = ids_.as<uint32_t>();
    }
    for (size_t i = 0; i < calls_.size(); ++i) {
        calls_[i].accumulator->resize(groups());
        Vector arg;
        if ((*call_info_)[i].slot >= 0)
            arg = to_plain(input.args[i], calls_[i].values, calls_[i].validity);
        arg.length = input.length;
        update_call(i, arg, input.filters[i], ids);
    }
}

void AggregateState::update_call(size_t index, Vector arg, const uint64_t* filter,
                                 const uint32_t* ids) {
    Call& call = calls_[index];
    if (filter != nullptr) {
        auto* positions = positions_.as<uint16_t>();
        const int64_t kept = simd::mask_to_selection(filter, arg.length, positions);
        if (kept == 0) return;
        if ((*call_info_)[index].slot >= 0) {
            const int width = plan::width(plan::physical(arg.type));
            call.taken.resize_discarding(static_cast<uint64_t>(kept) * width);
            gather_values(arg.values, width, positions, kept, call.taken.data());
            arg.values = call.taken.data();
            if (arg.validity != nullptr) {
                call.taken_validity.resize_discarding(
                    static_cast<uint64_t>(base::bitmap_bytes(kept)));
                gather_bits(arg.validity, positions, kept, call.taken_validity.data());
                arg.validity = call.taken_validity.data();
            }
        }
        arg.length = kept;
        if (ids != nullptr) {
            gather_values(ids, sizeof(uint32_t), positions, kept, call_ids_.data());
            ids = call_ids_.as<uint32_t>();
        }
    }
    if (call.distinct == nullptr) return call.accumulator->update(ids, arg);
    // The distinct values of all groups are collected; they are aggregated at the end.
    const int32_t zero = 0;
    Vector group;
    group.type = plan::make_type(plan::TypeId::kInt4);
    group.length = arg.length;
    group.form = ids == nullptr ? Form::kConstant : Form::kPlain;
    group.values = ids == nullptr ? static_cast<const void*>(&zero) : ids;
    uint32_t numbers[kBatchRows];
    const Vector keys[] = {group, arg};
    call.distinct->assign(keys, arg.length, numbers);
}

void AggregateState::merge(AggregateState& from, Part part, const Poll& poll,
                           const std::vector<uint32_t>* groups, const Slice* slice) {
    GroupMap map(groups != nullptr ? groups->size() : static_cast<size_t>(from.groups()));
    for (size_t i = 0; i < map.size(); ++i)
        map[i].from = groups != nullptr ? (*groups)[i] : static_cast<uint32_t>(i);
    if (map.empty()) return;
    if (groups_ != nullptr) groups_->assign_groups(*from.groups_, map, poll);
    for (size_t i = 0; i < calls_.size(); ++i) {
        poll();
        Accumulator& target = *calls_[i].accumulator;
        Accumulator& source = *from.calls_[i].accumulator;
        target.resize(this->groups());
        const bool distinct = (*call_info_)[i].distinct;
        if (part == (distinct ? Part::kOrdinary : Part::kValues)) continue;
        if (calls_[i].distinct != nullptr) {
            merge_distinct(i, from, map, slice);
            continue;
        }
        // Several may merge from one state at a time, so it is not resized here.
        target.merge(source, map);
    }
}

void AggregateState::merge_distinct(size_t index, AggregateState& from, const GroupMap& map,
                                    const Slice* slice) {
    std::vector<uint32_t> targets(static_cast<size_t>(from.groups()), kNoGroup);
    for (const auto [known, target] : map) targets[known] = target;
    const GroupTable& pairs = *from.calls_[index].distinct;
    StoredColumn group(plan::make_type(plan::TypeId::kInt4), budget_);
    StoredColumn value((*call_info_)[index].arg, budget_);
    pairs.output(0, group);
    pairs.output(1, value);
    std::vector<uint32_t> chosen;
    std::vector<int32_t> mapped;
    std::vector<uint64_t> hashes(static_cast<size_t>(pairs.groups()), 0);
    if (slice != nullptr) {
        const Vector values[] = {value.view()};
        KeyHasher({(*call_info_)[index].arg}, budget_).hash(values, pairs.groups(), hashes.data());
    }
    for (int64_t i = 0; i < pairs.groups(); ++i) {
        if (i % kValuesPerPoll == 0) poll_thread();
        const uint32_t target = targets[static_cast<uint32_t>(group.values<int32_t>()[i])];
        if (target == kNoGroup) continue;
        if (slice != nullptr && slice->range.partition(hashes[i]) != slice->partition) continue;
        chosen.push_back(static_cast<uint32_t>(i));
        mapped.push_back(static_cast<int32_t>(target));
    }
    StoredColumn taken((*call_info_)[index].arg, budget_);
    taken.append(value.view(), chosen.data(), static_cast<int64_t>(chosen.size()));
    uint32_t numbers[kBatchRows];
    const auto length = static_cast<int64_t>(chosen.size());
    for (int64_t begin = 0; begin < length; begin += kBatchRows) {
        poll_thread();
        const int64_t count = std::min(kBatchRows, length - begin);
        Vector keys[2] = {{}, taken.view(begin, count)};
        keys[0].type = plan::make_type(plan::TypeId::kInt4);
        keys[0].length = count;
        keys[0].values = mapped.data() + begin;
        calls_[index].distinct->assign(keys, count, numbers);
    }
}

void AggregateState::settle_distinct() {
    for (base::Buffer* buffer : {&ids_, &call_ids_, &positions_}) buffer->release();
    for (size_t i = 0; i < calls_.size(); ++i) {
        Call& call = calls_[i];
        for (base::Buffer* buffer :
             {&call.values, &call.validity, &call.taken, &call.taken_validity})
            buffer->release();
        call.accumulator->resize(groups());
        if (call.distinct == nullptr) continue;
        StoredColumn group(plan::make_type(plan::TypeId::kInt4), budget_);
        StoredColumn value((*call_info_)[i].arg, budget_);
        call.distinct->output(0, group);
        call.distinct->output(1, value);
        call.distinct.reset();
        for (int64_t begin = 0; begin < value.length(); begin += kBatchRows) {
            if (begin % kValuesPerPoll == 0) poll_thread();
            call.accumulator->update(
                group.values<uint32_t>() + begin,
                value.view(begin, std::min(kBatchRows, value.length() - begin)));
        }
    }
}

void AggregateState::output(RowStore& rows, const Poll& poll) {
    settle_distinct();
    for (size_t i = 0; i < key_types_.size(); ++i) {
        poll();
        groups_->output(i, rows.column(i));
    }
    for (size_t i = 0; i < calls_.size(); ++i)
        calls_[i].accumulator->output(groups(), rows.column(key_types_.size() + i));
    rows.set_length(rows.length() + groups());
}

}  // namespace loom::exec
