#include "pg/node/temp_space.h"

#include <fmt/core.h>

#include "pg/bridge/bridge.h"

extern "C" {
#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "common/file_utils.h"
#include "pgstat.h"
#include "storage/fd.h"
#include "utils/guc.h"
}

namespace loom::pg {

namespace {

constexpr int kMaxTablespaces = 16;

std::string directory_of(Oid tablespace) {
    char path[MAXPGPATH];
    pg_call([&] {
        const Oid chosen = OidIsValid(tablespace)             ? tablespace
                           : OidIsValid(MyDatabaseTableSpace) ? MyDatabaseTableSpace
                                                              : DEFAULTTABLESPACE_OID;
        TempTablespacePath(path, chosen);
    });
    return path;
}

}  // namespace

void set_temp_space(exec::Options* options) {
    Oid tablespaces[kMaxTablespaces];
    int count = 0;
    pg_call([&] {
        PrepareTempTablespaces();
        count = GetTempTablespaces(tablespaces, kMaxTablespaces);
    });
    options->temp_directories.clear();
    for (int i = 0; i < count; ++i)
        options->temp_directories.push_back(directory_of(tablespaces[i]));
    if (count == 0) options->temp_directories.push_back(directory_of(InvalidOid));
    // The server removes files of this name when it starts.
    options->temp_prefix = fmt::format("{}{}", PG_TEMP_FILE_PREFIX, MyProcPid);
    options->temp_limit =
        temp_file_limit < 0 ? UINT64_MAX : static_cast<uint64_t>(temp_file_limit) * 1024;
}

void report_temp_files(const exec::Profile& profile) {
    if (profile.temp_files == 0) return;
    pg_call([&] {
        pgstat_report_tempfile(profile.temp_bytes);
        if (log_temp_files >= 0 &&
            profile.temp_bytes / 1024 >= static_cast<uint64_t>(log_temp_files))
            ereport(LOG, (errmsg("temporary files of LoomScan: %lu, size %lu",
                                 static_cast<unsigned long>(profile.temp_files),
                                 static_cast<unsigned long>(profile.temp_bytes))));
    });
}

}  // namespace loom::pg
