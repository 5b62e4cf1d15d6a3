#include "gpu/run/build_sides.h"

#include <algorithm>
#include <bit>

#include "gpu/codegen/expression_facts.h"
#include "gpu/codegen/expression_text.h"
#include "gpu/runtime/group.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;
using plan::Physical;

namespace {

// Places of a build side at most: 128 MB of bits, and as many codes.
constexpr uint64_t kMostPlaces = uint64_t{1} << 30;
// Places beyond these are too many if few of them have a row.
constexpr uint64_t kFewPlaces = uint64_t{1} << 22;
constexpr uint64_t kMostPlacesPerRow = 64;
// A second set of words has room for so many times more.
constexpr uint64_t kGrowth = 64;
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
        for (const PipelineJoin& join : each.pipeline->joins) {
            BuildTable& table = builds_[static_cast<size_t>(join.build)].table;
            table.unique = join.needs_unique();
            each.data.builds.push_back(&table);
        }
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
        const PipelineJoin& join = pipeline.joins[static_cast<size_t>(slot.join)];
        if (join.type == plan::JoinType::kLeft) column.layout.nullable = true;
        column.origin = column.has_values() ? column.min : 0;
        const uint64_t values = column.has_values() ? column.reach() : 0;
        column.layout.encoding = values <= UINT32_MAX && (values > 0 || !column.has_values())
                                     ? Encoding::kOffset32
                                     : Encoding::kWide;
        unusable_[at][s] = !usable;
    }
}

// Rows lie by key if there is one, and its values are near one another; else they are hashed.
void BuildSides::plan_keys(size_t at) {
    const Bound& made = bound_[at];
    Build& build = builds_[at];
    const ExpressionFacts facts(
        [&](int slot) -> const ScanColumn& { return made.data.columns[static_cast<size_t>(slot)]; },
        made.data.parameters);
    std::vector<ValueBounds> bounds;
    for (const Expr& key : made.pipeline->build_keys) {
        if (!is_integer(key.type))
            throw NotInKernels{"a join on a key of type " + plan::to_string(key.type)};
        bounds.push_back(facts.bounds(key));
        build.table.nullable_keys = build.table.nullable_keys || facts.may_be_null(key);
        if (!bounds.back().fits_64()) throw NotInKernels{"a key of a join of many digits"};
    }
    BuildTable& table = build.table;
    if (bounds.size() == 1 && bounds[0].none()) {
        table.span = 1;
        return;
    }
    if (bounds.size() == 1) {
        const auto least = static_cast<int64_t>(bounds[0].low);
        table.origin = least & ~int64_t{31};
        const __int128 span = bounds[0].high - table.origin + 1;
        const auto most =
            std::max<__int128>(kFewPlaces, __int128{made.data.rows} * kMostPlacesPerRow);
        if (span <= std::min<__int128>(most, kMostPlaces)) {
            table.span = static_cast<uint64_t>(span);
            return;
        }
    }
    int shift = 0;
    for (const ValueBounds& each : bounds) {
        KeyPart part;
        part.shift = std::min(shift, 63);
        if (!each.none()) {
            if (each.high - each.low >= INT64_MAX)
                throw NotInKernels{"a join on a key of widely spread values"};
            part.least = static_cast<int64_t>(each.low);
            part.values = static_cast<uint64_t>(each.high - each.low) + 1;
            shift += part.values > 1 ? std::bit_width(part.values - 1) : 0;
        }
        table.hashed.push_back(part);
    }
    // A word of all ones is none.
    if (shift > 63) throw NotInKernels{"keys of a join of many bits"};
    build.room = static_cast<uint64_t>(std::clamp(made.pipeline->kept * 1.5, 0.0, 1e15));
    set_room(build, most_rows(at));
}

void BuildSides::set_room(Build& build, uint64_t rows) {
    build.room = std::min(std::max<uint64_t>(build.room, KeySet::kMostTries / 2), rows);
    const uint64_t slots =
        std::bit_ceil(std::max<uint64_t>(build.room * 2, uint64_t{KeySet::kMostTries}));
    if (slots > kMostPlaces) throw NotInKernels{"a build side of so many rows"};
    build.table.span = slots;
}

void BuildSides::grow() {
    bool any = false;
    for (size_t i = 0; i < builds_.size(); ++i) {
        Build& build = builds_[i];
        const uint64_t rows = most_rows(i);
        if (!build.table.hashed.empty() && build.room < rows) {
            build.room = std::max(build.room * kGrowth, uint64_t{1});
            set_room(build, rows);
            any = true;
        }
        if (build.table.has_lists() && build.table.row_room < std::min(rows, kMostPlaces)) {
            build.table.row_room = static_cast<uint32_t>(
                std::min({build.table.row_room * kGrowth, rows, kMostPlaces}));
            any = true;
        }
    }
    if (!any) throw NotInKernels{"keys of a join that no set has room for"};
}

void BuildSides::keep_lists(uint32_t builds) {
    for (size_t i = 0; i < builds_.size(); ++i) {
        BuildTable& table = builds_[i].table;
        if ((builds & duplicate_bit(i)) == 0 || !table.unique) continue;
        table.unique = false;
        const auto wanted =
            std::max(bound_[i].data.rows,
                     static_cast<uint64_t>(std::clamp(bound_[i].pipeline->kept * 1.5, 1.0, 1e15)));
        table.row_room = static_cast<uint32_t>(
            std::min({wanted, std::max<uint64_t>(most_rows(i), 1), kMostPlaces}));
    }
}

uint64_t BuildSides::most_rows(size_t pipeline) const {
    uint64_t rows = bound_[pipeline].data.rows;
    for (const PipelineJoin& join : bound_[pipeline].pipeline->joins) {
        const auto build = static_cast<size_t>(join.build);
        const bool all = join.type == plan::JoinType::kInner || join.type == plan::JoinType::kLeft;
        if (!all || !builds_[build].table.has_lists()) continue;
        if (__builtin_mul_overflow(rows, std::max<uint64_t>(1, most_rows(build)), &rows))
            return UINT64_MAX;
    }
    return rows;
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
            if (step.kind != PipelineStep::Kind::kJoin) keep(i, step.predicate);
        for (const PipelineJoin& join : pipeline.joins) {
            for (const Expr& key : join.keys) keep(i, key);
            for (const Expr& condition : join.conditions) keep(i, condition);
        }
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
        build.keys = table.hashed.empty() ? arena.reserve((table.span / 32 + 8) * 4, 0)
                                          : arena.reserve(table.span * 8, 0xff);
        build.payloads.clear();
        for (const PayloadArray& array : table.payloads)
            // Read where a row has been found.
            build.payloads.push_back(arena.reserve_unfilled(table.payload_places() *
                                                            static_cast<uint64_t>(array.bytes)));
        if (table.has_lists()) {
            build.first_rows = arena.reserve(table.span * 4, 0xff);
            build.next_rows = arena.reserve_unfilled(uint64_t{table.row_room} * 4);
            build.row_count = arena.reserve(4, 0);
        }
        if (table.fields.empty()) continue;
        table.set_slots = kSetSlots;
        build.codes = arena.reserve(table.span * static_cast<uint64_t>(table.code_bytes), 0xff);
        build.set_words = arena.reserve(uint64_t{kSetSlots} * 8, 0xff);
        build.set_numbers = arena.reserve(uint64_t{kSetSlots} * 4, 0);
        build.set_in_order = arena.reserve_result(uint64_t{kSetSlots} / 2 * 8);
        build.set_count = arena.reserve_result(4);
    }
}

void BuildSides::settle() {
    for (Build& build : builds_) {
        (build.table.hashed.empty() ? build.table.bitmap : build.table.key_words) = *build.keys;
        for (size_t i = 0; i < build.payloads.size(); ++i)
            build.table.payloads[i].address = *build.payloads[i];
        if (build.table.has_lists()) {
            build.table.first_rows = *build.first_rows;
            build.table.next_rows = *build.next_rows;
            build.table.row_count = *build.row_count;
        }
        if (build.table.fields.empty()) continue;
        build.table.codes = *build.codes;
        build.table.set_words = *build.set_words;
        build.table.set_numbers = *build.set_numbers;
        build.table.set_in_order = *build.set_in_order;
        build.table.set_count = *build.set_count;
    }
}

}  // namespace loom::gpu
