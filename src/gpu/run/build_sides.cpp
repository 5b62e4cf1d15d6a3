#include "gpu/run/build_sides.h"

#include <algorithm>
#include <bit>

#include "gpu/codegen/expression_facts.h"
#include "gpu/codegen/expression_text.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;
using plan::Physical;

namespace {

// Places of a build side's bitmap at most: 128 MB of bits, and as many codes.
constexpr uint64_t kMostPlaces = uint64_t{1} << 30;
constexpr uint32_t kSetSlots = 1U << 17;
// Bits of a group key that is numbered together with others; more are hardly few values.
constexpr int kMostFieldBits = 32;

int bytes_for(uint64_t most) {
    return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

}  // namespace

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

BuildSides::BuildSides(std::vector<Bound>& bound) : bound_(bound), builds_(bound.size() - 1) {
    unusable_.resize(bound.size());
    // Build sides come before the pipelines that probe them.
    for (size_t i = 0; i < bound.size(); ++i) {
        find_payloads(i);
        if (i < builds_.size()) plan_keys(i);
    }
    for (Bound& each : bound)
        for (const PipelineJoin& join : each.pipeline->joins)
            each.data.builds.push_back(&builds_[static_cast<size_t>(join.build)].table);
}

// What is known of the values of build sides' columns. They are held as numbers above the least,
// which therefore is their origin.
void BuildSides::find_payloads(size_t at) {
    const Pipeline& pipeline = *bound_[at].pipeline;
    unusable_[at].assign(pipeline.slots.size(), false);
    for (size_t s = 0; s < pipeline.slots.size(); ++s) {
        const Slot& slot = pipeline.slots[s];
        if (slot.kind != Slot::Kind::kPayload) continue;
        const size_t build = build_of(at, slot.join);
        const Expr& value = bound_[build].pipeline->payload[static_cast<size_t>(slot.index)];
        const PipelineData& made = bound_[build].data;
        ScanColumn& column = bound_[at].data.columns[s];
        column = {};
        column.type = slot.type;
        bool usable = true;
        if (value.kind == ExprKind::kColumn) {
            const ScanColumn& from = made.columns[static_cast<size_t>(value.index)];
            column = from;
            usable = is_usable(build, value.index);
        } else {
            const ExpressionFacts facts(
                [&](int index) -> const ScanColumn& {
                    return made.columns[static_cast<size_t>(index)];
                },
                made.parameters);
            const ValueBounds bounds = facts.bounds(value);
            column.layout.nullable = facts.may_be_null(value);
            usable = is_integer(slot.type) && bounds.fits_64();
            if (usable && !bounds.none()) {
                column.min = static_cast<int64_t>(bounds.low);
                column.max = static_cast<int64_t>(bounds.high);
            }
        }
        column.origin = column.has_values() ? column.min : 0;
        const uint64_t values = column.has_values() ? column.reach() : 0;
        column.layout.encoding = values <= UINT32_MAX && (values > 0 || !column.has_values())
                                     ? Encoding::kOffset32
                                     : Encoding::kWide;
        unusable_[at][s] = !usable;
    }
}

void BuildSides::plan_keys(size_t build) {
    const Bound& made = bound_[build];
    const Expr& key = made.pipeline->build_keys[0];
    if (key.kind != ExprKind::kColumn) throw NotInKernels{"a key of a join that is no column"};
    BuildTable& table = builds_[build].table;
    const ScanColumn& column = made.data.columns[static_cast<size_t>(key.index)];
    if (column.dictionary) throw NotInKernels{"a join of texts"};
    if (column.layout.encoding == Encoding::kWide)
        throw NotInKernels{"a join on a key of widely spread values"};
    if (column.has_values()) {
        table.origin = column.min & ~int64_t{31};
        table.span = static_cast<uint64_t>(column.max) - static_cast<uint64_t>(table.origin) + 1;
    } else {
        table.span = 1;
    }
    if (table.span > kMostPlaces) throw NotInKernels{"a join on a key of widely spread values"};
}

// --- what is kept
// ----------------------------------------------------------------------------------------

void BuildSides::restart() {
    for (Build& build : builds_) {
        build.table.fields.clear();
        build.table.payloads.clear();
    }
    for (size_t i = 0; i < bound_.size(); ++i) {
        const Pipeline& pipeline = *bound_[i].pipeline;
        for (const PipelineStep& step : pipeline.steps)
            if (step.kind == PipelineStep::Kind::kFilter) keep(i, step.predicate);
        for (const PipelineJoin& join : pipeline.joins)
            for (const Expr& key : join.keys) keep(i, key);
        for (const Expr& key : pipeline.build_keys) keep(i, key);
    }
}

void BuildSides::drop_fields() {
    for (Build& build : builds_) build.table.fields.clear();
}

void BuildSides::keep(size_t pipeline, const Expr& expr) {
    for (const int slot : plan::columns_of(expr)) keep_payload(pipeline, slot);
}

void BuildSides::keep_payload(size_t pipeline, int slot) {
    const Slot& read = bound_[pipeline].pipeline->slots[static_cast<size_t>(slot)];
    if (read.kind != Slot::Kind::kPayload) return;
    const size_t build = build_of(pipeline, read.join);
    BuildTable& table = builds_[build].table;
    if (table.find(read.index) != nullptr) return;
    if (!is_usable(pipeline, slot))
        throw NotInKernels{"a column of a build side of type " + plan::to_string(read.type)};
    const ScanColumn& column = bound_[pipeline].data.columns[static_cast<size_t>(slot)];
    PayloadArray array;
    array.payload = read.index;
    array.column = column;
    const uint64_t values = column.has_values() ? column.reach() : 0;
    if (values == 0 && column.has_values() && column.layout.nullable)
        throw NotInKernels{"a column of a build side of all integers, and NULL"};
    array.bytes = values == 0 && column.has_values() ? 8 : bytes_for(values);
    table.payloads.push_back(std::move(array));
    // It may come from a build side further down.
    keep(build, bound_[build].pipeline->payload[static_cast<size_t>(read.index)]);
}

bool BuildSides::add_field(size_t pipeline, int slot) {
    const Slot& read = bound_[pipeline].pipeline->slots[static_cast<size_t>(slot)];
    if (!is_usable(pipeline, slot)) return false;
    const size_t build = build_of(pipeline, read.join);
    GroupField field;
    field.payload = read.index;
    field.column = bound_[pipeline].data.columns[static_cast<size_t>(slot)];
    if (field.column.layout.encoding == Encoding::kWide) return false;
    const uint64_t numbers = field.numbers();
    std::vector<GroupField>& fields = builds_[build].table.fields;
    field.shift = fields.empty() ? 0 : fields.back().shift + fields.back().bits;
    field.bits = numbers > 1 ? std::bit_width(numbers - 1) : 0;
    if (field.bits > kMostFieldBits || field.shift + field.bits > 63) return false;
    fields.push_back(field);
    keep(build, bound_[build].pipeline->payload[static_cast<size_t>(read.index)]);
    return true;
}

// --- memory
// ----------------------------------------------------------------------------------------

void BuildSides::reserve(Arena& arena) {
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

void BuildSides::settle() {
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
