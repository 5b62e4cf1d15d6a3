// The handler function of arrow_fdw.

#include "pg/fdw/fdw.h"

extern "C" {

PG_FUNCTION_INFO_V1(loom_arrow_fdw_handler);
Datum loom_arrow_fdw_handler(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    FdwRoutine* routine = makeNode(FdwRoutine);
    routine->GetForeignRelSize = get_rel_size;
    routine->GetForeignPaths = get_paths;
    routine->GetForeignPlan = get_plan;
    routine->GetForeignUpperPaths = get_upper_paths;
    routine->IsForeignScanParallelSafe = is_parallel_safe;
    routine->BeginForeignScan = begin_scan;
    routine->IterateForeignScan = iterate_scan;
    routine->ReScanForeignScan = rescan;
    routine->EndForeignScan = end_scan;
    routine->EstimateDSMForeignScan = estimate_dsm;
    routine->InitializeDSMForeignScan = initialize_dsm;
    routine->ReInitializeDSMForeignScan = reinitialize_dsm;
    routine->InitializeWorkerForeignScan = initialize_worker;
    routine->ShutdownForeignScan = shutdown_scan;
    routine->ExplainForeignScan = explain_scan;
    routine->AnalyzeForeignTable = analyze_table;
    routine->ImportForeignSchema = import_schema;
    PG_RETURN_POINTER(routine);
}

}  // extern "C"
