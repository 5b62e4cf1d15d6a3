#pragma once
// Files of nested types, of types that only one format has, and of every layout of Arrow.

#include <string>

namespace loom::test {

/// Writes nested.parquet, nested.arrow, nested_encoded.arrow (the same rows in other layouts),
/// kinds.parquet, kinds.arrow, layouts.arrow and variants.parquet to `dir`.
void write_nested_files(const std::string& dir);

}  // namespace loom::test
