// What happens when PostgreSQL loads the library. Starts no thread: the postmaster may be the
// caller.

#include "pg/bridge/bridge.h"
#include "pg/device/supervisor.h"
#include "pg/guc/settings.h"
#include "pg/node/loom_scan.h"
#include "pg/plan/planner_hook.h"

extern "C" {
#include "miscadmin.h"
}

extern "C" {

#ifdef PG_MODULE_MAGIC_EXT
PG_MODULE_MAGIC_EXT(.name = "pg_loom", .version = LOOM_VERSION);
#else
PG_MODULE_MAGIC;
#endif

PGDLLEXPORT void _PG_init(void);
void _PG_init(void) {
#if defined(__x86_64__)
    // What cmake/loom.cmake compiles for.
    if (!__builtin_cpu_supports("sse4.2") || !__builtin_cpu_supports("popcnt"))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("pg_loom needs a processor with SSE4.2 and POPCNT")));
#endif
    loom::pg::define_settings_maylongjmp();
    loom::pg::register_loom_scan_maylongjmp();
    loom::pg::install_planner_hook();
    if (process_shared_preload_libraries_in_progress) loom::pg::register_supervisor_maylongjmp();
}

}  // extern "C"
