// Begin, fetch, restart and end of a scan.

#include "pg/bridge/bridge.h"
#include "pg/bridge/evaluate_ahead.h"
#include "pg/fdw/fdw.h"

extern "C" {
#include "access/table.h"
#include "executor/executor.h"
}

namespace loom::pg {

namespace {

ScanState* state_of(ForeignScanState* node) {
    return static_cast<ScanState*>(node->fdw_state);
}

// Decides with the node's own expressions whether a file's virtual columns can satisfy the query.
bool filter_file(void* arg, const Datum* values, const bool* nulls) {
    auto* node = static_cast<ForeignScanState*>(arg);
    ScanState* state = state_of(node);
    TupleTableSlot* slot = state->filter_slot;
    ExecClearTuple(slot);
    const int width = slot->tts_tupleDescriptor->natts;
    memcpy(slot->tts_values, values, width * sizeof(Datum));
    memcpy(slot->tts_isnull, nulls, width * sizeof(bool));
    ExecStoreVirtualTuple(slot);
    ExprContext* context = node->ss.ps.ps_ExprContext;
    context->ecxt_scantuple = slot;
    const bool keep = ExecQual(state->virtual_qual, context);
    ResetExprContext(context);
    return keep;
}

bool mentions_executor_parameter(Node* node, void*) {
    if (node == nullptr) return false;
    if (IsA(node, Param)) return reinterpret_cast<Param*>(node)->paramkind == PARAM_EXEC;
    return walk_expression(node, mentions_executor_parameter, nullptr);
}

bool mentions_parameter(Node* node, void*) {
    if (node == nullptr) return false;
    if (IsA(node, Param)) return true;
    return walk_expression(node, mentions_parameter, nullptr);
}

bool known_under_explain(ForeignScanState* node, Node* expr) {
    if (mentions_executor_parameter(expr, nullptr)) return false;
    return node->ss.ps.state->es_param_list_info != nullptr || !mentions_parameter(expr, nullptr);
}

void start(ForeignScanState* node) {
    ScanState* state = state_of(node);
    if (state->started) return;
    state->started = true;
    state->scan->restart(evaluate_values(node, false));
    if (state->parallel == nullptr) state->scan->open_all();
}

bool load_batch(ForeignScanState* node) {
    return pg_entry([node] {
        ScanState* state = state_of(node);
        start(node);
        state->rows = state->scan->next_batch();
        state->row = 0;
        return state->rows > 0;
    });
}

// A count(*) that footers answer: one row, the same number in each column.
TupleTableSlot* iterate_count(ForeignScanState* node, TupleTableSlot* slot) {
    ScanState* state = state_of(node);
    if (state->done) return slot;
    state->done = true;
    const int64 rows = pg_entry([state] { return state->scan->count_rows(); });
    for (int i = 0; i < slot->tts_tupleDescriptor->natts; ++i) {
        slot->tts_values[i] = Int64GetDatum(rows);
        slot->tts_isnull[i] = false;
    }
    return ExecStoreVirtualTuple(slot);
}

ScanState* make_state(ForeignScanState* node, Relation relation) {
    auto* foreign_scan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
    MemoryContext query_context = node->ss.ps.state->es_query_cxt;
    const ScanPlan plan = deserialise_scan_plan(foreign_scan->fdw_private);
    TableDef def = read_table_def(relation);
    std::vector<AttrNumber> referenced;
    std::vector<PruneQual> quals;
    const ListCell* cell;
    foreach (cell, plan.referenced) referenced.push_back(static_cast<AttrNumber>(lfirst_int(cell)));
    foreach (cell, plan.quals)
        quals.push_back(deserialise_prune_qual(static_cast<List*>(lfirst(cell))));
    auto* state = pg_call([&] {
        auto* fresh = static_cast<ScanState*>(palloc0(sizeof(ScanState)));
        fresh->value_context =
            AllocSetContextCreate(query_context, "pg_loom scan values", ALLOCSET_SMALL_SIZES);
        return fresh;
    });
    state->plan = plan;
    MemoryContext scan_context = pg_call([&] {
        return AllocSetContextCreate(query_context, "pg_loom scan", ALLOCSET_DEFAULT_SIZES);
    });
    state->scan = make_in_context<FileScan>(scan_context, std::move(def), std::move(referenced),
                                            std::move(quals), scan_context);
    return state;
}

void prepare_expressions(ForeignScanState* node, ScanState* state, Relation relation) {
    auto* foreign_scan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
    List* values = NIL;
    List* virtual_quals = NIL;
    int index = 0;
    const int clauses = list_length(state->plan.quals);
    const ListCell* cell;
    foreach (cell, foreign_scan->fdw_exprs) {
        if (index < state->plan.value_count)
            values = lappend(values, lfirst(cell));
        else if (index >= state->plan.value_count + clauses)
            virtual_quals = lappend(virtual_quals, lfirst(cell));
        ++index;
    }
    state->value_states = ExecInitExprList(values, &node->ss.ps);
    if (virtual_quals == NIL) return;
    state->virtual_qual = ExecInitQual(virtual_quals, &node->ss.ps);
    state->filter_slot =
        MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(relation)), &TTSOpsVirtual);
}

}  // namespace

std::vector<QualValue> evaluate_values(ForeignScanState* node, bool explain_only) {
    ScanState* state = state_of(node);
    auto* foreign_scan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
    std::vector<QualValue> values(state->plan.value_count);
    pg_call([&] { MemoryContextReset(state->value_context); });
    int index = 0;
    const ListCell* cell;
    foreach (cell, state->value_states) {
        QualValue& value = values[index];
        auto* expr = static_cast<Node*>(list_nth(foreign_scan->fdw_exprs, index));
        value.known = !explain_only || pg_call([&] { return known_under_explain(node, expr); });
        if (value.known)
            value.known =
                evaluate_ahead(static_cast<ExprState*>(lfirst(cell)), node->ss.ps.ps_ExprContext,
                               state->value_context, &value.value, &value.null);
        ++index;
    }
    return values;
}

void begin_scan(ForeignScanState* node, int flags) {
    pg_entry([=] {
        auto* foreign_scan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
        const ScanPlan plan = deserialise_scan_plan(foreign_scan->fdw_private);
        const bool count = plan.kind == ScanPlan::Kind::kCount;
        Relation relation =
            count ? pg_call([&] { return table_open(plan.relation, AccessShareLock); })
                  : node->ss.ss_currentRelation;
        ScanState* state = make_state(node, relation);
        node->fdw_state = state;
        pg_call([&] { prepare_expressions(node, state, relation); });
        if (state->virtual_qual != nullptr) state->scan->set_file_filter(filter_file, node);
        if (count) pg_call([&] { table_close(relation, NoLock); });
        TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
        memset(slot->tts_isnull, 1, slot->tts_tupleDescriptor->natts);
    });
}

TupleTableSlot* iterate_scan(ForeignScanState* node) {
    ScanState* state = state_of(node);
    TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
    ExecClearTuple(slot);
    if (state->plan.kind == ScanPlan::Kind::kCount) return iterate_count(node, slot);
    if (state->row >= state->rows && !load_batch(node)) return slot;
    const std::vector<AttrNumber>& referenced = state->scan->referenced();
    const int64_t row = state->row++;
    for (size_t c = 0; c < referenced.size(); ++c) {
        const int attribute = referenced[c] - 1;
        slot->tts_values[attribute] = state->scan->values(c)[row];
        slot->tts_isnull[attribute] = state->scan->nulls(c)[row];
    }
    return ExecStoreVirtualTuple(slot);
}

void rescan(ForeignScanState* node) {
    pg_entry([node] {
        ScanState* state = state_of(node);
        state->row = state->rows = 0;
        state->done = false;
        if (!state->started) return;
        state->scan->restart(evaluate_values(node, false));
    });
}

void end_scan(ForeignScanState* node) {
    // The scan lives in its own memory context, which frees files and buffers.
    ScanState* state = state_of(node);
    if (state == nullptr) return;
    if (state->filter_slot != nullptr) ExecDropSingleTupleTableSlot(state->filter_slot);
    node->fdw_state = nullptr;
}

}  // namespace loom::pg
