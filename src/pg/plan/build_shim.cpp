// For tests (pg_loom.shim): scans that PostgreSQL does, whose rows the engine takes as it would
// take those of a file. A copy of the scan that returns columns only becomes a child; the scan's
// quals and expressions are the engine's.

#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

namespace loom::pg {

using plan::OperatorKind;

namespace {

constexpr Oid kFirstUserObject = 16384;

bool is_users(Oid function, void*) {
    return function >= kFirstUserObject;
}

// What could be noticed if it ran in another order, or again for the fallback.
bool has_effects_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan)) return true;
    return check_functions_in_node(node, is_users, nullptr) ||
           walk_expression(node, has_effects_maylongjmp, nullptr);
}

bool collect_columns_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, Var)) return walk_expression(node, collect_columns_maylongjmp, arg);
    auto* columns = static_cast<List**>(arg);
    *columns = list_append_unique(*columns, node);
    return false;
}

// What a scan computes its rows from, beside tables.
Node* source_expressions(const Plan* plan) {
    switch (nodeTag(plan)) {
        case T_FunctionScan:
            return reinterpret_cast<Node*>(reinterpret_cast<const FunctionScan*>(plan)->functions);
        case T_ValuesScan:
            return reinterpret_cast<Node*>(reinterpret_cast<const ValuesScan*>(plan)->values_lists);
        default:
            return nullptr;
    }
}

bool functions_have_effects_maylongjmp(const Plan* plan) {
    if (!IsA(plan, FunctionScan)) return has_effects_maylongjmp(source_expressions(plan), nullptr);
    const ListCell* cell;
    foreach (cell, reinterpret_cast<const FunctionScan*>(plan)->functions)
        if (has_effects_maylongjmp(lfirst_node(RangeTblFunction, cell)->funcexpr, nullptr) ||
            contain_volatile_functions(lfirst_node(RangeTblFunction, cell)->funcexpr))
            return true;
    return false;
}

}  // namespace

bool is_shimmed(const Plan* plan) {
    if (!g_shim) return false;
    switch (nodeTag(plan)) {
        case T_SeqScan:
        case T_SampleScan:
        case T_IndexScan:
        case T_IndexOnlyScan:
        case T_BitmapHeapScan:
        case T_TidScan:
        case T_TidRangeScan:
        case T_FunctionScan:
        case T_ValuesScan:
            return true;
        default:
            return false;
    }
}

bool is_updatable_at_cursor(const Plan* plan) {
    if (plan == nullptr) return false;
    const ListCell* cell;
    foreach (cell, further_children(plan))
        if (is_updatable_at_cursor(static_cast<const Plan*>(lfirst(cell)))) return true;
    if (IsA(plan, Limit) || IsA(plan, Result)) return is_updatable_at_cursor(plan->lefttree);
    if (IsA(plan, SubqueryScan))
        return is_updatable_at_cursor(reinterpret_cast<const SubqueryScan*>(plan)->subplan);
    return is_shimmed(plan);
}

std::optional<Core> Builder::shimmed(Plan* plan) {
    if (pg_call([&] { return bms_overlap(plan->extParam, translator_.outer().varying); }))
        return refuse("rows of other tables that depend on an enclosing query");
    List* columns = NIL;
    auto* child = pg_call([&] {
        collect_columns_maylongjmp(reinterpret_cast<Node*>(plan->targetlist), &columns);
        collect_columns_maylongjmp(reinterpret_cast<Node*>(plan->qual), &columns);
        auto* copy = static_cast<Plan*>(copyObjectImpl(plan));
        copy->targetlist = NIL;
        copy->qual = NIL;
        copy->initPlan = NIL;
        return copy;
    });
    if (!pg_call([&] {
            return may_run_twice_maylongjmp(child, statement_) &&
                   !functions_have_effects_maylongjmp(child);
        }))
        return refuse("rows of a scan with side effects");

    Core core;
    core.op.kind = OperatorKind::kRows;
    core.op.source = static_cast<int>(row_plans_.size());
    core.op.rows = plan->qual == NIL ? plan->plan_rows : 0;
    core.op.may_raise = !IsA(child, SeqScan);
    const ListCell* cell;
    foreach (cell, columns) {
        auto* column = static_cast<Node*>(lfirst(cell));
        const auto type = output_type(column);
        if (!type) continue;
        const auto number = static_cast<AttrNumber>(list_length(child->targetlist) + 1);
        pg_call([&] {
            auto* expr = reinterpret_cast<::Expr*>(copy_object_maylongjmp(column));
            child->targetlist =
                lappend(child->targetlist, makeTargetEntry(expr, number, nullptr, false));
        });
        core.scope.push_back({column, *type, nullptr});
        core.op.output.push_back(*type);
        core.op.host_columns.push_back(number);
        core.op.columns.push_back(column_label(column));
    }
    const auto relation = static_cast<int>(reinterpret_cast<const Scan*>(plan)->scanrelid);
    relids_ = pg_call([&] { return bms_add_member(relids_, relation); });
    row_plans_.push_back(child);
    if (!check(core.op)) return std::nullopt;
    return core;
}

}  // namespace loom::pg
