#include "pg/node/loom_scan.h"

#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/node/execution.h"

extern "C" {
#include "executor/executor.h"
}

namespace loom::pg {

namespace {

LoomScanState* state_of(CustomScanState* node) {
    return reinterpret_cast<LoomScanState*>(node);
}

CustomScan* plan_of(CustomScanState* node) {
    return reinterpret_cast<CustomScan*>(node->ss.ps.plan);
}

// Lets PostgreSQL's own plan of the same piece answer from now on.
void start_fallback_maylongjmp(CustomScanState* node, int flags) {
    LoomScanState* state = state_of(node);
    EState* estate = node->ss.ps.state;
    MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
    // As for a subplan: the node reads forwards only, and asking for more could be too late, since
    // a CTE that the piece shares with others may have rows already.
    constexpr int kPassedOn = EXEC_FLAG_EXPLAIN_ONLY | EXEC_FLAG_WITH_NO_DATA;
    outerPlanState(node) = ExecInitNode(outerPlan(node->ss.ps.plan), estate, flags & kPassedOn);
    MemoryContextSwitchTo(old);
    state->fallback = true;
    state->row = state->rows = 0;
}

// Expressions of custom_exprs; each table's virtual quals become one.
List* prepare_expressions_maylongjmp(CustomScanState* node, const StoredPlan& stored) {
    List* states = NIL;
    int next = 0;
    List* exprs = plan_of(node)->custom_exprs;
    auto prepare = [&](size_t count) {
        for (size_t i = 0; i < count; ++i)
            states = lappend(
                states, ExecInitExpr(static_cast<Expr*>(list_nth(exprs, next++)), &node->ss.ps));
    };
    prepare(stored.parameters.size());
    for (const StoredTable& table : stored.tables) {
        prepare(static_cast<size_t>(table.value_count));
        List* quals = NIL;
        for (int i = 0; i < table.virtual_count; ++i)
            quals = lappend(quals, list_nth(exprs, next++));
        // A place for each expression keeps positions simple.
        for (int i = 0; i < table.virtual_count; ++i)
            states = lappend(states, i == 0 ? ExecInitQual(quals, &node->ss.ps) : nullptr);
    }
    prepare(stored.calls.size());
    return states;
}

// Whether expressions have values that are there only while a query runs, or is executed with them.
bool needs_run_maylongjmp(Node* node, void* values) {
    if (node == nullptr) return false;
    if (IsA(node, Param))
        return reinterpret_cast<Param*>(node)->paramkind != PARAM_EXTERN || values == nullptr;
    if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan)) return true;
    return walk_expression(node, needs_run_maylongjmp, values);
}

void begin(CustomScanState* node, EState* estate, int flags) {
    if (!g_enabled) {
        start_fallback_maylongjmp(node, flags);
        state_of(node)->fallback_reason = "pg_loom.enabled is off";
        return;
    }
    const ListCell* cell;
    foreach (cell, plan_of(node)->custom_plans)
        node->custom_ps =
            lappend(node->custom_ps, ExecInitNode(static_cast<Plan*>(lfirst(cell)), estate, flags));
    // Who only explains may ask the devices, unless that takes values of a run.
    if ((flags & EXEC_FLAG_EXPLAIN_ONLY) != 0 &&
        (g_device == kDeviceCpu ||
         needs_run_maylongjmp(reinterpret_cast<Node*>(plan_of(node)->custom_exprs),
                              estate->es_param_list_info)))
        return;
    pg_entry([=] {
        LoomScanState* state = state_of(node);
        StoredPlan stored = read_stored_plan(plan_of(node));
        pg_call([&] {
            state->expressions = prepare_expressions_maylongjmp(node, stored);
            state->context = AllocSetContextCreate(estate->es_query_cxt, "pg_loom query",
                                                   ALLOCSET_DEFAULT_SIZES);
            state->batch = AllocSetContextCreate(estate->es_query_cxt, "pg_loom batch",
                                                 ALLOCSET_DEFAULT_SIZES);
        });
        state->execution = make_in_context<Execution>(state->context, state, std::move(stored));
    });
}

enum class Step : uint8_t { kRows, kEnd, kFallback };

// Ends the engine's work if PostgreSQL may still do it all, else lets the exception go on.
Step give_up(LoomScanState* state, const char* reason) {
    if (state->execution->has_returned_rows()) throw;
    state->execution->stop();
    state->fallback_reason = pg_call(
        [&] { return MemoryContextStrdup(state->custom.ss.ps.state->es_query_cxt, reason); });
    pg_call([&] { ereport(DEBUG1, (errmsg_internal("pg_loom falls back: %s", reason))); });
    return Step::kFallback;
}

Step load_batch(LoomScanState* state) {
    return pg_entry([state] {
        try {
            return state->execution->next_batch() ? Step::kRows : Step::kEnd;
        } catch (const exec::SqlFault& fault) {
            return give_up(state, fault.what());
        } catch (const exec::Unrepresentable& reason) {
            return give_up(state, reason.what());
        } catch (const base::Error& error) {
            if (error.kind() == base::ErrorKind::kCancelled) throw;
            return give_up(state, error.what());
        } catch (const std::bad_alloc&) {
            return give_up(state, "out of memory");
        }
    });
}

// The fallback's rows in the kind of slot that the nodes above were told of.
TupleTableSlot* fetch_fallback(CustomScanState* node) {
    TupleTableSlot* result = node->ss.ps.ps_ResultTupleSlot;
    TupleTableSlot* slot = ExecProcNode(outerPlanState(node));
    ExecClearTuple(result);
    if (TupIsNull(slot)) return result;
    slot_getallattrs(slot);
    const auto width = static_cast<size_t>(result->tts_tupleDescriptor->natts);
    memcpy(result->tts_values, slot->tts_values, width * sizeof(Datum));
    memcpy(result->tts_isnull, slot->tts_isnull, width * sizeof(bool));
    return ExecStoreVirtualTuple(result);
}

void fill_slot(LoomScanState* state, TupleTableSlot* slot) {
    ExecClearTuple(slot);
    const int width = slot->tts_tupleDescriptor->natts;
    const int64_t row = state->row++;
    for (int c = 0; c < width; ++c) {
        slot->tts_values[c] = state->values[c][row];
        slot->tts_isnull[c] = state->nulls[c][row];
    }
    ExecStoreVirtualTuple(slot);
}

TupleTableSlot* fetch(CustomScanState* node) {
    LoomScanState* state = state_of(node);
    ExprContext* context = node->ss.ps.ps_ExprContext;
    TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
    for (;;) {
        if (state->fallback) return fetch_fallback(node);
        if (state->row >= state->rows) {
            const Step step = load_batch(state);
            if (step == Step::kEnd) {
                state->row = state->rows = 0;
                return ExecClearTuple(
                    node->ss.ps.ps_ProjInfo != nullptr ? node->ss.ps.ps_ResultTupleSlot : slot);
            }
            if (step == Step::kFallback) {
                start_fallback_maylongjmp(node, node->ss.ps.state->es_top_eflags);
                continue;
            }
        }
        fill_slot(state, slot);
        if (node->ss.ps.qual == nullptr && node->ss.ps.ps_ProjInfo == nullptr) return slot;
        ResetExprContext(context);
        context->ecxt_scantuple = slot;
        if (!ExecQual(node->ss.ps.qual, context)) {
            InstrCountFiltered1(node, 1);
            continue;
        }
        return node->ss.ps.ps_ProjInfo != nullptr ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
    }
}

void end(CustomScanState* node) {
    LoomScanState* state = state_of(node);
    if (outerPlanState(node) != nullptr) ExecEndNode(outerPlanState(node));
    const ListCell* cell;
    foreach (cell, node->custom_ps) ExecEndNode(static_cast<PlanState*>(lfirst(cell)));
    if (state->execution == nullptr) return;
    pg_entry([state] { state->execution->stop(); });
}

void rescan(CustomScanState* node) {
    LoomScanState* state = state_of(node);
    state->row = state->rows = 0;
    if (state->fallback) {
        // With changed parameters the child restarts when it is first asked.
        if (outerPlanState(node)->chgParam == nullptr) ExecReScan(outerPlanState(node));
        return;
    }
    const ListCell* cell;
    foreach (cell, node->custom_ps) {
        auto* child = static_cast<PlanState*>(lfirst(cell));
        if (node->ss.ps.chgParam != nullptr) UpdateChangedParamSet(child, node->ss.ps.chgParam);
        if (child->chgParam == nullptr) ExecReScan(child);
    }
    if (state->execution == nullptr) return;
    pg_entry([state] { state->execution->restart(); });
}

Node* create_state(CustomScan* scan);

const CustomScanMethods kScanMethods = {kNodeName, create_state};

const CustomExecMethods kExecMethods = {
    .CustomName = kNodeName,
    .BeginCustomScan = begin,
    .ExecCustomScan = fetch,
    .EndCustomScan = end,
    .ReScanCustomScan = rescan,
    .ExplainCustomScan = explain_loom_scan,
};

Node* create_state(CustomScan*) {
    auto* state = static_cast<LoomScanState*>(palloc0(sizeof(LoomScanState)));
    NodeSetTag(state, T_CustomScanState);
    state->custom.methods = &kExecMethods;
    return reinterpret_cast<Node*>(state);
}

}  // namespace

const CustomScanMethods* loom_scan_methods() {
    return &kScanMethods;
}

void register_loom_scan_maylongjmp() {
    RegisterCustomScanMethods(&kScanMethods);
}

}  // namespace loom::pg
