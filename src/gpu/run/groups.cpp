#include "gpu/run/groups.h"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/core.h>

#include "gpu/codegen/expression_text.h"

namespace loom::gpu {

using exec::AggregateKind;
using plan::Expr;
using plan::ExprKind;
using plan::Physical;

namespace {

// Groups that sums are kept for by numbers that are made of their keys.
constexpr uint64_t kMostGroups = uint64_t{1} << 22;
// A value of each row is a part of the group's number if there are no more than these.
constexpr uint64_t kMostDirect = 65536;
constexpr uint32_t kSetSlots = 1U << 17;
// Groups that a set of words has room for at most, and at first where the planner knows of few.
constexpr uint64_t kMostWords = uint64_t{1} << 25;
constexpr uint64_t kLeastWords = 4096;
// A second set is so much larger.
constexpr uint64_t kGrowth = 64;

bool is_integer(plan::Type type) {
    switch (plan::physical(type)) {
        case Physical::kBool:
        case Physical::kInt16:
        case Physical::kInt32:
        case Physical::kInt64:
        case Physical::kInt128:
            return !plan::is_opaque(type);
        default:
            return false;
    }
}

uint64_t saturating_product(uint64_t a, uint64_t b) {
    uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

int bytes_for(uint64_t most) {
    return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

}  // namespace

Groups::Groups(const plan::Operator& aggregate, std::vector<Bound>& bound,
               std::vector<Build>& builds, std::span<const plan::ParameterValue> parameters)
    : aggregate_(aggregate),
      bound_(bound),
      builds_(builds),
      facts_(
          [this](int slot) -> const ScanColumn& {
              return last().data.columns[static_cast<size_t>(slot)];
          },
          parameters) {
    find_payloads();
}

Build& Groups::build_of(int join) const {
    return builds_[static_cast<size_t>(last().pipeline->joins[static_cast<size_t>(join)].build)];
}

const Bound& Groups::made_by(int join) const {
    return bound_[static_cast<size_t>(last().pipeline->joins[static_cast<size_t>(join)].build)];
}

const Expr& Groups::payload_of(const Slot& slot) const {
    return made_by(slot.join).pipeline->payload[static_cast<size_t>(slot.index)];
}

// --- what is kept of build sides
// -------------------------------------------------------------------------

// What is known of the values of build sides' columns.
void Groups::find_payloads() {
    const Pipeline& pipeline = *last().pipeline;
    unusable_.assign(pipeline.slots.size(), false);
    for (size_t s = 0; s < pipeline.slots.size(); ++s) {
        const Slot& slot = pipeline.slots[s];
        if (slot.kind != Slot::Kind::kPayload) continue;
        const Expr& value = payload_of(slot);
        const PipelineData& made = made_by(slot.join).data;
        ScanColumn& column = last().data.columns[s];
        if (value.kind == ExprKind::kColumn) {
            column = made.columns[static_cast<size_t>(value.index)];
            continue;
        }
        column.type = slot.type;
        unusable_[s] = true;
        if (!is_integer(slot.type)) continue;
        const ExpressionFacts facts(
            [&](int index) -> const ScanColumn& {
                return made.columns[static_cast<size_t>(index)];
            },
            made.parameters);
        const ValueBounds bounds = facts.bounds(value);
        column.layout.nullable = facts.may_be_null(value);
        if (!bounds.fits_64()) continue;
        unusable_[s] = false;
        if (bounds.none()) continue;
        column.min = static_cast<int64_t>(bounds.low);
        column.max = static_cast<int64_t>(bounds.high);
    }
}

// Keeps the columns of build sides that an expression reads.
void Groups::keep(const Expr& expr) {
    for (const int index : plan::columns_of(expr)) {
        const Slot& read = slot(index);
        if (read.kind != Slot::Kind::kPayload) continue;
        BuildTable& table = build_of(read.join).table;
        if (table.find(read.index) != nullptr) continue;
        const ScanColumn& column = last().data.columns[static_cast<size_t>(index)];
        if (unusable_[static_cast<size_t>(index)])
            throw NotInKernels{"a column of a build side of type " + plan::to_string(read.type)};
        PayloadArray array;
        array.payload = read.index;
        array.column = column;
        const uint64_t values = column.has_values() ? column.reach() : 0;
        if (values == 0 && column.has_values() && column.layout.nullable)
            throw NotInKernels{"a column of a build side of all integers, and NULL"};
        array.bytes = values == 0 && column.has_values() ? 8 : bytes_for(values);
        table.payloads.push_back(std::move(array));
    }
}

// --- how rows find their groups
// --------------------------------------------------------------------------

void Groups::plan() {
    const Pipeline& pipeline = *last().pipeline;
    table_ = {};
    results_.clear();
    for (Build& build : builds_) {
        build.table.fields.clear();
        build.table.payloads.clear();
    }
    for (const PipelineStep& step : pipeline.steps)
        if (step.kind == PipelineStep::Kind::kFilter) keep(step.predicate);
    if (words_only_ || !by_number()) {
        words_only_ = true;
        table_.parts.clear();
        for (Build& build : builds_) build.table.fields.clear();
        by_word();
    }
    for (const plan::Aggregate& call : pipeline.aggregates) {
        for (const Expr& arg : call.args) keep(arg);
        for (const Expr& condition : call.filter) keep(condition);
        add_aggregate(call);
    }
}

bool Groups::by_number() {
    const Pipeline& pipeline = *last().pipeline;
    std::map<int, size_t> part_of_join;
    for (size_t k = 0; k < pipeline.keys.size(); ++k) {
        const Expr& key = pipeline.keys[k];
        const int number = static_cast<int>(k);
        if (key.kind != ExprKind::kColumn) {
            if (!add_computed_part(key, number)) return false;
            continue;
        }
        const Slot& of = slot(key.index);
        if (of.kind == Slot::Kind::kScan) {
            if (!add_direct_part(key.index, number)) return false;
            continue;
        }
        const auto [at, fresh] = part_of_join.emplace(of.join, table_.parts.size());
        if (fresh) {
            table_.parts.emplace_back();
            table_.parts.back().join = of.join;
        }
        table_.parts[at->second].keys.push_back(number);
        if (!add_field(of)) return false;
    }
    for (GroupPart& part : table_.parts) {
        if (part.join >= 0) finish_build_part(part);
        table_.most = saturating_product(table_.most, part.most);
    }
    return table_.most <= kMostGroups;
}

bool Groups::add_direct_part(int slot, int key) {
    const ScanColumn& column = last().data.columns[static_cast<size_t>(slot)];
    GroupPart part;
    part.slot = slot;
    part.keys = {key};
    if (column.layout.encoding == Encoding::kWide) return false;
    part.most = (column.has_values() ? column.reach() : 0) + (column.layout.nullable ? 1 : 0);
    if (part.most > kMostDirect) return false;
    part.most = std::max<uint64_t>(1, part.most);
    table_.parts.push_back(std::move(part));
    return true;
}

bool Groups::add_computed_part(const Expr& value, int key) {
    GroupPart part;
    part.computed = key_of(value, key);
    part.keys = {key};
    part.most = part.computed->values + (part.computed->nullable ? 1 : 0);
    if (part.most > kMostDirect || part.most < part.computed->values) return false;
    part.most = std::max<uint64_t>(1, part.most);
    keep(value);
    table_.parts.push_back(std::move(part));
    return true;
}

bool Groups::add_field(const Slot& slot) {
    const Expr& payload = payload_of(slot);
    if (payload.kind != ExprKind::kColumn) return false;
    GroupField field;
    field.payload = slot.index;
    field.column = made_by(slot.join).data.columns[static_cast<size_t>(payload.index)];
    if (field.column.layout.encoding == Encoding::kWide) return false;
    std::vector<GroupField>& fields = build_of(slot.join).table.fields;
    field.shift = fields.empty()
                      ? 0
                      : fields.back().shift + fields.back().bits + (fields.back().null_bit ? 1 : 0);
    field.bits = field.column.has_values() ? std::bit_width(field.column.reach() - 1) : 0;
    field.null_bit = field.column.layout.nullable;
    if (field.shift + field.bits + 1 > 63) return false;
    fields.push_back(field);
    return true;
}

void Groups::finish_build_part(GroupPart& part) {
    BuildTable& table = build_of(part.join).table;
    uint64_t most = 1;
    for (const GroupField& field : table.fields) {
        const uint64_t values = (field.column.has_values() ? field.column.reach() : 0) + 1;
        most = std::min<uint64_t>(most * values, 65535);
    }
    part.most = most;
    table.code_bytes = most <= 255 ? 1 : 2;
}

// How a value becomes a number.
GroupKey Groups::key_of(const Expr& value, int key) const {
    if (value.kind != ExprKind::kColumn && !is_integer(value.type))
        throw NotInKernels{"a group key that is computed, of type " + plan::to_string(value.type)};
    const ValueBounds bounds = facts_.bounds(value);
    GroupKey made;
    made.key = key;
    made.value = value;
    made.nullable = facts_.may_be_null(value);
    made.values = 0;
    if (bounds.none()) return made;
    if (!bounds.fits_64() || bounds.high - bounds.low >= INT64_MAX)
        throw NotInKernels{"a group key of widely spread values"};
    made.least = static_cast<int64_t>(bounds.low);
    made.values = static_cast<uint64_t>(bounds.high - bounds.low) + 1;
    return made;
}

void Groups::by_word() {
    const Pipeline& pipeline = *last().pipeline;
    int shift = 0;
    for (size_t k = 0; k < pipeline.keys.size(); ++k) {
        GroupKey key = key_of(pipeline.keys[k], static_cast<int>(k));
        const uint64_t numbers = key.values + (key.nullable ? 1 : 0);
        key.bits = numbers <= 1 ? 0 : std::bit_width(numbers - 1);
        key.shift = shift;
        shift += key.bits;
        // A word of all ones is none.
        if (shift > 63) throw NotInKernels{"group keys of many bits"};
        keep(key.value);
        table_.hashed.push_back(std::move(key));
    }
    const uint64_t limit = most_words();
    if (room_ == 0) {
        const double estimate = std::clamp(aggregate_.rows * 1.5, 0.0, 1e15);
        room_ = std::max<uint64_t>(kLeastWords, static_cast<uint64_t>(estimate));
    } else {
        if (room_ >= limit) throw NotInKernels{"so many groups"};
        room_ = saturating_product(room_, kGrowth);
    }
    room_ = std::min(room_, limit);
    table_.set_slots = static_cast<uint32_t>(std::bit_ceil(std::max<uint64_t>(room_, 32) * 2));
    table_.most = room_;
}

// No more groups than rows, and than combinations of keys.
uint64_t Groups::most_words() const {
    uint64_t most = 1;
    for (const GroupKey& key : table_.hashed)
        most = saturating_product(most, key.values + (key.nullable ? 1 : 0));
    return std::max<uint64_t>(1, std::min({most, last().rows, kMostWords}));
}

// --- what is kept of each group
// --------------------------------------------------------------------------

int Groups::add_accumulator(Accumulator made) {
    for (size_t i = 0; i < table_.accumulators.size(); ++i) {
        const Accumulator& there = table_.accumulators[i];
        if (there.kind == made.kind && there.least == made.least &&
            there.counts_argument == made.counts_argument &&
            is_same(there.argument, made.argument) &&
            std::equal(there.filter.begin(), there.filter.end(), made.filter.begin(),
                       made.filter.end(), is_same))
            return static_cast<int>(i);
    }
    made.word = table_.words;
    table_.words += made.words();
    table_.accumulators.push_back(std::move(made));
    return static_cast<int>(table_.accumulators.size()) - 1;
}

void Groups::add_aggregate(const plan::Aggregate& call) {
    const plan::Type type =
        call.args.empty() ? plan::make_type(plan::TypeId::kBool) : call.args[0].type;
    const std::optional<AggregateKind> kind =
        call.args.size() > 1 ? std::nullopt : exec::aggregate_kind(call.function, type);
    if (!kind) throw NotInKernels{fmt::format("aggregate {}", call.function)};
    Accumulator made;
    made.filter = call.filter;
    Result result;
    result.kind = *kind;
    // Rows of the group whose argument is not NULL.
    const auto rows = [&](bool evaluate) {
        Accumulator counted;
        counted.filter = call.filter;
        if (facts_.may_be_null(call.args[0]) || (evaluate && may_fault(call.args[0]))) {
            counted.argument = call.args[0];
            counted.counts_argument = true;
        }
        return add_accumulator(std::move(counted));
    };
    const bool may_have_none =
        !call.filter.empty() || (!call.args.empty() && facts_.may_be_null(call.args[0]));
    switch (*kind) {
        case AggregateKind::kCountRows:
            result.value = add_accumulator(std::move(made));
            break;
        case AggregateKind::kCount:
            result.value = rows(true);
            break;
        case AggregateKind::kSum:
        case AggregateKind::kAverage: {
            if (!is_integer(type)) throw NotInKernels{"a sum of type " + plan::to_string(type)};
            const ValueBounds bounds = facts_.bounds(call.args[0]);
            // sum(int2), sum(int4): bigint, which PostgreSQL lets wrap as it adds.
            const bool wraps = plan::physical(call.type) == Physical::kInt64;
            if (!wraps && !bounds.adds_up(last().rows, ValueBounds::SumWidth::k128))
                throw NotInKernels{"a sum that may need more than 128 bits"};
            made.kind = wraps || bounds.adds_up(last().rows, ValueBounds::SumWidth::k64)
                            ? Accumulator::Kind::kSum
                            : Accumulator::Kind::kWideSum;
            made.argument = call.args[0];
            result.scale = type.id == plan::TypeId::kNumeric ? type.scale : 0;
            result.value = add_accumulator(std::move(made));
            if (may_have_none || *kind == AggregateKind::kAverage) result.count = rows(false);
            break;
        }
        case AggregateKind::kMinimum:
        case AggregateKind::kMaximum:
        case AggregateKind::kAnd:
        case AggregateKind::kOr:
            if ((*kind == AggregateKind::kAnd || *kind == AggregateKind::kOr) &&
                type.id != plan::TypeId::kBool)
                throw NotInKernels{fmt::format("aggregate {}", call.function)};
            if (!is_integer(type) || !facts_.bounds(call.args[0]).fits_64())
                throw NotInKernels{"an extreme of type " + plan::to_string(type)};
            made.kind = Accumulator::Kind::kLargest;
            made.least = *kind == AggregateKind::kMinimum || *kind == AggregateKind::kAnd;
            made.argument = call.args[0];
            result.least = made.least;
            result.value = add_accumulator(std::move(made));
            if (may_have_none) result.count = rows(false);
            break;
        default:
            throw NotInKernels{fmt::format("aggregate {}", call.function)};
    }
    results_.push_back(result);
}

// --- memory
// ----------------------------------------------------------------------------------------

void Groups::reserve(Arena& arena) {
    if (table_.hashed.empty()) {
        seen_ = arena.reserve(table_.most, 0);
    } else {
        set_words_ = arena.reserve(uint64_t{table_.set_slots} * 8, 0xff);
        set_numbers_ = arena.reserve(uint64_t{table_.set_slots} * 4, 0);
        set_in_order_ = arena.reserve(table_.most * 8, 0);
        set_count_ = arena.reserve(4, 0);
    }
    sums_ = arena.reserve(static_cast<uint64_t>(table_.words) * table_.most * 8, 0);
    for (Build& build : builds_) {
        BuildTable& table = build.table;
        build.bitmap = arena.reserve((table.span / 32 + 8) * 4, 0);
        build.payloads.clear();
        for (const PayloadArray& array : table.payloads)
            build.payloads.push_back(
                arena.reserve(table.span * static_cast<uint64_t>(array.bytes), 0));
        if (table.fields.empty()) continue;
        table.set_slots = kSetSlots;
        build.codes = arena.reserve(table.span * static_cast<uint64_t>(table.code_bytes), 0xff);
        build.set_words = arena.reserve(uint64_t{kSetSlots} * 8, 0xff);
        build.set_numbers = arena.reserve(uint64_t{kSetSlots} * 4, 0);
        build.set_in_order = arena.reserve(uint64_t{kSetSlots} / 2 * 8, 0);
        build.set_count = arena.reserve(4, 0);
    }
}

void Groups::settle() {
    table_.sums = *sums_;
    if (table_.hashed.empty()) {
        table_.seen = *seen_;
    } else {
        table_.set_words = *set_words_;
        table_.set_numbers = *set_numbers_;
        table_.set_in_order = *set_in_order_;
        table_.set_count = *set_count_;
    }
    for (Build& build : builds_) {
        build.table.bitmap = *build.bitmap;
        for (size_t i = 0; i < build.payloads.size(); ++i)
            build.table.payloads[i].address = *build.payloads[i];
        if (build.table.fields.empty()) continue;
        build.table.codes = *build.codes;
        build.table.set_words = *build.set_words;
        build.table.set_numbers = *build.set_numbers;
        build.table.set_in_order = *build.set_in_order;
        build.table.set_count = *build.set_count;
    }
}

}  // namespace loom::gpu
