#include "format/test_corpus.h"

#include <cstdlib>

namespace loom::format {

std::filesystem::path test_corpus() {
    if (const char* named = std::getenv("LOOM_CORPUS")) return named;
    return std::filesystem::path(LOOM_SOURCE_DIR) / ".." / "shared" / "corpus";
}

}  // namespace loom::format
