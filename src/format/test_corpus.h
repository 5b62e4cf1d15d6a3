#pragma once
// Where tests find real files.

#include <filesystem>

namespace loom::format {

/// Returns the folder of the corpus: what LOOM_CORPUS names, else `shared/corpus` beside the
/// repository. Tests are skipped where it is not there.
std::filesystem::path test_corpus();

}  // namespace loom::format
