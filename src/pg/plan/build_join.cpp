// Joins: hash keys where the clauses have them, the rest as a residual condition.

#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"
#include "plan/numeric_expr.h"

extern "C" {
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using plan::Expr;
using plan::JoinType;
using plan::OperatorKind;
using plan::Type;
using plan::TypeId;

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

int integer_rank(TypeId id) {
    switch (id) {
        case TypeId::kInt2:
            return 1;
        case TypeId::kInt4:
            return 2;
        case TypeId::kInt8:
            return 3;
        default:
            return 0;
    }
}

// Widens an integer; every value of the narrower type is one of the wider.
Expr widen(Expr expr, TypeId to) {
    Oid function = F_INT8_INT4;
    if (expr.type.id == TypeId::kInt2) function = to == TypeId::kInt4 ? F_INT4_INT2 : F_INT8_INT2;
    return plan::make_call(function, plan::make_type(to), {std::move(expr)});
}

// Gives both sides of a key one type, if equality of the two types allows it.
bool match_types(Expr& probe, Expr& build) {
    if (probe.type == build.type) return true;
    if (probe.type.id == TypeId::kNumeric && build.type.id == TypeId::kNumeric) {
        plan::match_numerics(probe, build);
        return true;
    }
    const int probe_rank = integer_rank(probe.type.id);
    const int build_rank = integer_rank(build.type.id);
    if (probe_rank == 0 || build_rank == 0) return false;
    if (probe_rank < build_rank)
        probe = widen(std::move(probe), build.type.id);
    else
        build = widen(std::move(build), probe.type.id);
    return true;
}

// Whether `op` is the equality of its types' default operator classes.
bool is_default_equality(Oid op) {
    return pg_call([&] {
        Oid left;
        Oid right;
        op_input_types(op, &left, &right);
        const Oid family = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
        return OidIsValid(family) && get_op_opfamily_strategy(op, family) == 3;
    });
}

}  // namespace

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
    auto build_side = build(inner, Order::kAny);
    if (!build_side) return std::nullopt;
    const Scope probe_scope = scope_of(outer->targetlist, OUTER_VAR, *probe);
    const Scope build_scope = scope_of(inner->targetlist, INNER_VAR, *build_side);
    op.inputs.push_back(std::move(probe->op));
    op.inputs.push_back(std::move(build_side->op));
    Scope joined = probe_scope;
    joined.insert(joined.end(), build_scope.begin(), build_scope.end());

    const ListCell* cell;
    foreach (cell, key_clauses) {
        auto* clause = lfirst_node(OpExpr, cell);
        if (list_length(clause->args) != 2 || !is_default_equality(clause->opno))
            return refuse("join: an operator that is no plain equality");
        auto left = translate(static_cast<Node*>(linitial(clause->args)), probe_scope, "join");
        if (!left) return std::nullopt;
        auto right = translate(static_cast<Node*>(lsecond(clause->args)), build_scope, "join");
        if (!right) return std::nullopt;
        if (!match_types(*left, *right)) return refuse("join: keys of different types");
        if (plan::is_text(left->type.id) && !has_plain_equality(clause->inputcollid))
            return refuse("join: the collation is not deterministic");
        op.probe_keys.push_back(std::move(*left));
        op.build_keys.push_back(std::move(*right));
    }
    foreach (cell, node->joinqual) {
        auto predicate = translate(static_cast<Node*>(lfirst(cell)), joined, "join");
        if (!predicate) return std::nullopt;
        op.predicates.push_back(std::move(*predicate));
    }
    switch (op.join) {
        case JoinType::kSemi:
        case JoinType::kAnti:
            core.scope = probe_scope;
            op.output = op.inputs[0].output;
            break;
        case JoinType::kRightSemi:
        case JoinType::kRightAnti:
            core.scope = build_scope;
            op.output = op.inputs[1].output;
            break;
        default:
            core.scope = std::move(joined);
            op.output = plan::joined_types(op);
            break;
    }
    if (!check(op)) return std::nullopt;
    return core;
}

}  // namespace loom::pg
