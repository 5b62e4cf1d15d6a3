// Subqueries in expressions. PostgreSQL runs such a SubPlan once for each row of its node; here its
// rows are computed once, for all outer rows, and joined:
//
//   (SELECT agg(x) FROM t WHERE t.k = outer.k)   left join with the groups of t by k
//   (SELECT x FROM t WHERE t.k = outer.k)        left join, whose build side must have unique keys
//   EXISTS (SELECT FROM t WHERE t.k = outer.k)   mark join
//   outer.x IN (SELECT k FROM t)                 mark join; NOT IN has it negated
//   (outer.x, outer.y) NOT IN (SELECT k, l ...)  more marks, for what is unknown
//
// That computes groups which PostgreSQL would never have asked for. What fails in one of them ends
// the engine's work before the first row is out, and PostgreSQL's own plan decides.

#include <algorithm>
#include <utility>

#include "exec/expression.h"
#include "pg/aggregate/approx_count_distinct.h"
#include "pg/bridge/bridge.h"
#include "pg/node/loom_scan.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "utils/fmgroids.h"
}

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::JoinType;
using plan::Operator;
using plan::OperatorKind;

namespace {

bool has_subplans_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    return IsA(node, SubPlan) || walk_expression(node, has_subplans_maylongjmp, nullptr);
}

// SubPlans of an expression, and whether their results may be false where they are unknown.
struct Found {
    List* exact = NIL;
    List* unknown_is_false = NIL;
};

bool find_exact_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, SubPlan)) return walk_expression(node, find_exact_maylongjmp, arg);
    auto* list = static_cast<List**>(arg);
    *list = lappend(*list, node);
    return false;
}

// Through AND and OR unknown stays as good as false.
void find_subplans_maylongjmp(Node* node, bool condition, Found* found) {
    if (condition && IsA(node, SubPlan)) {
        found->unknown_is_false = lappend(found->unknown_is_false, node);
        return;
    }
    if (condition && IsA(node, BoolExpr) && reinterpret_cast<BoolExpr*>(node)->boolop != NOT_EXPR) {
        const ListCell* cell;
        foreach (cell, reinterpret_cast<BoolExpr*>(node)->args)
            find_subplans_maylongjmp(static_cast<Node*>(lfirst(cell)), true, found);
        return;
    }
    find_exact_maylongjmp(node, &found->exact);
}

bool is_count(const Node* node) {
    if (!IsA(node, Aggref)) return false;
    const Oid function = reinterpret_cast<const Aggref*>(node)->aggfnoid;
    return function == F_COUNT_ || function == F_COUNT_ANY || function == F_REGR_COUNT ||
           is_approx_count_distinct(function);
}

// A count is 0 where there is no group.
Expr count_or_zero(Expr count) {
    Expr expr;
    expr.kind = ExprKind::kCoalesce;
    expr.type = count.type;
    const plan::Type type = count.type;
    expr.args.push_back(std::move(count));
    expr.args.push_back(plan::make_constant(type, column::Scalar::of_int(0)));
    return expr;
}

Operator make_join(JoinType type, Operator probe, Operator build) {
    Operator join;
    join.kind = OperatorKind::kJoin;
    join.join = type;
    join.rows = probe.rows;
    join.inputs.push_back(std::move(probe));
    join.inputs.push_back(std::move(build));
    return join;
}

Node* without_relabels(Node* node) {
    while (IsA(node, RelabelType))
        node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
    return node;
}

// The comparisons of an IN.
List* tests_of(const SubPlan* subplan) {
    Node* test = subplan->testexpr;
    if (test == nullptr) return NIL;
    if (IsA(test, BoolExpr) && reinterpret_cast<BoolExpr*>(test)->boolop == AND_EXPR)
        return reinterpret_cast<BoolExpr*>(test)->args;
    return pg_call([&] { return list_make1(test); });
}

// Which column of a subquery a comparison has on its right side; -1 if none.
int place_of(const SubPlan* subplan, const Node* right) {
    if (!IsA(right, Param)) return -1;
    int place = 0;
    const ListCell* cell;
    foreach (cell, subplan->paramIds) {
        if (lfirst_int(cell) == reinterpret_cast<const Param*>(right)->paramid) return place;
        ++place;
    }
    return -1;
}

plan::Type bool_type() {
    return plan::make_type(plan::TypeId::kBool);
}

Expr bool_column(int column) {
    return plan::make_column(column, bool_type());
}

Expr combined(ExprKind kind, std::vector<Expr> args) {
    if (args.size() == 1 && (kind == ExprKind::kAnd || kind == ExprKind::kOr)) return args[0];
    Expr expr;
    expr.kind = kind;
    expr.type = bool_type();
    expr.args = std::move(args);
    return expr;
}

Expr any_is_null(const std::vector<Expr>& values) {
    std::vector<Expr> tests;
    for (const Expr& value : values) tests.push_back(combined(ExprKind::kIsNull, {value}));
    return combined(ExprKind::kOr, std::move(tests));
}

Expr one() {
    return plan::make_constant(plan::make_type(plan::TypeId::kInt4), column::Scalar::of_int(1));
}

bool is_integer(plan::Type type) {
    return type.id == plan::TypeId::kInt2 || type.id == plan::TypeId::kInt4 ||
           type.id == plan::TypeId::kInt8 || type.id == plan::TypeId::kDate;
}

}  // namespace

bool has_varying_init_plans(const Plan* plan) {
    if (plan == nullptr) return false;
    const ListCell* cell;
    foreach (cell, plan->initPlan)
        if (lfirst_node(SubPlan, cell)->parParam != NIL || !bms_is_empty(plan->extParam))
            return true;
    foreach (cell, further_children(plan))
        if (has_varying_init_plans(static_cast<Plan*>(lfirst(cell)))) return true;
    if (IsA(plan, SubqueryScan) &&
        has_varying_init_plans(reinterpret_cast<const SubqueryScan*>(plan)->subplan))
        return true;
    return has_varying_init_plans(plan->lefttree) || has_varying_init_plans(plan->righttree);
}

bool has_subplans(Node* node) {
    return pg_call([&] { return has_subplans_maylongjmp(node, nullptr); });
}

Plan* original_subplan(const PlannedStmt* statement, int number) {
    auto* plan = static_cast<Plan*>(list_nth(statement->subplans, number - 1));
    if (plan == nullptr) return nullptr;
    if (IsA(plan, Material) && plan->lefttree != nullptr && IsA(plan->lefttree, CustomScan))
        plan = plan->lefttree;
    if (IsA(plan, CustomScan) &&
        reinterpret_cast<CustomScan*>(plan)->methods == loom_scan_methods())
        plan = plan->lefttree;
    return plan;
}

void Builder::add_subplans(Core& core, Node* expr, bool condition) {
    if (!has_subplans(expr)) return;
    Found found;
    pg_call([&] { find_subplans_maylongjmp(expr, condition, &found); });
    for (List* list : {found.exact, found.unknown_is_false}) {
        const ListCell* cell;
        foreach (cell, list) {
            auto* subplan = lfirst_node(SubPlan, cell);
            if (find_leaf(core.scope, reinterpret_cast<Node*>(subplan)) >= 0) continue;
            // An attempt that fails must leave nothing behind.
            Core attempt = core;
            const Progress before = progress();
            std::string reason = std::exchange(reason_, {});
            const bool added = add_subplan(attempt, subplan, list == found.unknown_is_false);
            std::string failure = std::exchange(reason_, std::move(reason));
            if (added) {
                core = std::move(attempt);
                continue;
            }
            go_back(before);
            if (subplan_reason_.empty()) subplan_reason_ = std::move(failure);
        }
    }
}

// Translates what a subquery is handed. A value of an enclosing row that an earlier condition sets
// equal to a column is that column: rows for which it is not are dropped anyway.
std::optional<Expr> Builder::subplan_argument(Node* argument, const Core& core) {
    auto value = translator_.translate_with_outer(argument, core.scope);
    if (!value) return refuse<Expr>("subquery: " + translator_.reason());
    if (!has_outer(*value)) return value;
    // Equal integers are the same in every way; equal numerics may be written with other digits.
    const auto is_same = [&](const Lifted& condition) {
        return condition.is_key && is_integer(value->type) &&
               condition.inner().type == value->type && same_expression(condition.outer(), *value);
    };
    const auto known = std::find_if(core.lifted.begin(), core.lifted.end(), is_same);
    if (known == core.lifted.end()) return refuse<Expr>("a value of an enclosing query");
    return known->inner();
}

bool Builder::add_subplan(Core& core, SubPlan* subplan, bool unknown_is_false) {
    Plan* plan = original_subplan(statement_, subplan->plan_id);
    if (plan == nullptr || has_varying_init_plans(plan)) {
        refuse("a subquery of this kind");
        return false;
    }
    // An attempt may be inside another; what that one knows of its rows means nothing here.
    const bool top = std::exchange(top_, false);
    const Plan* aggregate = std::exchange(correlated_aggregate_, nullptr);
    OuterValues outer;
    bool done = false;
    {
        const OuterScope restored(translator_.outer());
        std::vector<Expr> values;
        const ListCell* cell;
        foreach (cell, subplan->args) {
            auto value = subplan_argument(static_cast<Node*>(lfirst(cell)), core);
            if (!value || !never_faults(*value)) break;
            values.push_back(std::move(*value));
        }
        translator_.outer().known.clear();
        if (values.size() == static_cast<size_t>(list_length(subplan->args))) {
            size_t i = 0;
            foreach (cell, subplan->parParam)
                add_outer(translator_.outer(), lfirst_int(cell), values[i++], &outer);
            switch (subplan->subLinkType) {
                case EXPR_SUBLINK:
                    done = add_scalar(core, subplan, plan, outer);
                    break;
                case EXISTS_SUBLINK:
                    done = add_mark(core, subplan, plan, outer, false);
                    break;
                case ANY_SUBLINK:
                    done = add_mark(core, subplan, plan, outer,
                                    !subplan->unknownEqFalse && !unknown_is_false);
                    break;
                default:
                    refuse("a subquery of this kind");
            }
        }
    }
    top_ = top;
    correlated_aggregate_ = aggregate;
    return done;
}

bool Builder::join_lifted(Operator& join, const std::vector<Lifted>& lifted,
                          const OuterValues& outer, bool keys_only) {
    const auto width = static_cast<int>(join.inputs[0].output.size());
    for (const Lifted& condition : lifted) {
        if (condition.is_key) {
            Expr probe = condition.outer();
            Expr build = condition.inner();
            insert_outer(probe, outer);
            if (match_types(probe, build)) {
                join.probe_keys.push_back(std::move(probe));
                join.build_keys.push_back(std::move(build));
                continue;
            }
        }
        Expr predicate = condition.predicate;
        renumber(predicate, [&](int column) { return column + width; });
        insert_outer(predicate, outer);
        if (keys_only || has_outer(predicate)) {
            refuse("a subquery whose condition on the outer row is no equality");
            return false;
        }
        join.predicates.push_back(std::move(predicate));
    }
    return true;
}

bool Builder::add_scalar(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer) {
    if (IsA(plan, Agg) && reinterpret_cast<Agg*>(plan)->aggstrategy == AGG_PLAIN)
        return add_aggregate_value(core, subplan, plan, outer);
    return add_lookup(core, subplan, plan, outer);
}

bool Builder::add_aggregate_value(Core& core, SubPlan* subplan, Plan* plan,
                                  const OuterValues& outer) {
    correlated_aggregate_ = plan;
    auto groups = this->core(plan, Order::kAny);
    correlated_aggregate_ = nullptr;
    if (!groups) return false;
    Operator join = make_join(JoinType::kLeft, std::move(core.op), std::move(groups->op));
    const size_t width = join.inputs[0].output.size();
    if (!join_lifted(join, groups->lifted, outer, true)) return false;
    join.output = plan::joined_types(join);
    if (!check(join)) return false;

    Scope scope(width, Leaf{});
    for (const Leaf& group : groups->scope) {
        Leaf leaf = group;
        const auto column = static_cast<int>(scope.size());
        if (leaf.node != nullptr && is_count(leaf.node))
            leaf.value =
                std::make_shared<const Expr>(count_or_zero(plan::make_column(column, leaf.type)));
        scope.push_back(std::move(leaf));
    }
    std::vector<Expr> conditions;
    const ListCell* cell;
    foreach (cell, plan->qual) {
        auto condition = translate(static_cast<Node*>(lfirst(cell)), scope, "subquery");
        if (!condition) return false;
        conditions.push_back(std::move(*condition));
    }
    auto* entry = linitial_node(TargetEntry, plan->targetlist);
    auto value = translate(reinterpret_cast<Node*>(entry->expr), scope, "subquery");
    if (!value) return false;
    auto chosen =
        std::make_shared<const Expr>(plan::value_if(std::move(conditions), std::move(*value)));
    std::string reason;
    if (!exec::supports(*chosen, &reason)) {
        refuse(reason);
        return false;
    }
    for (size_t i = width; i < join.output.size(); ++i)
        core.scope.push_back({nullptr, join.output[i], nullptr});
    // There is a group key at least, which nothing else needs to be known by.
    core.scope[width] = {reinterpret_cast<Node*>(subplan), chosen->type, chosen};
    core.op = std::move(join);
    return true;
}

bool Builder::add_lookup(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer) {
    auto built = build(plan, Order::kAny);
    if (!built) return false;
    if (built->lifted.empty() || built->present.empty() || !built->present[0]) {
        refuse("a subquery without a condition on the outer row");
        return false;
    }
    const plan::Type type = built->op.output[0];
    Operator join = make_join(JoinType::kLeft, std::move(core.op), std::move(built->op));
    join.single = true;
    const size_t width = join.inputs[0].output.size();
    if (!join_lifted(join, built->lifted, outer, true)) return false;
    join.output = plan::joined_types(join);
    if (!check(join)) return false;
    core.scope.push_back({reinterpret_cast<Node*>(subplan), type, nullptr});
    for (size_t i = width + 1; i < join.output.size(); ++i)
        core.scope.push_back({nullptr, join.output[i], nullptr});
    core.op = std::move(join);
    return true;
}

bool Builder::add_mark(Core& core, SubPlan* subplan, Plan* plan, const OuterValues& outer,
                       bool null_aware) {
    auto built = build(plan, Order::kAny);
    if (!built) return false;
    const std::vector<Lifted> lifted = std::move(built->lifted);
    Operator join = make_join(JoinType::kMark, std::move(core.op), Operator());
    List* tests = tests_of(subplan);
    const ListCell* cell;
    foreach (cell, tests)
        if (!add_test(join, core, subplan, static_cast<Node*>(lfirst(cell)), *built)) return false;
    join.null_aware = null_aware && list_length(tests) == 1 && lifted.empty();
    const bool needs_second = null_aware && !join.null_aware;
    if (needs_second) built->op = share(std::move(built->op));
    const Compared compared{join.probe_keys, join.build_keys};
    join.inputs[1] = built->op;
    if (!join_lifted(join, lifted, outer, false)) return false;
    join.output = plan::joined_types(join);
    if (!check(join)) return false;
    core.op = std::move(join);
    core.scope.push_back({reinterpret_cast<Node*>(subplan), core.op.output.back(), nullptr});
    return !needs_second || add_unknown(core, subplan, compared, *built, lifted, outer);
}

// Which of several columns is NULL makes a difference, and NULLs of rows that the outer row does
// not ask for make none. So a row for which no other is equal gets a second mark: a row would be
// equal if its NULLs, or the other's, were the right values. Conditions on the outer row are what
// that is looked up by. Without them all pairs are of interest that have a NULL: those of rows that
// have one with all others, by a key that only such rows have, and those of all rows with others
// that have one.
bool Builder::add_unknown(Core& core, SubPlan* subplan, const Compared& compared,
                          const Built& built, const std::vector<Lifted>& lifted,
                          const OuterValues& outer) {
    const auto mark = static_cast<int>(core.scope.size()) - 1;
    core.scope.back() = {nullptr, core.op.output.back(), nullptr};
    std::vector<Expr> marks;
    const auto add = [&](Operator others, std::optional<Expr> probe_key) {
        Operator join = make_join(JoinType::kMark, std::move(core.op), std::move(others));
        if (probe_key) {
            join.build_keys.push_back(one());
            join.probe_keys.push_back(std::move(*probe_key));
        }
        if (!join_lifted(join, lifted, outer, false)) return false;
        if (!add_possible(join, core, subplan, built)) return false;
        join.output = plan::joined_types(join);
        if (!check(join)) return false;
        core.op = std::move(join);
        core.scope.push_back({nullptr, core.op.output.back(), nullptr});
        marks.push_back(bool_column(static_cast<int>(core.scope.size()) - 1));
        return true;
    };
    const auto is_key = [](const Lifted& condition) { return condition.is_key; };
    if (std::any_of(lifted.begin(), lifted.end(), is_key)) {
        if (!add(built.op, std::nullopt)) return false;
    } else {
        Core rows;
        rows.op = built.op;
        if (!add_filter(rows, {any_is_null(compared.build)}, 1)) return false;
        if (!add(std::move(rows.op), std::nullopt)) return false;
        if (!add(built.op, plan::value_if({any_is_null(compared.probe)}, one()))) return false;
    }
    Expr unknown = combined(ExprKind::kAnd, {combined(ExprKind::kOr, std::move(marks)),
                                             plan::make_constant(bool_type(), {})});
    auto value = std::make_shared<const Expr>(
        combined(ExprKind::kOr, {bool_column(mark), std::move(unknown)}));
    core.scope[static_cast<size_t>(mark)] = {reinterpret_cast<Node*>(subplan), bool_type(), value};
    return true;
}

// Adds that a row of the subquery may be the one asked for: no column is known to differ.
bool Builder::add_possible(Operator& join, const Core& core, const SubPlan* subplan,
                           const Built& built) {
    const List* tests = tests_of(subplan);
    Scope scope = core.scope;
    for (const plan::Type type : built.op.output) scope.push_back({nullptr, type, nullptr});
    const ListCell* cell;
    foreach (cell, tests) {
        auto* call = reinterpret_cast<OpExpr*>(lfirst(cell));
        auto* right = without_relabels(static_cast<Node*>(lsecond(call->args)));
        const auto place = static_cast<size_t>(place_of(subplan, right));
        scope[core.scope.size() + place].node = right;
    }
    foreach (cell, tests) {
        auto test = translate(static_cast<Node*>(lfirst(cell)), scope, "subquery");
        if (!test) return false;
        join.predicates.push_back(combined(ExprKind::kIsNotFalse, {std::move(*test)}));
    }
    return true;
}

// Adds `outer expression = column of the subquery`, as which IN arrives here.
bool Builder::add_test(Operator& join, const Core& core, const SubPlan* subplan, Node* test,
                       const Built& built) {
    if (!is_key_clause(test)) {
        refuse("a subquery compared by an operator that is no plain equality");
        return false;
    }
    const auto* call = reinterpret_cast<const OpExpr*>(test);
    auto* right = without_relabels(static_cast<Node*>(lsecond(call->args)));
    const int place = place_of(subplan, right);
    if (place < 0 || !built.present[static_cast<size_t>(place)]) {
        refuse("a subquery compared in another way");
        return false;
    }
    auto probe = translate(static_cast<Node*>(linitial(call->args)), core.scope, "subquery");
    if (!probe) return false;
    Expr build = plan::make_column(place, built.op.output[static_cast<size_t>(place)]);
    if (!match_types(*probe, build)) {
        refuse("a subquery compared with a value of another type");
        return false;
    }
    join.probe_keys.push_back(std::move(*probe));
    join.build_keys.push_back(std::move(build));
    return true;
}

}  // namespace loom::pg
