#include "pg/plan/outer_reference.h"

#include <algorithm>

#include "exec/functions.h"
#include "pg/bridge/bridge.h"
#include "pg/plan/sql_type.h"
#include "plan/numeric_expr.h"

extern "C" {
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::TypeId;

bool has_outer(const Expr& expr) {
    if (expr.kind == ExprKind::kColumn) return expr.index >= kOuterColumn;
    return std::any_of(expr.args.begin(), expr.args.end(), has_outer);
}

std::vector<int> inner_columns(const Expr& expr) {
    std::vector<int> columns = plan::columns_of(expr);
    columns.erase(std::lower_bound(columns.begin(), columns.end(), kOuterColumn), columns.end());
    return columns;
}

void renumber(Expr& expr, const std::function<int(int)>& map) {
    if (expr.kind == ExprKind::kColumn && expr.index < kOuterColumn) expr.index = map(expr.index);
    for (Expr& arg : expr.args) renumber(arg, map);
}

bool same_expression(const Expr& a, const Expr& b) {
    if (a.kind != b.kind || a.type != b.type || a.index != b.index || a.function != b.function ||
        a.args.size() != b.args.size())
        return false;
    if (a.kind != ExprKind::kColumn && a.kind != ExprKind::kCall) return false;
    for (size_t i = 0; i < a.args.size(); ++i)
        if (!same_expression(a.args[i], b.args[i])) return false;
    return true;
}

bool never_faults(const Expr& expr) {
    if (expr.kind == ExprKind::kHost) return false;
    if (expr.kind == ExprKind::kCall) {
        const exec::FunctionInfo* function = exec::find_function(expr.function);
        if (function == nullptr || function->may_fault) return false;
    }
    return std::all_of(expr.args.begin(), expr.args.end(), never_faults);
}

void add_outer(OuterParameters& parameters, int number, const Expr& value, OuterValues* values) {
    parameters.known.push_back({number, value.type});
    // A copy: the set before stays as it is for who restores it.
    parameters.varying =
        pg_call([&] { return bms_add_member(bms_copy(parameters.varying), number); });
    values->numbers.push_back(number);
    values->values.push_back(value);
}

bool reads_outer(const Expr& expr, const OuterValues& outer) {
    if (expr.kind == ExprKind::kColumn && expr.index >= kOuterColumn)
        return std::find(outer.numbers.begin(), outer.numbers.end(), expr.index - kOuterColumn) !=
               outer.numbers.end();
    return std::any_of(expr.args.begin(), expr.args.end(),
                       [&](const Expr& arg) { return reads_outer(arg, outer); });
}

void insert_outer(Expr& expr, const OuterValues& outer) {
    if (expr.kind == ExprKind::kColumn && expr.index >= kOuterColumn) {
        const auto found =
            std::find(outer.numbers.begin(), outer.numbers.end(), expr.index - kOuterColumn);
        if (found != outer.numbers.end())
            expr = Expr(outer.values[static_cast<size_t>(found - outer.numbers.begin())]);
        return;
    }
    for (Expr& arg : expr.args) insert_outer(arg, outer);
}

namespace {

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

}  // namespace

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

bool is_default_equality(Oid op) {
    return pg_call([&] {
        Oid left;
        Oid right;
        op_input_types(op, &left, &right);
        const Oid family = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
        return OidIsValid(family) && get_op_opfamily_strategy(op, family) == 3;
    });
}

bool is_key_clause(const Node* clause) {
    if (!IsA(clause, OpExpr)) return false;
    const auto* call = reinterpret_cast<const OpExpr*>(clause);
    return list_length(call->args) == 2 && is_default_equality(call->opno) && (!pg_call([&] {
               return type_is_collatable(exprType(static_cast<Node*>(linitial(call->args))));
           }) || has_plain_equality(call->inputcollid));
}

Lifted lift(Expr predicate, bool may_be_key) {
    Lifted lifted;
    lifted.predicate = std::move(predicate);
    std::vector<Expr>& args = lifted.predicate.args;
    if (!may_be_key || lifted.predicate.kind != ExprKind::kCall || args.size() != 2) return lifted;
    if (has_outer(args[0])) std::swap(args[0], args[1]);
    lifted.is_key = !has_outer(args[0]) && inner_columns(args[1]).empty() && has_outer(args[1]) &&
                    !inner_columns(args[0]).empty() && never_faults(args[1]);
    return lifted;
}

}  // namespace loom::pg
