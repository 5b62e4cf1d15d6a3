// Grouping sets, and UNION's relatives INTERSECT and EXCEPT.

#include <algorithm>
#include <utility>

#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "utils/fmgroids.h"
}

namespace loom::pg {

using plan::Expr;
using plan::Operator;
using plan::OperatorKind;

namespace {

constexpr plan::Type kBool = plan::make_type(plan::TypeId::kBool);
constexpr plan::Type kInt4 = plan::make_type(plan::TypeId::kInt4);
constexpr plan::Type kInt8 = plan::make_type(plan::TypeId::kInt8);

Expr integer(plan::Type type, int64_t value) {
    return plan::make_constant(type, column::Scalar::of_int(value));
}

Expr compare(Oid function, Expr left, Expr right) {
    return plan::make_call(function, kBool, {std::move(left), std::move(right)});
}

bool find_aggregates_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, Aggref) && !IsA(node, GroupingFunc))
        return walk_expression(node, find_aggregates_maylongjmp, arg);
    auto* calls = static_cast<List**>(arg);
    *calls = list_append_unique(*calls, node);
    return false;
}

// One grouping set: some of an Agg's columns, which come first among them.
struct GroupingSet {
    const Agg* agg;
    int columns;
};

// GROUPING(): a bit for each column, the last one lowest, set where the set lacks the column.
int grouping_value(const GroupingFunc* function, const GroupingSet& set) {
    int value = 0;
    const ListCell* cell;
    foreach (cell, function->cols) {
        const auto* begin = set.agg->grpColIdx;
        const auto column = static_cast<AttrNumber>(lfirst_int(cell));
        const bool in_set = std::find(begin, begin + set.columns, column) != begin + set.columns;
        value = value * 2 + (in_set ? 0 : 1);
    }
    return value;
}

void need(const std::vector<Expr>& exprs, std::vector<bool>& needed) {
    for (const Expr& expr : exprs)
        for (const int column : plan::columns_of(expr)) needed[static_cast<size_t>(column)] = true;
}

void move_columns(std::vector<Expr>& exprs, const std::vector<int>& places) {
    for (Expr& expr : exprs)
        renumber(expr, [&](int column) { return places[static_cast<size_t>(column)]; });
}

}  // namespace

Operator Builder::share(Operator op) {
    Operator shared;
    shared.kind = OperatorKind::kShared;
    shared.source = shared_++;
    shared.rows = op.rows;
    shared.output = op.output;
    shared.inputs.push_back(std::move(op));
    return shared;
}

bool keeps_order(const Agg* sets) {
    return sets->aggstrategy == AGG_SORTED && sets->chain == NIL && sets->numCols > 0;
}

// One aggregation for each set, all over the same rows, which are computed once.
std::optional<Core> Builder::grouping_sets(Agg* node, Order order) {
    Plan* input = outerPlan(&node->plan);
    auto below = build(input, Order::kAny);
    if (!below) return std::nullopt;
    if (!below->lifted.empty()) return refuse("grouping sets: a value of an enclosing query");
    std::vector<GroupingSet> sets;
    std::vector<AttrNumber> columns;  // of all sets, each once
    const ListCell* cell;
    List* aggs = pg_call([&] { return list_concat_copy(list_make1(node), node->chain); });
    foreach (cell, aggs) {
        const auto* agg = lfirst_node(Agg, cell);
        const ListCell* set;
        foreach (set, agg->groupingSets)
            sets.push_back({agg, list_length(static_cast<List*>(lfirst(set)))});
        for (int i = 0; i < agg->numCols; ++i)
            if (std::find(columns.begin(), columns.end(), agg->grpColIdx[i]) == columns.end())
                columns.push_back(agg->grpColIdx[i]);
    }
    List* calls = NIL;
    for (List* list : {node->plan.targetlist, node->plan.qual})
        pg_call([&] { find_aggregates_maylongjmp(reinterpret_cast<Node*>(list), &calls); });

    Core source;
    source.scope = scope_of(input->targetlist, OUTER_VAR, *below);
    source.op = std::move(below->op);
    foreach (cell, calls) add_subplans(source, static_cast<Node*>(lfirst(cell)), false);
    const Scope& scope = source.scope;
    // The aggregates are the same for every set.
    Operator aggregates;
    aggregates.kind = OperatorKind::kAggregate;
    Core core;
    for (const AttrNumber column : columns) {
        const Leaf& leaf = scope[static_cast<size_t>(column - 1)];
        if (leaf.node == nullptr) return refuse("group: a key that the engine cannot read");
        core.scope.push_back(leaf);
    }
    std::vector<GroupingFunc*> functions;
    foreach (cell, calls) {
        auto* call = static_cast<Node*>(lfirst(cell));
        if (IsA(call, GroupingFunc))
            functions.push_back(reinterpret_cast<GroupingFunc*>(call));
        else if (!add_aggregate(aggregates, core, reinterpret_cast<Aggref*>(call), scope))
            return std::nullopt;
    }
    for (GroupingFunc* function : functions)
        core.scope.push_back({reinterpret_cast<Node*>(function), kInt4, nullptr});

    // Only what is read is kept.
    std::vector<bool> needed(source.op.output.size());
    for (const AttrNumber column : columns) needed[static_cast<size_t>(column - 1)] = true;
    for (const plan::Aggregate& aggregate : aggregates.aggregates) {
        need(aggregate.args, needed);
        need(aggregate.filter, needed);
    }
    std::vector<int> places(needed.size(), -1);
    std::vector<Expr> kept;
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        places[i] = static_cast<int>(kept.size());
        kept.push_back(plan::make_column(static_cast<int>(i), source.op.output[i]));
    }
    for (plan::Aggregate& aggregate : aggregates.aggregates) {
        move_columns(aggregate.args, places);
        move_columns(aggregate.filter, places);
    }
    const Operator shared = share(project(std::move(source.op), std::move(kept)));

    core.op.kind = OperatorKind::kAppend;
    core.op.rows = node->plan.plan_rows;
    for (const Leaf& leaf : core.scope) core.op.output.push_back(leaf.type);
    for (const GroupingSet& set : sets) {
        Operator op = aggregates;
        op.output.clear();
        op.rows = node->plan.plan_rows / static_cast<double>(sets.size());
        op.grouped = set.columns > 0;
        if (!add_group_keys(op, input, set.columns, set.agg->grpColIdx, set.agg->grpOperators,
                            set.agg->grpCollations, scope))
            return std::nullopt;
        move_columns(op.group_keys, places);
        for (const plan::Aggregate& aggregate : op.aggregates) op.output.push_back(aggregate.type);
        std::vector<Expr> outputs;
        for (size_t i = 0; i < columns.size(); ++i) {
            const auto* begin = set.agg->grpColIdx;
            const auto* found = std::find(begin, begin + set.columns, columns[i]);
            outputs.push_back(
                found == begin + set.columns
                    ? plan::make_constant(core.scope[i].type, {})
                    : plan::make_column(static_cast<int>(found - begin), core.scope[i].type));
        }
        for (size_t i = 0; i < op.aggregates.size(); ++i)
            outputs.push_back(
                plan::make_column(set.columns + static_cast<int>(i), op.aggregates[i].type));
        for (const GroupingFunc* function : functions)
            outputs.push_back(integer(kInt4, grouping_value(function, set)));
        op.inputs.push_back(shared);
        core.op.inputs.push_back(project(std::move(op), std::move(outputs)));
    }
    if (!check(core.op)) return std::nullopt;
    if (order == Order::kKept && keeps_order(node)) {
        std::vector<int> groups;
        groups.reserve(columns.size());
        for (const AttrNumber column : columns) groups.push_back(column - 1);
        if (!sort_groups(core, input, groups)) return std::nullopt;
    }
    return core;
}

namespace {

plan::Expr flag_is(const Operator& input, int flag_column, int value) {
    return compare(F_INT4EQ,
                   plan::make_column(flag_column, input.output[static_cast<size_t>(flag_column)]),
                   integer(kInt4, value));
}

// Puts a column behind those of an operator that says which side its rows are of.
Operator flagged(Operator input, int side) {
    std::vector<Expr> exprs;
    exprs.reserve(input.output.size() + 1);
    for (size_t i = 0; i < input.output.size(); ++i)
        exprs.push_back(plan::make_column(static_cast<int>(i), input.output[i]));
    exprs.push_back(integer(kInt4, side));
    return project(std::move(input), std::move(exprs));
}

}  // namespace

// Both sides' rows come from one input, with a column that says which side.
std::optional<Core> Builder::set_operation(SetOp* node, Order order) {
    Plan* input = outerPlan(&node->plan);
    SetOpKeys keys = pg_call([&] { return set_op_keys_maylongjmp(node); });
    Core source;
    Node* source_flag = nullptr;
    if (keys.flag == 0) {
        auto sides =
            append(&node->plan, pg_call([&] { return list_make2(input, innerPlan(&node->plan)); }));
        if (!sides) return std::nullopt;
        source = std::move(*sides);
        for (int side = 0; side < 2; ++side)
            source.op.inputs[side] = flagged(std::move(source.op.inputs[side]), side);
        source.op.output.push_back(kInt4);
        source.scope.push_back({nullptr, kInt4, nullptr});
        keys.flag = static_cast<AttrNumber>(source.op.output.size());
    } else {
        auto below = build(input, Order::kAny);
        if (!below) return std::nullopt;
        if (!below->lifted.empty()) return refuse("a value of an enclosing query");
        source.scope = scope_of(input->targetlist, OUTER_VAR, *below);
        source.op = std::move(below->op);
        const auto flag = static_cast<size_t>(keys.flag - 1);
        if (source.scope[flag].node == nullptr || source.op.output[flag] != kInt4)
            return refuse("a set operation without a flag");
        source_flag = std::exchange(source.scope[flag].node, nullptr);
    }
    const bool all = node->cmd == SETOPCMD_INTERSECT_ALL || node->cmd == SETOPCMD_EXCEPT_ALL;
    auto core = all ? set_of_all(node, keys, std::move(source))
                    : set_of_distinct(node, keys, std::move(source));
    if (!core || !check(core->op)) return std::nullopt;
    if (order == Order::kKept && node->strategy == SETOP_SORTED) {
        // Which column of the input each column of the result is.
        std::vector<int> columns;
        if (all)
            for (int i = 0; i < list_length(input->targetlist); ++i) columns.push_back(i);
        else
            for (int i = 0; i < keys.columns; ++i) columns.push_back(keys.indexes[i] - 1);
        if (!sort_groups(*core, input, columns)) return std::nullopt;
    }
    // A flag of the input stands in the target list all the same; nothing reads it.
    if (source_flag != nullptr)
        core->substitutes.emplace_back(
            source_flag, pg_call([&] {
                return reinterpret_cast<Node*>(makeNullConst(INT4OID, -1, InvalidOid));
            }));
    return core;
}

// A group is in the result if it has rows of the left side, and some or none of the right.
std::optional<Core> Builder::set_of_distinct(SetOp* node, const SetOpKeys& keys, Core input) {
    Core core;
    Operator& op = core.op;
    op.kind = OperatorKind::kAggregate;
    op.rows = node->plan.plan_rows;
    op.grouped = true;
    const int flag = keys.flag - 1;
    if (!add_group_keys(op, outerPlan(&node->plan), keys.columns, keys.indexes, keys.equalities,
                        keys.collations, input.scope))
        return std::nullopt;
    for (const Expr& key : op.group_keys)
        core.scope.push_back(input.scope[static_cast<size_t>(key.index)]);
    std::vector<Expr> predicates;
    for (int side = 0; side < 2; ++side) {
        plan::Aggregate count;
        count.function = F_COUNT_;
        count.type = kInt8;
        count.filter.push_back(flag_is(input.op, flag, side));
        op.aggregates.push_back(std::move(count));
        const bool present = side == 0 || node->cmd == SETOPCMD_INTERSECT;
        predicates.push_back(compare(present ? F_INT8GT : F_INT8EQ,
                                     plan::make_column(static_cast<int>(op.output.size()), kInt8),
                                     integer(kInt8, 0)));
        op.output.push_back(kInt8);
        core.scope.push_back({nullptr, kInt8, nullptr});
    }
    op.inputs.push_back(std::move(input.op));
    if (!check(op) || !add_filter(core, predicates, node->plan.plan_rows)) return std::nullopt;
    return core;
}

// Of a group with m rows on the left and n on the right INTERSECT ALL has min(m, n), EXCEPT ALL
// m - n: rows of the left side by their number, the first n or those after them.
std::optional<Core> Builder::set_of_all(SetOp* node, const SetOpKeys& keys, Core input) {
    Operator op;
    op.kind = OperatorKind::kWindow;
    op.rows = node->plan.plan_rows;
    op.output = input.op.output;
    const int flag = keys.flag - 1;
    Operator groups;
    if (!add_group_keys(groups, outerPlan(&node->plan), keys.columns, keys.indexes, keys.equalities,
                        keys.collations, input.scope))
        return std::nullopt;
    Keys order;
    for (const Expr& key : groups.group_keys) order.push_back({key.index, false, false});
    order.push_back({flag, false, false});
    op.group_keys = std::move(groups.group_keys);
    op.frame.end = plan::FrameBound::kUnbounded;
    plan::WindowCall number;
    number.function = F_ROW_NUMBER;
    number.type = kInt8;
    op.windows.push_back(std::move(number));
    plan::WindowCall count;
    count.function = F_COUNT_;
    count.type = kInt8;
    count.filter.push_back(flag_is(input.op, flag, 1));
    op.windows.push_back(std::move(count));
    const auto width = static_cast<int>(op.output.size());
    const std::vector<Expr> predicates = {
        flag_is(input.op, flag, 0),
        compare(node->cmd == SETOPCMD_INTERSECT_ALL ? F_INT8LE : F_INT8GT,
                plan::make_column(width, kInt8), plan::make_column(width + 1, kInt8))};
    if (!add_sort(input.op, order)) return std::nullopt;
    Core core;
    core.scope = std::move(input.scope);
    for (int i = 0; i < 2; ++i) {
        op.output.push_back(kInt8);
        core.scope.push_back({nullptr, kInt8, nullptr});
    }
    op.inputs.push_back(std::move(input.op));
    core.op = std::move(op);
    if (!check(core.op) || !add_filter(core, predicates, node->plan.plan_rows)) return std::nullopt;
    return core;
}

}  // namespace loom::pg
