// The frame: which nodes are converted, and what of a node's expressions goes where.

#include "pg/plan/builder.h"

#include <algorithm>
#include <utility>

#include "exec/query.h"
#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/plan/sql_type.h"

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;

Scope scope_of(const List* tlist, int varno, const Built& below) {
    Scope scope;
    const ListCell* cell;
    size_t i = 0;
    foreach (cell, tlist) {
        const auto* entry = lfirst_node(TargetEntry, cell);
        auto* expr = reinterpret_cast<Node*>(entry->expr);
        if (!below.present[i]) {
            scope.push_back({nullptr, below.op.output[i++], nullptr});
            continue;
        }
        auto* var = pg_call([&] {
            return makeVar(varno, entry->resno, exprType(expr), exprTypmod(expr),
                           exprCollation(expr), 0);
        });
        scope.push_back({reinterpret_cast<Node*>(var), below.op.output[i++], nullptr});
    }
    for (; i < below.op.output.size(); ++i) scope.push_back({nullptr, below.op.output[i], nullptr});
    return scope;
}

namespace {

struct Rewriting {
    Plan* plan;
};

Node* rewrite(Node* node, void* arg) {
    auto* rewriting = static_cast<Rewriting*>(arg);
    if (node == nullptr) return nullptr;
    if (!IsA(node, Var)) return mutate_expression(node, rewrite, arg);
    auto* var = reinterpret_cast<Var*>(node);
    Plan* below = nullptr;
    List* tlist = NIL;
    Plan* plan = rewriting->plan;
    if (var->varno == OUTER_VAR) {
        if (IsA(plan, Append))
            below = static_cast<Plan*>(linitial(reinterpret_cast<Append*>(plan)->appendplans));
        else if (IsA(plan, MergeAppend))
            below = static_cast<Plan*>(linitial(reinterpret_cast<MergeAppend*>(plan)->mergeplans));
        else
            below = outerPlan(plan);
    } else if (var->varno == INNER_VAR) {
        below = innerPlan(plan);
    }
    if (var->varno == INDEX_VAR && IsA(plan, IndexOnlyScan)) {
        const List* indexed = reinterpret_cast<IndexOnlyScan*>(plan)->indextlist;
        auto* entry = static_cast<TargetEntry*>(list_nth(indexed, var->varattno - 1));
        return reinterpret_cast<Node*>(copy_object_maylongjmp(entry->expr));
    }
    if (below != nullptr) tlist = below->targetlist;
    if (tlist == NIL || var->varattno < 1 || var->varattno > list_length(tlist))
        return copy_object_maylongjmp(node);
    auto* entry = static_cast<TargetEntry*>(list_nth(tlist, var->varattno - 1));
    return in_terms_of_relations(reinterpret_cast<Node*>(entry->expr), below);
}

}  // namespace

Node* in_terms_of_relations(Node* node, Plan* plan) {
    Rewriting rewriting{plan};
    return rewrite(node, &rewriting);
}

const char* node_name(const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_ForeignScan:
            return "Foreign Scan";
        case T_SubqueryScan:
            return "Subquery Scan";
        case T_HashJoin:
            return "Hash Join";
        case T_MergeJoin:
            return "Merge Join";
        case T_NestLoop:
            return "Nested Loop";
        case T_Agg:
            return "Aggregate";
        case T_Group:
            return "Group";
        case T_Sort:
            return "Sort";
        case T_IncrementalSort:
            return "Incremental Sort";
        case T_Limit:
            return "Limit";
        case T_Unique:
            return "Unique";
        case T_Append:
            return "Append";
        case T_MergeAppend:
            return "Merge Append";
        case T_Result:
            return "Result";
        case T_WindowAgg:
            return "WindowAgg";
        case T_SetOp:
            return "SetOp";
        case T_ProjectSet:
            return "ProjectSet";
        case T_CteScan:
            return "CTE Scan";
        default:
            return "Plan";
    }
}

namespace {

// Conditions that hide rows (security barriers, row level security) must come before what tells of
// the rows; the engine takes filters in any order.
HostCalls allowed_calls(const PlannedStmt* statement) {
    if (statement->dependsOnRole) return HostCalls::kLeakproof;
    const ListCell* cell;
    foreach (cell, statement->rtable)
        if (lfirst_node(RangeTblEntry, cell)->security_barrier) return HostCalls::kLeakproof;
    return HostCalls::kAll;
}

}  // namespace

Builder::Builder(PlannedStmt* statement)
    : statement_(statement), translator_(allowed_calls(statement)) {}

std::optional<Expr> Builder::translate(Node* node, const Scope& scope, const char* what) {
    auto expr = translator_.translate(node, scope);
    if (!expr) refuse(std::string(what) + ": " + translator_.reason());
    return expr;
}

bool Builder::check(const Operator& op) {
    std::string reason;
    if (exec::supports(op, &reason)) return true;
    refuse(reason.empty() ? "the engine has no such operator" : reason);
    return false;
}

bool Builder::add_filter(Core& core, const std::vector<Expr>& predicates, double rows) {
    if (predicates.empty()) return true;
    Operator filter;
    filter.kind = OperatorKind::kFilter;
    filter.rows = rows;
    filter.predicates = predicates;
    filter.output = core.op.output;
    filter.inputs.push_back(std::move(core.op));
    core.op = std::move(filter);
    return check(core.op);
}

std::optional<Core> Builder::core(Plan* plan, Order order) {
    nodes_.push_back(plan);
    switch (nodeTag(plan)) {
        case T_ForeignScan:
            return scan(reinterpret_cast<ForeignScan*>(plan));
        case T_SubqueryScan:
            return subquery(reinterpret_cast<SubqueryScan*>(plan), order);
        case T_HashJoin:
            return join(reinterpret_cast<Join*>(plan),
                        reinterpret_cast<HashJoin*>(plan)->hashclauses);
        case T_MergeJoin:
            if (order == Order::kKept) return refuse("the order of a merge join");
            return join(reinterpret_cast<Join*>(plan),
                        reinterpret_cast<MergeJoin*>(plan)->mergeclauses);
        case T_NestLoop: {
            const auto keys = order_of(outerPlan(plan));
            if (order == Order::kKept && (!keys || !keys->empty()))
                return refuse("the order of a nested loop");
            return join(reinterpret_cast<Join*>(plan), NIL);
        }
        case T_Agg:
            return aggregate(reinterpret_cast<Agg*>(plan), order);
        case T_Group: {
            auto* group = reinterpret_cast<Group*>(plan);
            return distinct(plan, group->numCols, group->grpColIdx, group->grpOperators,
                            group->grpCollations, order);
        }
        case T_Unique: {
            auto* unique = reinterpret_cast<Unique*>(plan);
            if (unique->numCols != list_length(plan->targetlist)) return distinct_on(unique);
            return distinct(plan, unique->numCols, unique->uniqColIdx, unique->uniqOperators,
                            unique->uniqCollations, order);
        }
        case T_Sort:
        case T_IncrementalSort:
            return sort(reinterpret_cast<Sort*>(plan), order);
        case T_Limit:
            return limit(reinterpret_cast<Limit*>(plan));
        case T_Append:
            return append(plan, reinterpret_cast<Append*>(plan)->appendplans);
        case T_MergeAppend:
            return merge_append(reinterpret_cast<MergeAppend*>(plan), order);
        case T_Result:
            return result(reinterpret_cast<Result*>(plan), order);
        case T_CteScan:
            return cte_scan(reinterpret_cast<CteScan*>(plan), order);
        case T_WindowAgg:
            return window(reinterpret_cast<WindowAgg*>(plan));
        case T_SetOp:
            return set_operation(reinterpret_cast<SetOp*>(plan), order);
        case T_Hash:
        case T_Material:
        case T_Memoize:
            return pass_through(plan, order);
        case T_ProjectSet:
            return refuse("not one of the engine's operators");
        default:
            if (is_shimmed(plan)) return shimmed(plan);
            return refuse("rows of other tables");
    }
}

namespace {

struct Substituting {
    const std::vector<std::pair<Node*, Node*>>* substitutes;
};

Node* substitute(Node* node, void* arg) {
    if (node == nullptr) return nullptr;
    for (const auto& [from, to] : *static_cast<Substituting*>(arg)->substitutes)
        if (equal(from, node)) return copy_object_maylongjmp(to);
    return mutate_expression(node, substitute, arg);
}

}  // namespace

List* substituted(List* list, const Core& core) {
    if (core.substitutes.empty()) return list;
    Substituting substituting{&core.substitutes};
    return pg_call([&] {
        return reinterpret_cast<List*>(substitute(reinterpret_cast<Node*>(list), &substituting));
    });
}

bool is_identity(const std::vector<Expr>& exprs, size_t width) {
    if (exprs.size() != width) return false;
    for (size_t i = 0; i < width; ++i)
        if (exprs[i].kind != ExprKind::kColumn || exprs[i].index != static_cast<int>(i))
            return false;
    return true;
}

Operator project(Operator input, std::vector<Expr> exprs) {
    Operator op;
    op.kind = OperatorKind::kProject;
    op.rows = input.rows;
    for (const Expr& expr : exprs) op.output.push_back(expr.type);
    op.expressions = std::move(exprs);
    op.inputs.push_back(std::move(input));
    return op;
}

namespace {

// What stands where the engine has no column: a constant that is dropped when the plan is done.
Expr placeholder(const Node* expr) {
    const auto type = engine_type(exprType(expr), exprTypmod(expr));
    return plan::make_constant(type.value_or(plan::make_type(plan::TypeId::kBool)), {});
}

}  // namespace

Builder::Progress Builder::progress() const {
    return {
        ctes_, tables_.size(), nodes_.size(), row_plans_.size(), translator_.mark(), pg_call([&] {
            return bms_copy(relids_);
        })};
}

void Builder::go_back(const Progress& progress) {
    ctes_ = progress.ctes;
    tables_.resize(progress.tables);
    nodes_.resize(progress.nodes);
    row_plans_.resize(progress.row_plans);
    translator_.go_back(progress.translated);
    relids_ = progress.relids;
}

std::optional<Built> Builder::build(Plan* plan, Order order) {
    top_ = false;
    if (!reads_foreign_table(plan, statement_) && !IsA(plan, Hash) && !IsA(plan, Material))
        return rows(plan);
    if (!g_shim) return build_node(plan, order);
    // Rows of what the engine lacks are as good as those of a table.
    const Progress before = progress();
    auto built = build_node(plan, order);
    if (built || order == Order::kKept || IsA(plan, Hash)) return built;
    std::string reason = std::exchange(reason_, {});
    go_back(before);
    built = rows(plan);
    if (!built) reason_ = std::move(reason);
    return built;
}

std::optional<Built> Builder::build_node(Plan* plan, Order order) {
    auto built = core(plan, order);
    if (!built || !add_quals(*built, plan->qual, plan->plan_rows)) return std::nullopt;
    return add_target_list(std::move(*built), plan);
}

// Conditions that compare with an enclosing query's row become `lifted`; the others filter.
bool Builder::add_quals(Core& core, List* quals, double rows) {
    std::vector<Expr> predicates;
    const ListCell* cell;
    foreach (cell, substituted(quals, core)) {
        auto* clause = static_cast<Node*>(lfirst(cell));
        if (has_subplans(clause)) {
            // Subqueries come last in PostgreSQL's order, and see the rows that are left.
            if (!add_filter(core, std::exchange(predicates, {}), rows)) return false;
            add_subplans(core, clause, true);
        }
        auto predicate = translator_.translate_with_outer(clause, core.scope);
        if (!predicate) {
            refuse("filter: " + translator_.reason());
            return false;
        }
        if (has_outer(*predicate))
            core.lifted.push_back(lift(std::move(*predicate), is_key_clause(clause)));
        else
            predicates.push_back(std::move(*predicate));
    }
    return add_filter(core, predicates, rows);
}

std::optional<Built> Builder::add_target_list(Core core, Plan* plan) {
    std::vector<Expr> exprs;
    Built result;
    const ListCell* cell;
    foreach (cell, substituted(plan->targetlist, core)) {
        auto* original = reinterpret_cast<Node*>(lfirst_node(TargetEntry, cell)->expr);
        add_subplans(core, original, false);
        auto expr = translator_.translate(original, core.scope);
        result.present.push_back(expr.has_value());
        if (!expr && !IsA(original, Var) && !IsA(original, Const))
            return refuse<Built>("output: " + translator_.reason());
        exprs.push_back(expr ? std::move(*expr) : placeholder(original));
    }
    // What lifted conditions read goes up with the rows.
    std::vector<int> places(core.op.output.size(), -1);
    for (Lifted& lifted : core.lifted)
        renumber(lifted.predicate, [&](int column) {
            int& place = places[static_cast<size_t>(column)];
            if (place < 0) {
                place = static_cast<int>(exprs.size());
                exprs.push_back(
                    plan::make_column(column, core.op.output[static_cast<size_t>(column)]));
            }
            return place;
        });
    result.lifted = std::move(core.lifted);
    result.op = is_identity(exprs, core.op.output.size())
                    ? std::move(core.op)
                    : project(std::move(core.op), std::move(exprs));
    if (!check(result.op)) return std::nullopt;
    return result;
}

}  // namespace loom::pg
