#include "gpu/run/groups.h"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/core.h>

#include "gpu/codegen/decimal_parts.h"
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
// Groups that a set of words has room for at most, and at first where the planner knows of few.
constexpr uint64_t kMostWords = uint64_t{1} << 25;
constexpr uint64_t kLeastWords = 4096;
// A second set is so much larger.
constexpr uint64_t kGrowth = 64;

int bits_for(uint64_t numbers) {
    return numbers <= 1 ? 0 : std::bit_width(numbers - 1);
}

uint64_t saturating_product(uint64_t a, uint64_t b) {
    uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

}  // namespace

Groups::Groups(const plan::Operator& aggregate, std::vector<Bound>& bound, BuildSides& builds,
               std::span<const plan::ParameterValue> parameters, TextTables& texts)
    : aggregate_(aggregate),
      bound_(bound),
      builds_(builds),
      parameters_(parameters),
      texts_(texts),
      facts_(
          [this](int slot) -> const ScanColumn& {
              return last().data.columns[static_cast<size_t>(slot)];
          },
          parameters) {}

// --- how rows find their groups
// --------------------------------------------------------------------------

void Groups::plan() {
    const Pipeline& pipeline = *last().pipeline;
    table_ = {};
    results_.clear();
    builds_.restart();
    if (words_only_ || !by_number()) {
        words_only_ = true;
        table_.parts.clear();
        builds_.drop_fields();
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
        // A row without a match has no code, nor have several of one key.
        if (of.kind == Slot::Kind::kPayload &&
            (join_of(of).type == plan::JoinType::kLeft || table_of(of.join).has_lists())) {
            if (!add_computed_part(key, number)) return false;
            continue;
        }
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
        if (!builds_.add_field(builds_.size(), key.index)) return false;
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
    part.most = part.computed->numbers();
    if (part.most > kMostDirect || part.most < part.computed->values) return false;
    part.most = std::max<uint64_t>(1, part.most);
    keep(value);
    table_.parts.push_back(std::move(part));
    return true;
}

void Groups::finish_build_part(GroupPart& part) {
    uint64_t most = 1;
    for (const GroupField& field : table_of(part.join).fields)
        most = std::min<uint64_t>(saturating_product(most, field.values() + 1), 65535);
    part.most = most;
    builds_.set_code_bytes(build_of(part.join), most <= 255 ? 1 : 2);
}

// How a value becomes a number.
GroupKey Groups::key_of(const Expr& value, int key) const {
    if (value.kind != ExprKind::kColumn && value.type.id == plan::TypeId::kText)
        return text_key(value, key);
    if (value.kind != ExprKind::kColumn && !is_integer(value.type))
        throw NotInKernels{"a group key that is computed, of type " + plan::to_string(value.type)};
    // Groups show a value's own scale.
    if (plan::is_decimal(value.type)) throw NotInKernels{"a group key of type numeric"};
    const ValueBounds bounds = facts_.bounds(value);
    GroupKey made;
    made.key = key;
    made.value = value;
    made.nullable = facts_.may_be_null(value);
    made.values = 0;
    if (bounds.none()) return made;  // no bits: NULL or nothing
    if (!bounds.fits_64() || bounds.high - bounds.low >= INT64_MAX)
        throw NotInKernels{"a group key of widely spread values"};
    made.least = static_cast<int64_t>(bounds.low);
    made.values = static_cast<uint64_t>(bounds.high - bounds.low) + 1;
    made.bits = bits_for(made.numbers());
    return made;
}

// A text that is made of the texts of one column.
GroupKey Groups::text_key(const Expr& value, int key) const {
    const std::vector<int> columns = plan::columns_of(value);
    const DeviceColumn* column =
        columns.size() == 1 ? column_of(last(), bound_, columns[0]) : nullptr;
    if (column == nullptr || column->texts == nullptr)
        throw NotInKernels{"a group key that is a text of several columns"};
    GroupKey made;
    made.key = key;
    made.value = value;
    made.texts = texts_.texts(value, columns[0], *column, parameters_);
    made.values = made.texts->texts.size();
    made.nullable = made.texts->has_null;
    made.bits = bits_for(made.numbers());
    return made;
}

void Groups::by_word() {
    const Pipeline& pipeline = *last().pipeline;
    std::vector<GroupKey> keys;
    for (size_t k = 0; k < pipeline.keys.size(); ++k) {
        keys.push_back(key_of(pipeline.keys[k], static_cast<int>(k)));
        keep(keys.back().value);
    }
    merges_ = false;
    carry_keys(keys);
    int shift = 0;
    for (GroupKey& key : keys) {
        key.shift = shift;
        shift += key.bits;
        // A word of all ones is none.
        if (shift > 63) throw NotInKernels{"group keys of many bits"};
    }
    table_.hashed = std::move(keys);
    const uint64_t limit = most_words();
    if (room_ == 0) {
        const double estimate = std::clamp(aggregate_.rows * 1.5, 0.0, 1e15);
        room_ = std::max<uint64_t>(kLeastWords, static_cast<uint64_t>(estimate));
    }
    room_ = std::min(room_, limit);
    table_.set_slots = static_cast<uint32_t>(std::bit_ceil(std::max<uint64_t>(room_, 32) * 2));
    table_.most = room_;
}

// Where a row of a build side lies tells all of its columns.
GroupKey Groups::row_key(int join) const {
    const BuildTable& table = table_of(join);
    GroupKey key;
    key.join = join;
    key.values = table.payload_places();
    key.nullable = last().pipeline->joins[static_cast<size_t>(join)].type == plan::JoinType::kLeft;
    key.bits = bits_for(key.numbers());
    return key;
}

// The same of a row of the scan.
GroupKey Groups::scan_row_key() const {
    uint64_t rows = 1;
    uint64_t blocks = 1;
    for (const Span& span : last().spans) {
        rows = std::max(rows, uint64_t{span.first} * kTileRows +
                                  std::min<uint64_t>(span.rows, uint64_t{span.tiles} * kTileRows));
        blocks = std::max(blocks, uint64_t{span.block} + 1);
    }
    GroupKey key;
    key.row_bits = bits_for(rows);
    key.values = blocks << *key.row_bits;
    key.bits = bits_for(key.values);
    return key;
}

// Puts a row of a build side, or of the scan, in the place of its columns, of those first that take
// the most bits, until all fit a word.
void Groups::carry_keys(std::vector<GroupKey>& keys) {
    constexpr int kScan = -1;
    const auto is_of = [&](const GroupKey& key, int join) {
        if (!key.is_value() || key.value.kind != ExprKind::kColumn) return false;
        const Slot& of = slot(key.value.index);
        return of.kind == Slot::Kind::kScan ? join == kScan : of.join == join;
    };
    const auto bits = [&](const auto& counts) {
        int all = 0;
        for (const GroupKey& key : keys) all += counts(key) ? key.bits : 0;
        return all;
    };
    while (bits([](const GroupKey&) { return true; }) > 63) {
        int most = 0;
        std::optional<int> chosen;
        std::optional<GroupKey> row;
        for (int join = kScan; join < static_cast<int>(last().pipeline->joins.size()); ++join) {
            const int held = bits([&](const GroupKey& key) { return is_of(key, join); });
            if (held <= most) continue;
            GroupKey instead = join == kScan ? scan_row_key() : row_key(join);
            if (held - instead.bits <= most) continue;
            most = held - instead.bits;
            chosen = join;
            row = std::move(instead);
        }
        if (!chosen) return;
        merges_ = merges_ || *chosen == kScan || !has_one_row(*chosen);
        for (const GroupKey& key : keys) {
            if (!is_of(key, *chosen)) continue;
            table_.carried.push_back(key);
            table_.carried.back().word = table_.words++;
        }
        keys.erase(std::remove_if(keys.begin(), keys.end(),
                                  [&](const GroupKey& key) { return is_of(key, *chosen); }),
                   keys.end());
        keys.push_back(std::move(*row));
    }
}

// Whether rows of a build side differ in the group keys: those have all of its keys.
bool Groups::has_one_row(int join) const {
    if (table_of(join).has_lists()) return false;
    const Pipeline& pipeline = *last().pipeline;
    const PipelineJoin& definition = pipeline.joins[static_cast<size_t>(join)];
    const Pipeline& build = *bound_[static_cast<size_t>(definition.build)].pipeline;
    for (size_t i = 0; i < definition.keys.size(); ++i) {
        const bool known =
            std::any_of(pipeline.keys.begin(), pipeline.keys.end(), [&](const Expr& key) {
                if (is_same(key, definition.keys[i]))
                    return definition.type != plan::JoinType::kLeft;
                if (key.kind != ExprKind::kColumn) return false;
                const Slot& of = slot(key.index);
                return of.kind == Slot::Kind::kPayload && of.join == join &&
                       is_same(build.payload[static_cast<size_t>(of.index)], build.build_keys[i]);
            });
        if (!known) return false;
    }
    return true;
}

// No more groups than rows, and than combinations of keys.
uint64_t Groups::most_words() const {
    uint64_t most = 1;
    for (const GroupKey& key : table_.hashed) most = saturating_product(most, key.numbers());
    return std::max<uint64_t>(1, std::min({most, most_rows(), kMostWords}));
}

void Groups::grow() {
    if (room_ >= most_words()) throw NotInKernels{"so many groups"};
    room_ = saturating_product(room_, kGrowth);
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
    Expr argument = call.args.empty() ? Expr() : call.args[0];
    Result result;
    result.made.kind = *kind;
    // Rows of the group whose argument is not NULL.
    const auto rows = [&](bool evaluate) {
        Accumulator counted;
        counted.filter = call.filter;
        if (facts_.may_be_null(call.args[0]) || (evaluate && may_fault(call.args[0]))) {
            counted.argument = argument;
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
            if (const auto parts =
                    plan::is_decimal(type) ? split_decimal(call.args[0]) : std::nullopt) {
                Accumulator shown;
                shown.kind = Accumulator::Kind::kLargest;
                shown.filter = call.filter;
                shown.argument = parts->scale;
                result.shown = add_accumulator(std::move(shown));
                result.made.shows_scale = true;
                argument = parts->value;
            } else if (!is_integer(type)) {
                throw NotInKernels{"a sum of type " + plan::to_string(type)};
            }
            const ValueBounds bounds = facts_.bounds(argument);
            // sum(int2), sum(int4): bigint, which PostgreSQL lets wrap as it adds.
            const bool wraps = plan::physical(call.type) == Physical::kInt64;
            if (!wraps && !bounds.adds_up(most_rows(), ValueBounds::SumWidth::k128))
                throw NotInKernels{"a sum that may need more than 128 bits"};
            made.kind = wraps || bounds.adds_up(most_rows(), ValueBounds::SumWidth::k64)
                            ? Accumulator::Kind::kSum
                            : Accumulator::Kind::kWideSum;
            made.argument = argument;
            if (type.id == plan::TypeId::kNumeric) result.scale = argument.type.scale;
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
            made.argument = argument;
            result.made.least = made.least;
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
        seen_ = arena.reserve_result(table_.most);
    } else {
        set_words_ = arena.reserve(uint64_t{table_.set_slots} * 8, 0xff);
        set_numbers_ = arena.reserve(uint64_t{table_.set_slots} * 4, 0);
        set_in_order_ = arena.reserve_result(table_.most * 8);
        set_count_ = arena.reserve_result(4);
    }
    sums_ = arena.reserve_result(static_cast<uint64_t>(table_.words) * table_.most * 8);
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
}

}  // namespace loom::gpu
