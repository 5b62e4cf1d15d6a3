#pragma once
// PostgreSQL's temporary files, for what the engine spills.

#include "pg/compat/backend.h"

#include "exec/query.h"

namespace loom::pg {

/// Tells the engine where temporary files go (temp_tablespaces) and how much may lie in them
/// (temp_file_limit).
void set_temp_space(exec::Options* options);

/// Counts a query's temporary files in PostgreSQL's statistics, and logs them as log_temp_files
/// wants.
void report_temp_files(const exec::Profile& profile);

}  // namespace loom::pg
