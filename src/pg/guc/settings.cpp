#include "pg/guc/settings.h"

#include "pg/compat/backend.h"

extern "C" {
#include "utils/guc.h"
}

namespace loom::pg {

bool g_enabled = true;
bool g_skip_with_statistics = true;
bool g_verify_checksums = false;
int g_scan_memory_mb = 1024;
int g_threads = 0;
int g_memory_kb = 0;
bool g_force = false;
bool g_shim = false;
int g_keep_files = 64;
bool g_watch_polls = false;
int g_device = kDeviceAuto;
int g_gpud = kGpudAuto;
int g_gpu_copies = 1;

namespace {

const config_enum_entry kDeviceChoices[] = {{"auto", kDeviceAuto, false},
                                            {"cpu", kDeviceCpu, false},
                                            {"gpu", kDeviceGpu, false},
                                            {nullptr, 0, false}};
const config_enum_entry kGpudChoices[] = {{"auto", kGpudAuto, false},
                                          {"off", kGpudOff, false},
                                          {"host", kGpudHost, false},
                                          {nullptr, 0, false}};

}  // namespace

void define_settings_maylongjmp() {
    DefineCustomBoolVariable("pg_loom.enabled", "Lets pg_loom answer parts of queries itself.",
                             "Tables of server arrow_fdw can be read either way.", &g_enabled, true,
                             PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomBoolVariable("pg_loom.skip_with_statistics",
                             "Skips files, row groups and pages whose statistics exclude a query.",
                             nullptr, &g_skip_with_statistics, true, PGC_USERSET, 0, nullptr,
                             nullptr, nullptr);
    DefineCustomBoolVariable("pg_loom.verify_checksums",
                             "Checks the checksums of pages in files that have them.", nullptr,
                             &g_verify_checksums, false, PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomIntVariable(
        "pg_loom.scan_memory", "Memory that reading the files of one scan may take per process.",
        "A file that needs more ends the query with an error.", &g_scan_memory_mb, 1024, 16,
        1024 * 1024, PGC_USERSET, GUC_UNIT_MB, nullptr, nullptr, nullptr);
    DefineCustomIntVariable("pg_loom.threads", "Threads that may work on one query.",
                            "0 means as many as there are processor cores.", &g_threads, 0, 0, 1024,
                            PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomIntVariable(
        "pg_loom.memory", "Memory that one query's hash tables and sorts may take.",
        "0 means work_mem times hash_mem_multiplier for each thread, at least 256 MB.",
        &g_memory_kb, 0, 0, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, nullptr, nullptr, nullptr);
    DefineCustomBoolVariable("pg_loom.force", "Lets pg_loom run plans that only copy columns, too.",
                             "For tests: such plans gain nothing.", &g_force, false, PGC_USERSET,
                             GUC_NOT_IN_SAMPLE, nullptr, nullptr, nullptr);
    DefineCustomBoolVariable("pg_loom.shim",
                             "Feeds the rows of ordinary tables and functions to the engine, too.",
                             "For tests: that is slower than PostgreSQL's own plan.", &g_shim,
                             false, PGC_SUSET, GUC_NOT_IN_SAMPLE, nullptr, nullptr, nullptr);
    DefineCustomIntVariable("pg_loom.keep_files",
                            "Files that a session keeps open and mapped for its next queries.",
                            "A file that has changed is opened again. 0 opens every file afresh.",
                            &g_keep_files, 64, 0, 500, PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomBoolVariable(
        "pg_loom.watch_polls",
        "Lets EXPLAIN ANALYZE tell how long a thread computed without looking for a cancellation.",
        "For tests: it slows queries down.", &g_watch_polls, false, PGC_USERSET, GUC_NOT_IN_SAMPLE,
        nullptr, nullptr, nullptr);
    DefineCustomEnumVariable(
        "pg_loom.device", "Chooses what computes aggregates: the processor or a GPU.",
        "auto takes the GPU where the columns are in its memory and the kernels compiled.",
        &g_device, kDeviceAuto, kDeviceChoices, PGC_USERSET, 0, nullptr, nullptr, nullptr);
    DefineCustomEnumVariable(
        "pg_loom.gpud", "Chooses what the server starts the process loom-gpud for.",
        "Works where shared_preload_libraries has pg_loom. host is for tests: slow.", &g_gpud,
        kGpudAuto, kGpudChoices, PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
    DefineCustomIntVariable("pg_loom.gpu_copies", "Uses each GPU as if it were so many.",
                            "For tests of what several GPUs do. Counts when loom-gpud starts.",
                            &g_gpu_copies, 1, 1, 16, PGC_SIGHUP, GUC_NOT_IN_SAMPLE, nullptr,
                            nullptr, nullptr);
    MarkGUCPrefixReserved("pg_loom");
}

}  // namespace loom::pg
