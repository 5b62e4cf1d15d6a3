// Joins: the probe side goes on, the build side becomes a pipeline that runs before it.

#include "exec/compiler.h"
#include "exec/join/build_sink.h"

namespace loom::exec {

using plan::Expr;
using plan::ExprKind;
using plan::JoinType;
using plan::Operator;
using plan::Type;

namespace {

JoinType mirrored(JoinType type) {
    switch (type) {
        case JoinType::kLeft:
            return JoinType::kRight;
        case JoinType::kRight:
            return JoinType::kLeft;
        case JoinType::kSemi:
            return JoinType::kRightSemi;
        case JoinType::kRightSemi:
            return JoinType::kSemi;
        case JoinType::kAnti:
            return JoinType::kRightAnti;
        case JoinType::kRightAnti:
            return JoinType::kAnti;
        default:
            return type;
    }
}

bool equal_means_same(const Type& type) {
    const plan::Physical physical = plan::physical(type);
    return physical == plan::Physical::kInt16 || physical == plan::Physical::kInt32 ||
           (physical == plan::Physical::kInt64 && type.id != plan::TypeId::kNumeric);
}

// A key that an inner join equals to one of its own probe side: taken from there it does not wait
// for that join, and the joins may change places.
int earliest_slot(const Pipeline& pipeline, int slot) {
    const Slot& column = pipeline.slots[slot];
    if (column.kind != Slot::Kind::kBuildColumn || !equal_means_same(column.type)) return slot;
    const Join& join = pipeline.joins[column.join];
    if (join.type != JoinType::kInner) return slot;
    for (size_t k = 0; k < join.build_keys.size(); ++k)
        if (join.build_keys[k] == column.index && pipeline.slots[join.keys[k]].type == column.type)
            return join.keys[k];
    return slot;
}

// Values of char(n), which may have another n on the other side, become texts without trailing
// blanks.
std::vector<Expr> comparable(std::vector<Expr> keys) {
    constexpr uint32_t kTextOfBpchar = 401;
    for (Expr& key : keys)
        if (key.type.id == plan::TypeId::kBpchar)
            key = plan::make_call(kTextOfBpchar, plan::make_type(plan::TypeId::kText),
                                  {std::move(key)});
    return keys;
}

// The smaller side is built, whatever PostgreSQL chose; of a semi and an anti join only if it is
// much smaller, since all rows of the other side have to pass before the join has rows.
bool builds_other_side(const Operator& op) {
    constexpr double kMuchSmaller = 8;
    const double smaller = op.inputs[0].rows;
    const double larger = op.inputs[1].rows;
    if (op.join == JoinType::kInner) return larger > smaller;
    const bool semi = op.join == JoinType::kSemi || op.join == JoinType::kAnti;
    return semi && !op.probe_keys.empty() && op.predicates.empty() &&
           larger > smaller * kMuchSmaller;
}

// Whether `keys` are exactly the columns of an operator's output, each once.
bool are_all_columns(const std::vector<Expr>& keys, size_t width) {
    std::vector<bool> seen(width);
    for (const Expr& key : keys) {
        if (key.kind != ExprKind::kColumn || seen[key.index]) return false;
        seen[key.index] = true;
    }
    return keys.size() == width;
}

// An inner join whose input `side` only makes values distinct, which nobody needs: PostgreSQL's way
// to put a semi join's sides in the other order.
bool is_semi_join(const Operator& op, size_t side, const Needs& needs) {
    const Operator& groups = op.inputs[side];
    const size_t left = op.inputs[0].output.size();
    const auto begin = needs.begin() + static_cast<std::ptrdiff_t>(side == 0 ? 0 : left);
    return op.join == JoinType::kInner && op.predicates.empty() &&
           groups.kind == plan::OperatorKind::kAggregate && groups.aggregates.empty() &&
           !groups.group_keys.empty() &&  // without keys there is a row even of none
           std::all_of(begin, begin + static_cast<std::ptrdiff_t>(groups.output.size()),
                       [](Need need) { return need == Need::kNone; }) &&
           are_all_columns(side == 0 ? op.probe_keys : op.build_keys, groups.output.size());
}

// That join's semi join, over the rows that the values are made distinct of.
Operator semi_join_of(const Operator& op, size_t side) {
    const Operator& groups = op.inputs[side];
    const Operator& kept = op.inputs[1 - side];
    Operator semi;
    semi.kind = plan::OperatorKind::kJoin;
    semi.join = JoinType::kSemi;
    semi.rows = op.rows;
    semi.output = kept.output;
    semi.inputs = {kept, groups.inputs[0]};
    semi.probe_keys = side == 0 ? op.build_keys : op.probe_keys;
    for (const Expr& key : side == 0 ? op.probe_keys : op.build_keys)
        semi.build_keys.push_back(groups.group_keys[key.index]);
    return semi;
}

}  // namespace

// Makes the build pipeline of the join that `probe` is about to get, and its slots.
void PlanCompiler::add_build_side(Stream& probe, const Operator& build,
                                  const std::vector<Expr>& keys, const Needs& needs) {
    Needs below = needs;
    for (const Expr& key : keys) need_columns(key, below);
    Stream stream = compile(build, below);
    const int join = static_cast<int>(probe.pipeline().joins.size()) - 1;
    std::vector<int> key_slots;
    key_slots.reserve(keys.size());
    for (const Expr& key : keys) key_slots.push_back(expression_slot(stream, key));

    // Stored are the columns that are needed, then the keys that are not among them. A group key
    // that is to become codes can't serve as the join's key.
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> slots(needs.size(), -1);
    CompiledPipeline& compiled = *stream.compiled;
    Pipeline& target = probe.pipeline();
    for (size_t i = 0; i < needs.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        Slot slot;
        slot.kind = Slot::Kind::kBuildColumn;
        slot.type = build.output[i];
        slot.index = static_cast<int>(stored.size());
        slot.join = join;
        slot.row_slot = target.joins[join].row_slot;
        slots[i] = add_slot(target, std::move(slot));
        if (needs[i] == Need::kGroupKey) compiled.encode.push_back(static_cast<int>(stored.size()));
        stored.push_back(stream.slots[i]);
        types.push_back(build.output[i]);
    }
    for (size_t k = 0; k < keys.size(); ++k) {
        size_t place = 0;
        while (place < stored.size() &&
               (stored[place] != key_slots[k] ||
                std::find(compiled.encode.begin(), compiled.encode.end(),
                          static_cast<int>(place)) != compiled.encode.end()))
            ++place;
        if (place == stored.size()) {
            stored.push_back(key_slots[k]);
            types.push_back(keys[k].type);
        }
        compiled.build_keys.push_back(static_cast<int>(place));
    }
    target.joins[join].build_keys = compiled.build_keys;
    auto sink = std::make_shared<BuildSink>(stored, types, compiled.build_keys, resources_);
    // That a subquery has one row is known when all are there.
    if (target.joins[join].single) sink->forbid_scatter();
    compiled.store = sink;
    compiled.pipeline.sink = std::move(sink);
    compiled.pipeline.sink_inputs = stored;
    compiled.then = CompiledPipeline::Then::kBuild;
    compiled.target = probe.compiled.get();
    compiled.target_join = join;
    done_.push_back(std::move(stream.compiled));
    probe.slots.insert(probe.slots.end(), slots.begin(), slots.end());
}

Stream PlanCompiler::compile_join(const Operator& op, const Needs& needs) {
    if (op.null_aware && op.join != JoinType::kMark) throw Unrepresentable("NOT IN as a join");
    for (const size_t side : {size_t{1}, size_t{0}}) {
        if (!is_semi_join(op, side, needs)) continue;
        const size_t left = op.inputs[0].output.size();
        const auto border = needs.begin() + static_cast<std::ptrdiff_t>(left);
        Stream stream =
            compile_join(semi_join_of(op, side),
                         side == 0 ? Needs(border, needs.end()) : Needs(needs.begin(), border));
        stream.slots.insert(side == 0 ? stream.slots.begin() : stream.slots.end(),
                            op.inputs[side].output.size(), -1);
        return stream;
    }
    const bool swap = builds_other_side(op);
    const Operator& probe_op = op.inputs[swap ? 1 : 0];
    const Operator& build_op = op.inputs[swap ? 0 : 1];
    const std::vector<Expr> probe_keys = comparable(swap ? op.build_keys : op.probe_keys);
    const std::vector<Expr> build_keys = comparable(swap ? op.probe_keys : op.build_keys);
    const JoinType type = swap ? mirrored(op.join) : op.join;
    const size_t left = op.inputs[0].output.size();
    const size_t right = op.inputs[1].output.size();

    // Needs of probe columns followed by build columns, in PostgreSQL's order of sides.
    const bool right_only = op.join == JoinType::kRightSemi || op.join == JoinType::kRightAnti;
    const bool marks = op.join == JoinType::kMark;
    const bool left_only = op.join == JoinType::kSemi || op.join == JoinType::kAnti || marks;
    Needs both(left + right, Need::kNone);
    std::copy(needs.begin(), needs.end() - (marks ? 1 : 0),
              both.begin() + static_cast<std::ptrdiff_t>(right_only ? left : 0));
    const Needs wanted = both;
    for (const Expr& predicate : op.predicates) need_columns(predicate, both);
    const auto border = both.begin() + static_cast<std::ptrdiff_t>(left);
    Needs probe_needs = swap ? Needs(border, both.end()) : Needs(both.begin(), border);
    const Needs build_needs = swap ? Needs(both.begin(), border) : Needs(border, both.end());
    for (const Expr& key : probe_keys) need_columns(key, probe_needs);

    Stream stream = compile(probe_op, probe_needs);
    const size_t probe_width = probe_op.output.size();
    stream.slots.resize(probe_width, -1);
    Pipeline& pipeline = stream.pipeline();
    const int index = static_cast<int>(pipeline.joins.size());
    Join join;
    join.type = type;
    join.null_aware = op.null_aware;
    join.single = op.single;
    for (const Expr& key : probe_keys)
        join.keys.push_back(earliest_slot(pipeline, expression_slot(stream, key)));
    Slot rows;
    rows.kind = Slot::Kind::kBuildRow;
    rows.type = plan::make_type(plan::TypeId::kInt4);
    rows.join = index;
    rows.inputs = join.keys;
    join.row_slot = add_slot(pipeline, std::move(rows));
    if (marks) {
        Slot mark;
        mark.kind = Slot::Kind::kMark;
        mark.type = plan::make_type(plan::TypeId::kBool);
        mark.join = index;
        mark.inputs = join.keys;
        join.mark_slot = add_slot(pipeline, std::move(mark));
    }
    const int mark_slot = join.mark_slot;
    if (join.marks_build()) join.matched = std::make_shared<base::Buffer>(budget_);
    pipeline.joins.push_back(std::move(join));
    add_build_side(stream, build_op, build_keys, build_needs);

    // From here on slots are in PostgreSQL's order of sides.
    std::vector<int> slots = stream.slots;
    if (swap)
        std::rotate(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(probe_width),
                    slots.end());
    if (!op.predicates.empty()) {
        Expr all;
        all.kind = ExprKind::kAnd;
        all.type = plan::make_type(plan::TypeId::kBool);
        all.args = op.predicates;
        pipeline.joins[index].residual =
            compile_expression(op.predicates.size() == 1 ? op.predicates[0] : all, slots);
    }
    Step step;
    step.kind = Step::Kind::kJoin;
    step.join = index;
    step.inputs = pipeline.joins[index].keys;
    pipeline.steps.push_back(std::move(step));

    if (left_only) slots.resize(left);
    if (marks) slots.push_back(mark_slot);
    if (right_only) slots.erase(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(left));
    stream.slots = slots;
    if (!pipeline.joins[index].marks_build()) return stream;

    // Build rows follow when all probe rows have been seen, so the join's rows are stored.
    std::vector<int> stored;
    std::vector<Type> types;
    std::vector<int> build_columns;
    std::vector<int> columns(slots.size(), -1);
    for (size_t i = 0; i < slots.size(); ++i) {
        if (needs[i] == Need::kNone) continue;
        columns[i] = static_cast<int>(stored.size());
        stored.push_back(slots[i]);
        types.push_back(op.output[i]);
        const Slot& slot = pipeline.slots[slots[i]];
        const bool of_build = slot.kind == Slot::Kind::kBuildColumn && slot.join == index;
        build_columns.push_back(of_build ? slot.index : -1);
    }
    close_store(stream, types, stored);
    stream.compiled->store->append_build_rows(&pipeline.joins[index], build_columns);
    return reopen(std::move(stream), types, columns);
}

}  // namespace loom::exec
