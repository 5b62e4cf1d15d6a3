#pragma once
// LoomScan: the node that runs a piece of a plan in the engine, or, if the engine cannot, in the
// plan that PostgreSQL made for it.

#include "pg/compat/backend.h"

extern "C" {
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
}

namespace loom::pg {

class Execution;

/// A node's state. Plain data in the executor's memory context.
struct LoomScanState {
    CustomScanState custom;
    Execution* execution;        ///< null under EXPLAIN without ANALYZE
    List* expressions;           ///< ExprStates of custom_exprs; virtual quals of tables are lists
    MemoryContext context;       ///< where `execution` lives
    MemoryContext batch;         ///< datums of the batch in hand
    const Datum* const* values;  ///< of the batch in hand, by column
    const bool* const* nulls;
    int64_t row;   ///< next row of the batch
    int64_t rows;  ///< rows of the batch
    bool fallback;
    const char* fallback_reason;  ///< for EXPLAIN ANALYZE
};

const CustomScanMethods* loom_scan_methods();
/// Makes the node known to PostgreSQL; called once when the library is loaded.
void register_loom_scan_maylongjmp();

/// Prints what EXPLAIN shows of the node (explain.cpp).
void explain_loom_scan(CustomScanState* node, List* ancestors, ExplainState* es);

}  // namespace loom::pg
