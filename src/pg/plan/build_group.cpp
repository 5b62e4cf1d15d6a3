// Aggregates and DISTINCT.

#include <algorithm>

#include "exec/query.h"
#include "pg/aggregate/approx_count_distinct.h"
#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using plan::Aggregate;
using plan::Operator;
using plan::OperatorKind;

namespace {

// Appends the aggregates of an expression, each once, to the List that `arg` points to.
bool find_aggregates_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, Aggref)) return walk_expression(node, find_aggregates_maylongjmp, arg);
    auto* calls = static_cast<List**>(arg);
    *calls = list_append_unique(*calls, node);
    return false;
}

// Likewise the columns that an expression reads outside of aggregates.
bool find_inputs_maylongjmp(Node* node, void* arg) {
    if (node == nullptr || IsA(node, Aggref)) return false;
    if (!IsA(node, Var)) return walk_expression(node, find_inputs_maylongjmp, arg);
    auto* inputs = static_cast<List**>(arg);
    *inputs = lappend(*inputs, node);
    return false;
}

bool is_default_equality(Oid op, Oid type) {
    return op == pg_call([&] { return lookup_type_cache(type, TYPECACHE_EQ_OPR)->eq_opr; });
}

bool reads_query_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    if (IsA(node, Param)) return reinterpret_cast<Param*>(node)->paramkind == PARAM_EXEC;
    if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan)) return true;
    return walk_expression(node, reads_query_maylongjmp, nullptr);
}

// Whether a group key has a query's value in it. Where a condition on groups repeats such a key,
// PostgreSQL plans that query once more and no longer sees that they are the same: the condition
// then reads columns of any row of the group, which depend on no key.
bool key_reads_query_maylongjmp(const Agg* node) {
    for (int i = 0; i < node->numCols; ++i) {
        const Plan* plan = outerPlan(&node->plan);
        AttrNumber column = node->grpColIdx[i];
        for (;;) {
            auto* entry = static_cast<TargetEntry*>(list_nth(plan->targetlist, column - 1));
            auto* expr = reinterpret_cast<Node*>(entry->expr);
            if (reads_query_maylongjmp(expr, nullptr)) return true;
            if (!IsA(expr, Var) || reinterpret_cast<Var*>(expr)->varno != OUTER_VAR ||
                outerPlan(plan) == nullptr)
                break;
            column = reinterpret_cast<Var*>(expr)->varattno;
            plan = outerPlan(plan);
        }
    }
    return false;
}

// PostgreSQL makes the inner rows of a semijoin unique with an Agg that hands on one row of each
// group as it is. It is told by keys that no clause of the query names.
bool makes_unique(const Agg* node, const List* calls) {
    if (calls != NIL || node->aggstrategy == AGG_PLAIN) return false;
    const ListCell* cell;
    foreach (cell, node->plan.targetlist)
        if (lfirst_node(TargetEntry, cell)->ressortgroupref != 0) return false;
    return true;
}

constexpr Oid kFirstUserObject = 16384;

// The sum whose quotient by the count is an average in numeric, or 0.
Oid sum_of_average(Oid function) {
    switch (function) {
        case F_AVG_INT8:
            return F_SUM_INT8;
        case F_AVG_INT4:
            return F_SUM_INT4;
        case F_AVG_INT2:
            return F_SUM_INT2;
        case F_AVG_NUMERIC:
            return F_SUM_NUMERIC;
        default:
            return InvalidOid;
    }
}

Aggref* aggregate_like_maylongjmp(const Aggref* call, Oid function, Oid type) {
    auto* copy = copy_object_maylongjmp(call);
    copy->aggfnoid = function;
    copy->aggtype = type;
    copy->aggcollid = InvalidOid;
    return copy;
}

FuncExpr* call_maylongjmp(Oid function, List* args) {
    return makeFuncExpr(function, NUMERICOID, args, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

// PostgreSQL ends an average in numeric with this very division; it decides the scale.
Node* quotient_maylongjmp(Aggref* sum, Aggref* count) {
    auto* dividend = reinterpret_cast<Node*>(sum);
    if (sum->aggtype == INT8OID)
        dividend = reinterpret_cast<Node*>(call_maylongjmp(F_NUMERIC_INT8, list_make1(sum)));
    auto* divisor = call_maylongjmp(F_NUMERIC_INT8, list_make1(count));
    return reinterpret_cast<Node*>(call_maylongjmp(F_NUMERIC_DIV, list_make2(dividend, divisor)));
}

}  // namespace

bool Builder::add_group_keys(Operator& op, Plan* input, int columns, const AttrNumber* indexes,
                             const Oid* operators, const Oid* collations, const Scope& scope) {
    for (int i = 0; i < columns; ++i) {
        const auto position = static_cast<size_t>(indexes[i] - 1);
        if (scope[position].node == nullptr) {
            refuse("group: a key that the engine cannot read");
            return false;
        }
        const auto* entry = static_cast<TargetEntry*>(list_nth(input->targetlist, indexes[i] - 1));
        const Oid type = exprType(reinterpret_cast<Node*>(entry->expr));
        if (!is_default_equality(operators[i], type)) {
            refuse("group: an equality that is not the type's own");
            return false;
        }
        if (plan::is_text(scope[position].type.id) && !has_plain_equality(collations[i])) {
            refuse("group: the collation is not deterministic");
            return false;
        }
        if (has_many_lengths(reinterpret_cast<Node*>(entry->expr), scope[position].type)) {
            refuse("group: values of char(n) with more than one n");
            return false;
        }
        op.group_keys.push_back(
            plan::make_column(static_cast<int>(position), scope[position].type));
        op.output.push_back(scope[position].type);
    }
    return true;
}

bool Builder::add_aggregate(Operator& op, Core& core, Aggref* call, const Scope& scope) {
    const char* name = pg_call([&] { return get_func_name(call->aggfnoid); });
    const std::string what = std::string("aggregate ") + (name != nullptr ? name : "?");
    const bool approximate = is_approx_count_distinct(call->aggfnoid);
    if ((call->aggfnoid >= kFirstUserObject && !approximate) || call->aggkind != AGGKIND_NORMAL ||
        call->aggsplit != AGGSPLIT_SIMPLE || call->aggvariadic || call->agglevelsup != 0 ||
        call->aggdirectargs != NIL) {
        refuse(what + " is left to PostgreSQL");
        return false;
    }
    Aggregate aggregate;
    aggregate.function = approximate ? exec::kApproximateCount : call->aggfnoid;
    aggregate.distinct = call->aggdistinct != NIL;
    if (call->aggorder != NIL && !aggregate.distinct) {
        refuse(what + ": ORDER BY");
        return false;
    }
    const ListCell* cell;
    foreach (cell, call->args) {
        const auto* entry = lfirst_node(TargetEntry, cell);
        auto arg = translate(reinterpret_cast<Node*>(entry->expr), scope, what.c_str());
        if (!arg) return false;
        if ((aggregate.distinct || (call->aggfnoid != F_COUNT_ANY && !approximate)) &&
            has_many_lengths(reinterpret_cast<Node*>(entry->expr), arg->type)) {
            refuse(what + ": values of char(n) with more than one n");
            return false;
        }
        if (plan::is_text(arg->type.id) &&
            (aggregate.distinct || approximate
                 ? !has_plain_equality(call->inputcollid)
                 : call->aggfnoid != F_COUNT_ANY && !orders_by_bytes(call->inputcollid))) {
            refuse(what + ": the collation does not order text by bytes");
            return false;
        }
        aggregate.args.push_back(std::move(*arg));
    }
    foreach (cell, call->aggdistinct) {
        const auto* clause = lfirst_node(SortGroupClause, cell);
        const auto* entry =
            pg_call([&] { return get_sortgroupref_tle(clause->tleSortGroupRef, call->args); });
        if (!is_default_equality(clause->eqop, exprType(reinterpret_cast<Node*>(entry->expr)))) {
            refuse(what + ": DISTINCT by an equality that is not the type's own");
            return false;
        }
    }
    if (call->aggfilter != nullptr) {
        auto filter = translate(reinterpret_cast<Node*>(call->aggfilter), scope, what.c_str());
        if (!filter) return false;
        aggregate.filter.push_back(std::move(*filter));
    }
    std::vector<plan::Type> arg_types;
    for (const plan::Expr& arg : aggregate.args) arg_types.push_back(arg.type);
    const auto type = exec::aggregate_type(aggregate.function, arg_types);
    if (!type) {
        refuse(what + " is not one of the engine's");
        return false;
    }
    aggregate.type = *type;
    Operator attempt = op;
    attempt.aggregates.push_back(aggregate);
    attempt.output.push_back(*type);
    if (!check(attempt)) return false;
    op = std::move(attempt);
    core.scope.push_back({reinterpret_cast<Node*>(call), *type, nullptr});
    return true;
}

// Groups by what an enclosing query's row is compared with, so that each such row finds a group of
// its own.
bool Builder::group_by_lifted(Core& core, const std::vector<Lifted>& lifted) {
    for (const Lifted& condition : lifted) {
        if (!condition.is_key) {
            refuse("group: a condition on an enclosing query that is no equality");
            return false;
        }
        std::vector<plan::Expr>& keys = core.op.group_keys;
        const plan::Expr& inner = condition.inner();
        const auto known = std::find_if(keys.begin(), keys.end(), [&](const plan::Expr& key) {
            return same_expression(key, inner);
        });
        const auto place = static_cast<int>(known - keys.begin());
        if (known == keys.end()) {
            keys.push_back(inner);
            core.op.output.push_back(inner.type);
            core.scope.push_back({nullptr, inner.type, nullptr});
        }
        Lifted above = condition;
        above.predicate.args[0] = plan::make_column(place, inner.type);
        core.lifted.push_back(std::move(above));
    }
    return true;
}

// Orders groups as PostgreSQL's sorted grouping does: as its input was sorted. `groups` are the
// columns of the input that the first columns of `core` are.
bool Builder::sort_groups(Core& core, Plan* input, const std::vector<int>& groups) {
    const auto below = order_of(input);
    if (!below) {
        refuse("the order of groups");
        return false;
    }
    Keys keys;
    for (plan::SortKey key : *below) {
        const auto found = std::find(groups.begin(), groups.end(), key.column);
        if (found == groups.end()) break;
        key.column = static_cast<int>(found - groups.begin());
        keys.push_back(key);
    }
    return keys.empty() || add_sort(core.op, keys);
}

namespace {

std::vector<int> columns_of_groups(const Operator& aggregate) {
    std::vector<int> columns;
    for (const plan::Expr& key : aggregate.group_keys) columns.push_back(key.index);
    return columns;
}

}  // namespace

std::optional<Core> Builder::aggregate(Agg* node, Order order) {
    const bool top = top_;
    if (node->aggsplit != AGGSPLIT_SIMPLE) return refuse("a part of a parallel aggregate");
    if (node->groupingSets != NIL) return grouping_sets(node, order);
    Plan* input = outerPlan(node);
    auto below = build(input, Order::kAny);
    if (!below) return std::nullopt;
    if (!below->lifted.empty() && node->aggstrategy == AGG_PLAIN &&
        correlated_aggregate_ != &node->plan)
        return refuse("group: a value of an enclosing query");
    Core source;
    source.scope = scope_of(input->targetlist, OUTER_VAR, *below);
    source.op = std::move(below->op);
    List* calls = NIL;
    List* inputs = NIL;
    for (List* list : {node->plan.targetlist, node->plan.qual})
        pg_call([&] { find_aggregates_maylongjmp(reinterpret_cast<Node*>(list), &calls); });
    const bool unique = makes_unique(node, calls);
    const ListCell* cell;
    foreach (cell, node->plan.targetlist) {
        auto* entry = lfirst_node(TargetEntry, cell);
        // The node of a SELECT DISTINCT hands on what its input had for other ends. Nobody reads
        // it, and it depends on no key.
        if (unique || (entry->resjunk && calls == NIL)) continue;
        pg_call([&] { find_inputs_maylongjmp(reinterpret_cast<Node*>(entry->expr), &inputs); });
    }
    pg_call([&] { find_inputs_maylongjmp(reinterpret_cast<Node*>(node->plan.qual), &inputs); });
    foreach (cell, calls) add_subplans(source, static_cast<Node*>(lfirst(cell)), false);
    const Scope& scope = source.scope;
    Core core;
    Operator& op = core.op;
    op.kind = OperatorKind::kAggregate;
    op.rows = node->plan.plan_rows;
    op.grouped = node->aggstrategy != AGG_PLAIN || !below->lifted.empty();
    if (!add_group_keys(op, input, node->numCols, node->grpColIdx, node->grpOperators,
                        node->grpCollations, scope))
        return std::nullopt;

    // Columns that are not keys depend on keys; as keys they part no group. What is no key has one
    // value in a group.
    std::vector<size_t> dependents;
    foreach (cell, inputs) {
        const int position = find_leaf(scope, static_cast<Node*>(lfirst(cell)));
        if (position < 0) return refuse("group: a column of another kind");
        const auto& groups = op.group_keys;
        if (std::any_of(groups.begin(), groups.end(),
                        [&](const plan::Expr& group) { return group.index == position; }))
            continue;
        if (node->aggstrategy == AGG_PLAIN ||
            pg_call([&] { return key_reads_query_maylongjmp(node); }))
            return refuse("group: a column that is no key");
        const plan::Type type = scope[static_cast<size_t>(position)].type;
        if (plan::is_opaque(type)) {
            dependents.push_back(static_cast<size_t>(position));
            continue;
        }
        op.group_keys.push_back(plan::make_column(position, type));
        op.output.push_back(type);
    }
    for (const plan::Expr& key : op.group_keys)
        core.scope.push_back(scope[static_cast<size_t>(key.index)]);
    if (!group_by_lifted(core, below->lifted)) return std::nullopt;
    for (const size_t position : dependents) {
        Aggregate& aggregate = op.aggregates.emplace_back();
        aggregate.function = exec::kAnyValue;
        aggregate.type = scope[position].type;
        aggregate.args = {plan::make_column(static_cast<int>(position), aggregate.type)};
        op.output.push_back(aggregate.type);
        core.scope.push_back(scope[position]);
    }

    List* in_order = NIL;
    std::vector<Aggregate> ordered;
    foreach (cell, calls)
        if (needs_order(lfirst_node(Aggref, cell)))
            in_order = pg_call([&] { return lappend(in_order, lfirst(cell)); });
    if (in_order != NIL && !add_ordered_sets(source, op.group_keys, in_order, &ordered))
        return std::nullopt;
    op.inputs.push_back(std::move(source.op));

    size_t next_ordered = 0;
    foreach (cell, calls) {
        auto* call = lfirst_node(Aggref, cell);
        if (needs_order(call)) {
            const Aggregate& aggregate = ordered[next_ordered++];
            op.aggregates.push_back(aggregate);
            op.output.push_back(aggregate.type);
            core.scope.push_back({reinterpret_cast<Node*>(call), aggregate.type, nullptr});
            continue;
        }
        if (add_aggregate(op, core, call, scope)) continue;
        const Oid sum = top && call->aggdistinct == NIL ? sum_of_average(call->aggfnoid) : 0;
        if (!OidIsValid(sum)) return std::nullopt;
        reason_.clear();
        const Oid sum_type = sum == F_SUM_INT8 || sum == F_SUM_NUMERIC ? NUMERICOID : INT8OID;
        auto* total = pg_call([&] { return aggregate_like_maylongjmp(call, sum, sum_type); });
        auto* count =
            pg_call([&] { return aggregate_like_maylongjmp(call, F_COUNT_ANY, INT8OID); });
        for (Aggref* part : {total, count})
            if (find_leaf(core.scope, reinterpret_cast<Node*>(part)) < 0 &&
                !add_aggregate(op, core, part, scope))
                return std::nullopt;
        core.substitutes.emplace_back(reinterpret_cast<Node*>(call),
                                      pg_call([&] { return quotient_maylongjmp(total, count); }));
    }
    if (!check(op)) return std::nullopt;
    if (order == Order::kKept && node->aggstrategy == AGG_SORTED &&
        !sort_groups(core, input, columns_of_groups(op)))
        return std::nullopt;
    return core;
}

std::optional<Core> Builder::distinct(Plan* plan, int columns, const AttrNumber* indexes,
                                      const Oid* operators, const Oid* collations, Order order) {
    Plan* input = outerPlan(plan);
    auto below = build(input, Order::kAny);
    if (!below) return std::nullopt;
    const Scope scope = scope_of(input->targetlist, OUTER_VAR, *below);
    Core core;
    core.op.kind = OperatorKind::kAggregate;
    core.op.rows = plan->plan_rows;
    core.op.grouped = true;
    core.op.inputs.push_back(std::move(below->op));
    if (!add_group_keys(core.op, input, columns, indexes, operators, collations, scope))
        return std::nullopt;
    for (const plan::Expr& key : core.op.group_keys)
        core.scope.push_back(scope[static_cast<size_t>(key.index)]);
    if (!group_by_lifted(core, below->lifted) || !check(core.op)) return std::nullopt;
    if (order == Order::kKept && !sort_groups(core, input, columns_of_groups(core.op)))
        return std::nullopt;
    return core;
}

}  // namespace loom::pg
