#include "pg/bridge/evaluate_ahead.h"

#include "pg/bridge/bridge.h"
#include "pg/bridge/subtransaction.h"

extern "C" {
#include "executor/executor.h"
#include "executor/nodeSubplan.h"
}

namespace loom::pg {

namespace {

// Runs the subqueries whose results an expression reads.
bool run_subqueries_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, Param)) return walk_expression(node, run_subqueries_maylongjmp, arg);
    const auto* param = reinterpret_cast<Param*>(node);
    if (param->paramkind != PARAM_EXEC) return false;
    auto* context = static_cast<ExprContext*>(arg);
    auto* plan = static_cast<SubPlanState*>(context->ecxt_param_exec_vals[param->paramid].execPlan);
    if (plan != nullptr) ExecSetParamPlan(plan, context);
    return false;
}

bool cannot_fail(const Node* node) {
    while (IsA(node, RelabelType))
        node = reinterpret_cast<Node*>(reinterpret_cast<const RelabelType*>(node)->arg);
    return IsA(node, Const) || IsA(node, Param) || IsA(node, SQLValueFunction);
}

}  // namespace

bool evaluate_ahead(ExprState* expr, ExprContext* context, MemoryContext memory, Datum* value,
                    bool* null) {
    auto* node = reinterpret_cast<Node*>(expr->expr);
    // Outside of the subtransaction, which would take along what they hold if it failed.
    pg_call([&] { run_subqueries_maylongjmp(node, context); });
    auto evaluate = [&] {
        MemoryContext old = MemoryContextSwitchTo(memory);
        *value = ExecEvalExpr(expr, context, null);
        MemoryContextSwitchTo(old);
    };
    if (cannot_fail(node) || IsInParallelMode()) {
        pg_call(evaluate);
        return true;
    }
    return succeeds(evaluate);
}

}  // namespace loom::pg
