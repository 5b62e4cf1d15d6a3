#pragma once
// The callbacks of arrow_fdw and what they share.

#include "pg/compat/backend.h"

#include <vector>

#include "pg/fdw/scan.h"

namespace loom::pg {

/// What the planner knows of a table. C++ object in the planner's memory context.
struct RelationPlan {
    TableDef def;
    std::vector<AttrNumber> referenced;
    double rows = 0;
    double bytes = 0;  ///< of the referenced columns
};

/// What a plan stores in fdw_private, and its places in fdw_exprs: the values of prune quals, then
/// one clause per prune qual (for EXPLAIN), then the quals on virtual columns.
struct ScanPlan {
    enum class Kind : int { kRows, kCount };
    Kind kind = Kind::kRows;
    Oid relation = InvalidOid;
    List* referenced = NIL;  ///< of int
    List* quals = NIL;       ///< of serialised PruneQual
    int value_count = 0;
    int virtual_qual_count = 0;
};
List* serialise_maylongjmp(const ScanPlan& plan);
ScanPlan deserialise_scan_plan(List* list);

/// Shared memory of a parallel scan; the file list and versions follow it.
struct ParallelScan;

/// A scan node's state; plain data in the executor's memory context.
struct ScanState {
    FileScan* scan;
    ScanPlan plan;
    List* value_states;       ///< ExprStates of the values
    ExprState* virtual_qual;  ///< or null
    TupleTableSlot* filter_slot;
    MemoryContext value_context;
    int64_t row;   ///< next row of the batch
    int64_t rows;  ///< rows of the batch
    bool started;
    bool done;
    ParallelScan* parallel;
};

/// Evaluates the values of prune quals; under EXPLAIN only those that are known without execution.
std::vector<QualValue> evaluate_values(ForeignScanState* node, bool explain_only);

// Planning (plan.cpp)
void get_rel_size(PlannerInfo* root, RelOptInfo* rel, Oid table);
void get_paths(PlannerInfo* root, RelOptInfo* rel, Oid table);
ForeignScan* get_plan(PlannerInfo* root, RelOptInfo* rel, Oid table, ForeignPath* path, List* tlist,
                      List* scan_clauses, Plan* outer_plan);
void get_upper_paths(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input,
                     RelOptInfo* output, void* extra);
bool is_parallel_safe(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* entry);

// Execution (execute.cpp)
void begin_scan(ForeignScanState* node, int flags);
TupleTableSlot* iterate_scan(ForeignScanState* node);
void rescan(ForeignScanState* node);
void end_scan(ForeignScanState* node);

// Parallel scans (parallel.cpp)
Size estimate_dsm(ForeignScanState* node, ParallelContext* context);
void initialize_dsm(ForeignScanState* node, ParallelContext* context, void* coordinate);
void reinitialize_dsm(ForeignScanState* node, ParallelContext* context, void* coordinate);
void initialize_worker(ForeignScanState* node, shm_toc* toc, void* coordinate);
void shutdown_scan(ForeignScanState* node);
/// Adds what workers counted to the leader's counters.
void collect_worker_counters(ScanState* state, ScanCounters* counters,
                             std::vector<int64_t>* column_bytes, std::vector<int64_t>* file_bytes,
                             std::vector<int64_t>* excluded_by);

// EXPLAIN (explain.cpp)
void explain_scan(ForeignScanState* node, ExplainState* es);

// ANALYZE (analyze.cpp)
bool analyze_table(Relation relation, AcquireSampleRowsFunc* function, BlockNumber* pages);

// IMPORT FOREIGN SCHEMA (import.cpp)
List* import_schema(ImportForeignSchemaStmt* statement, Oid server);

}  // namespace loom::pg
