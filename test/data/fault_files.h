#pragma once
// Files that show faults which readers of other makers have had.

#include <string>

namespace loom::test {

/// Writes limits, keys (Parquet, Arrow and CSV), system_names.parquet, decimals.arrow, the folder
/// upper and two symbolic links to `dir`.
void write_fault_files(const std::string& dir);

}  // namespace loom::test
