// Rows that PostgreSQL computes and the engine goes on with: ordinary tables among arrow_fdw's.

#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
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

bool may_run_twice_maylongjmp(const Plan* plan) {
    if (plan == nullptr) return true;
    switch (nodeTag(plan)) {
        case T_SeqScan:
        case T_IndexScan:
        case T_IndexOnlyScan:
        case T_BitmapHeapScan:
        case T_BitmapIndexScan:
        case T_Sort:
        case T_Hash:
        case T_Material:
        case T_HashJoin:
        case T_Agg:
        case T_Unique:
        case T_Result:
        case T_ValuesScan:
        case T_FunctionScan:
        case T_SampleScan:
        case T_TidScan:
        case T_TidRangeScan:
            break;
        default:
            return false;
    }
    // An initplan is evaluated once wherever its node is initialised.
    const bool constant =
        !IsA(plan, Result) ||
        !contain_volatile_functions(reinterpret_cast<const Result*>(plan)->resconstantqual);
    const bool values =
        !IsA(plan, ValuesScan) || !contain_volatile_functions(reinterpret_cast<Node*>(
                                      reinterpret_cast<const ValuesScan*>(plan)->values_lists));
    return plan->initPlan == NIL && constant && values &&
           !contain_volatile_functions(reinterpret_cast<Node*>(plan->targetlist)) &&
           !contain_volatile_functions(reinterpret_cast<Node*>(plan->qual)) &&
           may_run_twice_maylongjmp(plan->lefttree) && may_run_twice_maylongjmp(plan->righttree);
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
    if (!pg_call([&] { return may_run_twice_maylongjmp(plan); }))
        return refuse<Built>("rows of other tables");
    if (pg_call([&] { return bms_overlap(plan->extParam, translator_.outer().varying); }))
        return refuse<Built>("rows of other tables that depend on an enclosing query");
    Built built;
    plan::Operator source;
    source.kind = OperatorKind::kRows;
    source.source = static_cast<int>(row_plans_.size());
    source.rows = plan->plan_rows;
    std::vector<plan::Expr> exprs;
    const ListCell* cell;
    foreach (cell, plan->targetlist) {
        const auto* entry = lfirst_node(TargetEntry, cell);
        auto* expr = reinterpret_cast<Node*>(entry->expr);
        const auto type = engine_type(exprType(expr), exprTypmod(expr));
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
