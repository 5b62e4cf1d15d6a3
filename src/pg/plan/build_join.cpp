// Joins: hash keys where the clauses have them, the rest as a residual condition.

#include <algorithm>

#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

namespace loom::pg {

using plan::Expr;
using plan::JoinType;
using plan::OperatorKind;

namespace {

std::optional<JoinType> join_type(::JoinType type) {
    switch (type) {
        case JOIN_INNER:
            return JoinType::kInner;
        case JOIN_LEFT:
            return JoinType::kLeft;
        case JOIN_RIGHT:
            return JoinType::kRight;
        case JOIN_FULL:
            return JoinType::kFull;
        case JOIN_SEMI:
            return JoinType::kSemi;
        case JOIN_ANTI:
            return JoinType::kAnti;
#if PG_VERSION_NUM >= 160000
        case JOIN_RIGHT_ANTI:
            return JoinType::kRightAnti;
#endif
#if PG_VERSION_NUM >= 180000
        case JOIN_RIGHT_SEMI:
            return JoinType::kRightSemi;
#endif
        default:
            return std::nullopt;
    }
}

}  // namespace

namespace {

// Which sides' rows a join keeps as they are, so that a condition on them may as well come later.
bool keeps_probe(JoinType type) {
    return type == JoinType::kInner || type == JoinType::kLeft || type == JoinType::kSemi ||
           type == JoinType::kAnti;
}
bool keeps_build(JoinType type) {
    return type == JoinType::kInner || type == JoinType::kRight || type == JoinType::kRightSemi ||
           type == JoinType::kRightAnti;
}

}  // namespace

bool Builder::add_key(plan::Operator& op, OpExpr* clause, const Scope& probe, const Scope& build) {
    if (list_length(clause->args) != 2 || !is_default_equality(clause->opno)) {
        refuse("join: an operator that is no plain equality");
        return false;
    }
    auto left = translate(static_cast<Node*>(linitial(clause->args)), probe, "join");
    if (!left) return false;
    auto right = translate(static_cast<Node*>(lsecond(clause->args)), build, "join");
    if (!right) return false;
    if (!match_types(*left, *right)) {
        refuse("join: keys of different types");
        return false;
    }
    if (plan::is_text(left->type.id) && !has_plain_equality(clause->inputcollid)) {
        refuse("join: the collation is not deterministic");
        return false;
    }
    op.probe_keys.push_back(std::move(*left));
    op.build_keys.push_back(std::move(*right));
    return true;
}

// Conditions on an enclosing query's row that hold for both sides: those that say the same of
// either make the sides equal, and one of the two is enough. Others go up from a side that is kept.
bool Builder::combine_lifted(Core& core, const std::vector<Lifted>& probe,
                             const std::vector<Lifted>& build) {
    plan::Operator& op = core.op;
    const auto width = static_cast<int>(op.inputs[0].output.size());
    const bool from_probe = keeps_probe(op.join);
    std::vector<bool> probe_used(probe.size());
    std::vector<bool> build_used(build.size());
    for (size_t b = 0; b < build.size(); ++b) {
        for (size_t p = 0; p < probe.size() && build[b].is_key; ++p) {
            if (!probe[p].is_key || !same_expression(probe[p].outer(), build[b].outer())) continue;
            Expr left = probe[p].inner();
            Expr right = build[b].inner();
            if (!match_types(left, right)) continue;
            op.probe_keys.push_back(std::move(left));
            op.build_keys.push_back(std::move(right));
            (from_probe ? build_used[b] : probe_used[p]) = true;
            break;
        }
    }
    for (size_t p = 0; p < probe.size(); ++p) {
        if (probe_used[p]) continue;
        if (!from_probe) {
            refuse("join: a value of an enclosing query");
            return false;
        }
        core.lifted.push_back(probe[p]);
    }
    for (size_t b = 0; b < build.size(); ++b) {
        if (build_used[b]) continue;
        if (!keeps_build(op.join)) {
            refuse("join: a value of an enclosing query");
            return false;
        }
        core.lifted.push_back(build[b]);
        // A join that outputs its build side alone numbers the columns from there.
        if (op.join == JoinType::kInner || op.join == JoinType::kRight)
            renumber(core.lifted.back().predicate, [&](int column) { return column + width; });
    }
    return true;
}

// What the inner side of a nested loop compares with the outer row joins the two. `lifted` is over
// the inner side's columns; what is left of it belongs to enclosing queries.
bool Builder::join_loop(Core& core, std::vector<Lifted>& lifted, const OuterValues& loop) {
    plan::Operator& op = core.op;
    const auto width = static_cast<int>(op.inputs[0].output.size());
    std::vector<Lifted> others;
    for (Lifted& condition : lifted) {
        if (!reads_outer(condition.predicate, loop)) {
            others.push_back(std::move(condition));
            continue;
        }
        if (condition.is_key) {
            Expr left = condition.outer();
            Expr right = condition.inner();
            insert_outer(left, loop);
            if (!has_outer(left) && match_types(left, right)) {
                op.probe_keys.push_back(std::move(left));
                op.build_keys.push_back(std::move(right));
                continue;
            }
        }
        Expr predicate = std::move(condition.predicate);
        renumber(predicate, [&](int column) { return column + width; });
        insert_outer(predicate, loop);
        if (!has_outer(predicate)) {
            op.predicates.push_back(std::move(predicate));
        } else if (op.join == JoinType::kInner) {
            core.lifted.push_back({std::move(predicate), false});
        } else {
            refuse("join: a value of an enclosing query");
            return false;
        }
    }
    lifted = std::move(others);
    return true;
}

// Adds the conditions that come before the first with a subquery; returns the others, which an
// inner join's rows have to satisfy afterwards.
std::optional<List*> Builder::add_join_quals(Core& core, List* quals, const Scope& joined) {
    const bool inner = core.op.join == JoinType::kInner;
    List* later = NIL;
    const ListCell* cell;
    foreach (cell, quals) {
        auto* clause = static_cast<Node*>(lfirst(cell));
        if (inner && (later != NIL || has_subplans(clause))) {
            pg_call([&] { later = lappend(later, clause); });
            continue;
        }
        auto predicate = translator_.translate_with_outer(clause, joined);
        if (!predicate || (!inner && has_outer(*predicate)))
            return refuse<List*>(
                "join: " + (predicate ? "a value of an enclosing query" : translator_.reason()));
        if (has_outer(*predicate))
            core.lifted.push_back(lift(std::move(*predicate), is_key_clause(clause)));
        else
            core.op.predicates.push_back(std::move(*predicate));
    }
    return later;
}

std::optional<Core> Builder::join(Join* node, List* key_clauses) {
    Core core;
    plan::Operator& op = core.op;
    op.kind = OperatorKind::kJoin;
    op.rows = node->plan.plan_rows;
    const auto type = join_type(node->jointype);
    if (!type) return refuse("a join of this type");
    op.join = *type;
    Plan* outer = outerPlan(node);
    Plan* inner = innerPlan(node);
    auto probe = build(outer, Order::kAny);
    if (!probe) return std::nullopt;
    Core sides[2];
    sides[0].scope = scope_of(outer->targetlist, OUTER_VAR, *probe);
    sides[0].op = std::move(probe->op);

    OuterValues loop_values;
    const ListCell* cell;
    std::optional<Built> build_side;
    {
        const OuterScope restored(translator_.outer());
        if (IsA(node, NestLoop)) {
            const List* parameters = reinterpret_cast<NestLoop*>(node)->nestParams;
            if (parameters != NIL && has_varying_init_plans(inner))
                return refuse("nested loop: a subquery that runs once for each outer row");
            foreach (cell, parameters) {
                const auto* parameter = lfirst_node(NestLoopParam, cell);
                auto value = translate(reinterpret_cast<Node*>(parameter->paramval), sides[0].scope,
                                       "nested loop");
                if (!value) return std::nullopt;
                add_outer(translator_.outer(), parameter->paramno, *value, &loop_values);
            }
        }
        build_side = build(inner, Order::kAny);
    }
    if (!build_side) return std::nullopt;
    sides[1].scope = scope_of(inner->targetlist, INNER_VAR, *build_side);
    sides[1].op = std::move(build_side->op);
    foreach (cell, key_clauses) {
        const auto* clause = lfirst_node(OpExpr, cell);
        if (list_length(clause->args) != 2) return refuse("join: an operator of another kind");
        add_subplans(sides[0], static_cast<Node*>(linitial(clause->args)), false);
        add_subplans(sides[1], static_cast<Node*>(lsecond(clause->args)), false);
    }
    for (Core& side : sides) op.inputs.push_back(std::move(side.op));
    foreach (cell, key_clauses)
        if (!add_key(op, lfirst_node(OpExpr, cell), sides[0].scope, sides[1].scope))
            return std::nullopt;
    if (!join_loop(core, build_side->lifted, loop_values) ||
        !combine_lifted(core, probe->lifted, build_side->lifted))
        return std::nullopt;

    // Subqueries of one side have other values for the rows that the join makes up.
    Scope joined;
    for (Core& side : sides)
        for (Leaf& leaf : side.scope)
            joined.push_back(leaf.node != nullptr && IsA(leaf.node, SubPlan)
                                 ? Leaf{nullptr, leaf.type, nullptr}
                                 : leaf);
    const auto later = add_join_quals(core, node->joinqual, joined);
    if (!later) return std::nullopt;
    const auto border = joined.begin() + static_cast<ptrdiff_t>(op.inputs[0].output.size());
    switch (op.join) {
        case JoinType::kSemi:
        case JoinType::kAnti:
            core.scope = Scope(joined.begin(), border);
            op.output = op.inputs[0].output;
            break;
        case JoinType::kRightSemi:
        case JoinType::kRightAnti:
            core.scope = Scope(border, joined.end());
            op.output = op.inputs[1].output;
            break;
        default:
            core.scope = std::move(joined);
            op.output = plan::joined_types(op);
            break;
    }
    if (!check(op) || !add_quals(core, *later, op.rows)) return std::nullopt;
    return core;
}

}  // namespace loom::pg
