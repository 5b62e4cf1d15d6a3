#pragma once
// Where tests find real files.

#include <cstdlib>
#include <filesystem>

namespace loom::format {

/// Returns the folder of the corpus: what LOOM_CORPUS names, else `shared/corpus` beside the
/// repository. Tests are skipped where it is not there.
inline std::filesystem::path test_corpus() {
    if (const char* named = std::getenv("LOOM_CORPUS")) return named;
    return std::filesystem::path(LOOM_SOURCE_DIR) / ".." / "shared" / "corpus";
}

}  // namespace loom::format
