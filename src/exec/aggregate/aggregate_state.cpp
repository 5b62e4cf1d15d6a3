#include "exec/aggregate/aggregate_state.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "exec/key_hasher.h"
#include "simd/mask.h"

namespace loom::exec {

namespace {

constexpr uint32_t kNoGroup = UINT32_MAX;
// Distinct values between two looks at the stop token: some milliseconds.
constexpr int64_t kValuesPerPoll = 1 << 15;

constexpr plan::Type kGroupType = plan::make_type(plan::TypeId::kInt4);

// With one group, values need not name it.
std::vector<plan::Type> pair_types(bool grouped, plan::Type value) {
    if (!grouped) return {value};
    return {kGroupType, value};
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
            call.distinct =
                std::make_unique<GroupTable>(pair_types(!keys.empty(), info.arg), budget);
        for (Call::Room& room : call.rooms)
            for (base::Buffer* buffer :
                 {&room.values, &room.validity, &room.taken, &room.taken_validity})
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
    const uint32_t* ids = update_ordinary(input);
    for (size_t i = 0; i < calls_.size(); ++i)
        if ((*call_info_)[i].distinct) update_call(i, input, ids);
}

const uint32_t* AggregateState::update_ordinary(const AggregateInput& input) {
    const uint32_t* ids = nullptr;
    if (groups_ != nullptr) {
        groups_->assign(input.keys, input.length, ids_.as<uint32_t>());
        ids = ids_.as<uint32_t>();
    }
    for (size_t i = 0; i < calls_.size(); ++i)
        if (!(*call_info_)[i].distinct) update_call(i, input, ids);
    return ids;
}

void AggregateState::update_rows(const AggregateInput& input, const uint32_t* groups,
                                 const uint64_t* rows) {
    std::array<uint64_t, kMaskWords> both;
    std::vector<const uint64_t*> filters(calls_.size(), rows);
    AggregateInput some = input;
    some.filters = filters;
    for (size_t i = 0; i < calls_.size(); ++i) {
        if ((*call_info_)[i].distinct) continue;
        if (input.filters[i] != nullptr) {
            std::copy_n(rows, simd::mask_words(input.length), both.data());
            and_mask(both.data(), input.filters[i], input.length);
            filters[i] = both.data();
        }
        update_call(i, some, groups);
    }
}

void AggregateState::update_values(size_t call, std::span<const Vector> keys,
                                   const Vector& values) {
    const uint32_t* ids = nullptr;
    if (groups_ != nullptr) {
        groups_->assign(keys, values.length, ids_.as<uint32_t>());
        ids = ids_.as<uint32_t>();
    }
    add_values(call, ids, values);
}

// Keeps the rows at `positions`.
void AggregateState::take(Vector& arg, const uint16_t* positions, int64_t count, Call::Room& room) {
    arg.length = count;
    if (arg.values == nullptr) return;
    const int width = plan::width(plan::physical(arg.type));
    room.taken.resize_discarding(static_cast<uint64_t>(count) * width);
    gather_values(arg.values, width, positions, count, room.taken.data());
    arg.values = room.taken.data();
    if (arg.validity == nullptr) return;
    room.taken_validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
    gather_bits(arg.validity, positions, count, room.taken_validity.data());
    arg.validity = room.taken_validity.data();
}

void AggregateState::update_call(size_t index, const AggregateInput& input, const uint32_t* ids) {
    Call& call = calls_[index];
    const AggregateCall& info = (*call_info_)[index];
    call.accumulator->resize(groups());
    const uint64_t* filter = input.filters[index];
    Vector args[2];  // those that there are not have no values
    if (info.slot >= 0)
        args[0] = to_plain(input.args[index], call.rooms[0].values, call.rooms[0].validity);
    if (info.second_slot >= 0)
        args[1] = to_plain(input.second_args[index], call.rooms[1].values, call.rooms[1].validity);
    for (Vector& arg : args) arg.length = input.length;
    if (filter != nullptr) {
        auto* positions = positions_.as<uint16_t>();
        const int64_t kept = simd::mask_to_selection(filter, input.length, positions);
        if (kept == 0) return;
        for (size_t i = 0; i < 2; ++i) take(args[i], positions, kept, call.rooms[i]);
        if (ids != nullptr) {
            gather_values(ids, sizeof(uint32_t), positions, kept, call_ids_.data());
            ids = call_ids_.as<uint32_t>();
        }
    }
    if (info.second_slot >= 0) return call.accumulator->update_pairs(ids, args[0], args[1]);
    if (call.distinct == nullptr) return call.accumulator->update(ids, args[0]);
    add_values(index, ids, args[0]);
}

// The distinct values of all groups are collected; they are aggregated at the end.
void AggregateState::add_values(size_t index, const uint32_t* ids, const Vector& values) {
    uint32_t numbers[kBatchRows];
    Vector group;
    group.type = kGroupType;
    group.length = values.length;
    group.values = ids;
    const Vector keys[] = {group, values};
    calls_[index].distinct->assign(std::span(keys).subspan(ids == nullptr ? 1 : 0), values.length,
                                   numbers);
}

GroupMap AggregateState::merge(AggregateState& from, Part part, const Poll& poll,
                               const std::vector<uint32_t>* groups) {
    GroupMap map(groups != nullptr ? groups->size() : static_cast<size_t>(from.groups()));
    for (size_t i = 0; i < map.size(); ++i)
        map[i].from = groups != nullptr ? (*groups)[i] : static_cast<uint32_t>(i);
    if (map.empty()) return map;
    if (groups_ != nullptr) groups_->assign_groups(*from.groups_, map, poll);
    for (size_t i = 0; i < calls_.size(); ++i) {
        poll();
        Accumulator& target = *calls_[i].accumulator;
        Accumulator& source = *from.calls_[i].accumulator;
        target.resize(this->groups());
        if (part == Part::kOrdinary && (*call_info_)[i].distinct) continue;
        if (calls_[i].distinct != nullptr) {
            merge_distinct(i, from, map);
            continue;
        }
        // Several may merge from one state at a time, so it is not resized here.
        target.merge(source, map);
    }
    return map;
}

void AggregateState::merge_values(AggregateState& from, const std::vector<size_t>& calls) {
    GroupMap map(static_cast<size_t>(from.groups()));
    base::Buffer values(budget_);
    base::Buffer validity(budget_);
    const int32_t zero = 0;
    const int32_t* targets = &zero;
    if (from.groups_ != nullptr) targets = from.groups_->view(0, values, validity).as<int32_t>();
    for (size_t i = 0; i < map.size(); ++i)
        map[i] = {static_cast<uint32_t>(i), static_cast<uint32_t>(targets[i])};
    for (size_t i = 0; i < calls.size(); ++i) {
        Accumulator& target = *calls_[calls[i]].accumulator;
        target.resize(groups());
        target.merge(*from.calls_[i].accumulator, map);
    }
}

const uint32_t* AggregateState::pair_groups(const Call& call, base::Buffer& room) const {
    const auto pairs = static_cast<uint64_t>(call.distinct->groups());
    if (groups_ != nullptr) {
        base::Buffer validity(budget_);
        return call.distinct->view(0, room, validity).as<uint32_t>();
    }
    room.resize_discarding(pairs * sizeof(uint32_t));
    std::memset(room.data(), 0, pairs * sizeof(uint32_t));
    return room.as<uint32_t>();
}

AggregateState::Pairs AggregateState::split_pairs(size_t index, HashRange range) const {
    const Call& call = calls_[index];
    Pairs pairs{base::Buffer(budget_), base::Buffer(budget_), base::Buffer(budget_), {}, {}};
    const size_t value = groups_ != nullptr ? 1 : 0;
    pair_groups(call, pairs.group_numbers);
    pairs.values = call.distinct->view(value, pairs.value_room, pairs.validity);
    pairs.rows.resize(static_cast<size_t>(range.count()));
    std::vector<uint64_t> hashes(static_cast<size_t>(call.distinct->groups()));
    call.distinct->hash_key(value, hashes.data());
    poll_thread();
    for (size_t i = 0; i < hashes.size(); ++i)
        pairs.rows[range.partition(hashes[i])].push_back(static_cast<uint32_t>(i));
    return pairs;
}

void AggregateState::visit_distinct(size_t index, const VisitValues& visit) const {
    const GroupTable& table = *calls_[index].distinct;
    const size_t key = groups_ != nullptr ? 1 : 0;
    base::Buffer room(budget_);
    base::Buffer validity(budget_);
    base::Buffer hashes(budget_);
    hashes.resize(static_cast<uint64_t>(table.groups()) * sizeof(uint64_t));
    table.hash_key(key, hashes.as<uint64_t>());
    Vector all = table.view(key, room, validity);
    const auto* values = all.as<uint8_t>();
    const int width = plan::width(plan::physical(all.type));
    const int64_t length = all.length;
    for (int64_t begin = 0; begin < length; begin += kBatchRows) {
        poll_thread();
        all.length = std::min(kBatchRows, length - begin);
        all.values = values + begin * width;
        all.validity = validity.data() + begin / 8;
        visit(all, hashes.as<uint64_t>() + begin);
    }
}

void AggregateState::merge_distinct(size_t index, const AggregateState& from, const GroupMap& map) {
    std::vector<uint32_t> targets(static_cast<size_t>(from.groups()), kNoGroup);
    for (const auto [known, target] : map) targets[known] = target;
    const Call& source = from.calls_[index];
    base::Buffer room(budget_);
    base::Buffer values(budget_);
    base::Buffer validity(budget_);
    const uint32_t* groups = from.pair_groups(source, room);
    const Vector all = source.distinct->view(groups_ != nullptr ? 1 : 0, values, validity);
    std::vector<uint32_t> chosen;
    std::vector<uint32_t> mapped;
    for (int64_t i = 0; i < all.length; ++i) {
        if (i % kValuesPerPoll == 0) poll_thread();
        const uint32_t target = targets[groups[i]];
        if (target == kNoGroup) continue;
        chosen.push_back(static_cast<uint32_t>(i));
        mapped.push_back(target);
    }
    base::Buffer taken(budget_);
    base::Buffer taken_validity(budget_);
    const auto length = static_cast<int64_t>(chosen.size());
    for (int64_t begin = 0; begin < length; begin += kBatchRows) {
        poll_thread();
        const int64_t count = std::min(kBatchRows, length - begin);
        const Vector rows = take_rows(all, chosen.data() + begin, count, taken, taken_validity);
        add_values(index, groups_ != nullptr ? mapped.data() + begin : nullptr, rows);
    }
}

void AggregateState::settle_distinct() {
    for (base::Buffer* buffer : {&ids_, &call_ids_, &positions_}) buffer->release();
    for (size_t i = 0; i < calls_.size(); ++i) {
        Call& call = calls_[i];
        for (Call::Room& room : call.rooms)
            for (base::Buffer* buffer :
                 {&room.values, &room.validity, &room.taken, &room.taken_validity})
                buffer->release();
        call.accumulator->resize(groups());
        if (call.distinct == nullptr) continue;
        base::Buffer room(budget_);
        base::Buffer values(budget_);
        base::Buffer validity(budget_);
        const uint32_t* groups = pair_groups(call, room);
        const Vector all = call.distinct->view(groups_ != nullptr ? 1 : 0, values, validity);
        poll_thread();
        if (all.length > 0) call.accumulator->update(groups, all);
        call.distinct.reset();
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
