// Rows that PostgreSQL computes and the engine goes on with: ordinary tables among arrow_fdw's.

#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/may_raise.h"
#include "pg/plan/sql_type.h"

namespace loom::pg {

using plan::OperatorKind;

namespace {

bool any_reads_foreign_table(const List* plans, const PlannedStmt* statement) {
    const ListCell* cell;
    foreach (cell, plans)
        if (reads_foreign_table(static_cast<Plan*>(lfirst(cell)), statement)) return true;
    return false;
}

}  // namespace

namespace {

// What a node evaluates beside its quals and its target list.
List* own_expressions_maylongjmp(const Plan* plan) {
    List* found = NIL;
    const ListCell* cell;
    switch (nodeTag(plan)) {
        case T_Result:
            return list_make1(reinterpret_cast<const Result*>(plan)->resconstantqual);
        case T_ValuesScan:
            return list_make1(reinterpret_cast<const ValuesScan*>(plan)->values_lists);
        case T_FunctionScan:
            foreach (cell, reinterpret_cast<const FunctionScan*>(plan)->functions)
                found = lappend(found, lfirst_node(RangeTblFunction, cell)->funcexpr);
            return found;
        case T_NestLoop:
        case T_MergeJoin:
        case T_HashJoin:
            return list_make1(reinterpret_cast<const Join*>(plan)->joinqual);
        case T_Limit:
            return list_make2(reinterpret_cast<const Limit*>(plan)->limitOffset,
                              reinterpret_cast<const Limit*>(plan)->limitCount);
        case T_WindowAgg:
            return list_make2(reinterpret_cast<const WindowAgg*>(plan)->startOffset,
                              reinterpret_cast<const WindowAgg*>(plan)->endOffset);
        default:
            return NIL;
    }
}

bool runs_once(const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_SeqScan:
        case T_SampleScan:
        case T_IndexScan:
        case T_IndexOnlyScan:
        case T_BitmapHeapScan:
        case T_BitmapIndexScan:
        case T_BitmapAnd:
        case T_BitmapOr:
        case T_TidScan:
        case T_TidRangeScan:
        case T_FunctionScan:
        case T_ValuesScan:
        case T_SubqueryScan:
        // The rows of a CTE are computed once, and each scan of it has a place of its own.
        case T_CteScan:
        case T_Sort:
        case T_IncrementalSort:
        case T_Hash:
        case T_Material:
        case T_NestLoop:
        case T_MergeJoin:
        case T_HashJoin:
        case T_Agg:
        case T_Group:
        case T_Unique:
        case T_SetOp:
        case T_WindowAgg:
        case T_ProjectSet:
        case T_Result:
        case T_Append:
        case T_MergeAppend:
        case T_Limit:
            return false;
        default:
            return true;
    }
}

// Whether PostgreSQL may raise an error while it computes the rows of a plan.
bool rows_may_raise_maylongjmp(const Plan* plan) {
    if (plan == nullptr) return false;
    switch (nodeTag(plan)) {
        case T_SeqScan:
        case T_Sort:
        case T_IncrementalSort:
        case T_Hash:
        case T_Material:
        case T_Unique:
        case T_Append:
        case T_MergeAppend:
        case T_Limit:
        case T_Result:
        case T_ValuesScan:
            break;
        default:
            return true;
    }
    for (const List* list : {plan->targetlist, plan->qual, own_expressions_maylongjmp(plan)}) {
        const ListCell* cell;
        foreach (cell, list)
            if (may_raise_maylongjmp(static_cast<Node*>(lfirst(cell)))) return true;
    }
    const ListCell* cell;
    foreach (cell, further_children(plan))
        if (rows_may_raise_maylongjmp(static_cast<const Plan*>(lfirst(cell)))) return true;
    return rows_may_raise_maylongjmp(plan->lefttree);
}

struct Volatile {
    const PlannedStmt* statement;
};

// What a subquery does is not seen in the expression that has it.
bool has_effects_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    const auto* statement = static_cast<const Volatile*>(arg)->statement;
    if (IsA(node, SubPlan) &&
        !may_run_twice_maylongjmp(
            original_subplan(statement, reinterpret_cast<const SubPlan*>(node)->plan_id),
            statement))
        return true;
    return walk_expression(node, has_effects_maylongjmp, arg);
}

}  // namespace

bool may_run_twice_maylongjmp(const Plan* plan, const PlannedStmt* statement) {
    if (plan == nullptr) return true;
    // An initplan is evaluated once wherever its node is initialised.
    if (runs_once(plan) || plan->initPlan != NIL) return false;
    Volatile effects{statement};
    for (const List* list : {plan->targetlist, plan->qual, own_expressions_maylongjmp(plan)}) {
        auto* node = reinterpret_cast<Node*>(const_cast<List*>(list));
        if (contain_volatile_functions(node) || has_effects_maylongjmp(node, &effects))
            return false;
    }
    const ListCell* cell;
    foreach (cell, further_children(plan))
        if (!may_run_twice_maylongjmp(static_cast<const Plan*>(lfirst(cell)), statement))
            return false;
    if (IsA(plan, SubqueryScan) &&
        !may_run_twice_maylongjmp(reinterpret_cast<const SubqueryScan*>(plan)->subplan, statement))
        return false;
    return may_run_twice_maylongjmp(plan->lefttree, statement) &&
           may_run_twice_maylongjmp(plan->righttree, statement);
}

List* further_children(const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_Append:
            return reinterpret_cast<const Append*>(plan)->appendplans;
        case T_MergeAppend:
            return reinterpret_cast<const MergeAppend*>(plan)->mergeplans;
        default:
            return NIL;
    }
}

bool reads_foreign_table(const Plan* plan, const PlannedStmt* statement) {
    if (plan == nullptr) return false;
    if (IsA(plan, ForeignScan) || is_shimmed(plan)) return true;
    if (IsA(plan, CteScan))
        return reads_foreign_table(
            original_subplan(statement, reinterpret_cast<const CteScan*>(plan)->ctePlanId),
            statement);
    if (IsA(plan, SubqueryScan) &&
        reads_foreign_table(reinterpret_cast<const SubqueryScan*>(plan)->subplan, statement))
        return true;
    return any_reads_foreign_table(further_children(plan), statement) ||
           reads_foreign_table(plan->lefttree, statement) ||
           reads_foreign_table(plan->righttree, statement);
}

std::optional<Built> Builder::rows(Plan* plan) {
    if (!pg_call([&] { return may_run_twice_maylongjmp(plan, statement_); }))
        return refuse<Built>("rows of other tables");
    if (pg_call([&] { return bms_overlap(plan->extParam, translator_.outer().varying); }))
        return refuse<Built>("rows of other tables that depend on an enclosing query");
    Built built;
    plan::Operator source;
    source.kind = OperatorKind::kRows;
    source.source = static_cast<int>(row_plans_.size());
    source.rows = plan->plan_rows;
    source.may_raise = pg_call([&] { return rows_may_raise_maylongjmp(plan); });
    std::vector<plan::Expr> exprs;
    const ListCell* cell;
    foreach (cell, plan->targetlist) {
        const auto* entry = lfirst_node(TargetEntry, cell);
        auto* expr = reinterpret_cast<Node*>(entry->expr);
        const auto type = output_type(expr);
        built.present.push_back(type.has_value());
        if (!type) {
            exprs.push_back(plan::make_constant(plan::make_type(plan::TypeId::kBool), {}));
            continue;
        }
        exprs.push_back(plan::make_column(static_cast<int>(source.output.size()), *type));
        source.output.push_back(*type);
        source.host_columns.push_back(entry->resno);
        source.columns.push_back(column_label(expr));
    }
    if (source.output.empty()) return refuse<Built>("rows of other tables");
    row_plans_.push_back(plan);
    built.op = source.output.size() == exprs.size() ? std::move(source)
                                                    : project(std::move(source), std::move(exprs));
    if (!check(built.op)) return std::nullopt;
    return built;
}

std::string Builder::column_label(Node* expr) const {
    if (!IsA(expr, Var)) return "";
    const auto* var = reinterpret_cast<Var*>(expr);
    if (var->varno < 1 || var->varno > list_length(statement_->rtable) || var->varattno < 1)
        return "";
    const auto* entry = static_cast<RangeTblEntry*>(list_nth(statement_->rtable, var->varno - 1));
    const List* names = entry->eref->colnames;
    return var->varattno <= list_length(names) ? strVal(list_nth(names, var->varattno - 1)) : "";
}

}  // namespace loom::pg
