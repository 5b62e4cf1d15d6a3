#pragma once
// Files that the session keeps open and mapped, as pg_loom.keep_files says.

#include <memory>
#include <string>

#include "io/file.h"

namespace loom::pg {

/// Opens the version of a file that the path names now; cheap if the session has it open. Raises as
/// io::open_local_file does.
std::shared_ptr<io::File> open_kept_file(const std::string& path);

}  // namespace loom::pg
