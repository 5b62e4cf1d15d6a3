#include "pg/fdw/kept_files.h"

#include "io/file_cache.h"
#include "pg/guc/settings.h"

namespace loom::pg {

std::shared_ptr<io::File> open_kept_file(const std::string& path) {
    static io::FileCache cache;  // closed when the process ends
    return cache.open(path, static_cast<size_t>(g_keep_files));
}

}  // namespace loom::pg
