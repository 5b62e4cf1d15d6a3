#include "gpu/run/partial_groups.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "exec/aggregate/exact_sum.h"
#include "gpu/codegen/expression_text.h"

namespace loom::gpu {

using exec::AggregateKind;

namespace {

bool is_count(AggregateKind kind) {
    return kind == AggregateKind::kCount || kind == AggregateKind::kCountRows;
}
bool is_sum(AggregateKind kind) {
    return kind == AggregateKind::kSum || kind == AggregateKind::kAverage;
}

[[noreturn]] void too_large() {
    throw NotInKernels{"a sum that may need more than 128 bits"};
}

void rescale(GroupState& state, int scale) {
    for (; state.scale < scale; ++state.scale)
        if (__builtin_mul_overflow(state.value, 10, &state.value)) too_large();
}

void merge(const GroupResult& result, GroupState& to, GroupState from) {
    if (is_count(result.kind)) {
        to.value += from.value;
        return;
    }
    if (from.count == 0) return;
    if (to.count == 0) {
        to = from;
        return;
    }
    to.count += from.count;
    if (!is_sum(result.kind)) {
        to.value = result.least ? std::min(to.value, from.value) : std::max(to.value, from.value);
        return;
    }
    rescale(to, from.scale);
    rescale(from, to.scale);
    if (__builtin_add_overflow(to.value, from.value, &to.value)) too_large();
    to.shown = std::max(to.shown, from.shown);
}

std::vector<plan::Type> first_of(const std::vector<plan::Type>& types, size_t count) {
    return {types.begin(), types.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

void put_result(const GroupResult& result, GroupState state, plan::Type type, size_t column,
                DeviceRows& rows) {
    if (is_count(result.kind)) {
        rows.add_integer(column, state.value);
        return;
    }
    if (state.count == 0) {
        rows.add_null(column);
        return;
    }
    if (!is_sum(result.kind)) {
        rows.add_integer(column, state.value);
        return;
    }
    if (result.shows_scale)
        for (; state.scale > state.shown; --state.scale) state.value /= 10;
    if (result.shows_scale && result.kind == AggregateKind::kSum) {
        plan::Decimal value{0, state.scale};
        exec::put_exact_sum(plan::make_numeric(plan::kMaxPrecision, 0), state.value, 0, state.count,
                            reinterpret_cast<uint8_t*>(&value.unscaled));
        std::memcpy(rows.add_value(column), &value, sizeof value);
        return;
    }
    exec::put_exact_sum(type, state.value, state.scale, state.count, rows.add_value(column));
}

GroupMerger::GroupMerger(std::vector<plan::Type> output, size_t keys)
    : output_(std::move(output)), all_(first_of(output_, keys)) {}

void GroupMerger::add(const PartialGroups& part) {
    const size_t keys = all_.keys.columns();
    const size_t results = part.results.size();
    all_.results = part.results;
    for (int64_t row = 0; row < part.keys.rows(); ++row) {
        std::string bytes;
        for (size_t c = 0; c < keys; ++c) part.keys.append_bytes(c, row, bytes);
        const auto [at, fresh] =
            groups_.try_emplace(std::move(bytes), static_cast<size_t>(all_.keys.rows()));
        const GroupState* from = part.states.data() + static_cast<size_t>(row) * results;
        if (fresh) {
            for (size_t c = 0; c < keys; ++c) all_.keys.add_from(part.keys, c, row);
            all_.keys.end_row();
            all_.states.insert(all_.states.end(), from, from + results);
            continue;
        }
        for (size_t i = 0; i < results; ++i)
            merge(all_.results[i], all_.states[at->second * results + i], from[i]);
    }
}

std::unique_ptr<DeviceRows> GroupMerger::rows() const {
    auto rows = std::make_unique<DeviceRows>(output_);
    const size_t keys = all_.keys.columns();
    const size_t results = all_.results.size();
    for (int64_t row = 0; row < all_.keys.rows(); ++row) {
        for (size_t c = 0; c < keys; ++c) rows->add_from(all_.keys, c, row);
        for (size_t i = 0; i < results; ++i)
            put_result(all_.results[i], all_.states[static_cast<size_t>(row) * results + i],
                       output_[keys + i], keys + i, *rows);
        rows->end_row();
    }
    return rows;
}

}  // namespace loom::gpu
