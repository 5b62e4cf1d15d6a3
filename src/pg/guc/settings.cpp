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
    MarkGUCPrefixReserved("pg_loom");
}

}  // namespace loom::pg
