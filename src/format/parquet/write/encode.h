#pragma once
// Encodings of data pages (Encodings.md): values of a ValueStore to bytes.

#include <string>

#include "format/parquet/write/format.h"
#include "format/parquet/write/schema_plan.h"
#include "format/parquet/write/value_store.h"

namespace loom::parquet::write {

/// Returns whether values of `leaf` can be written in `encoding`.
bool allows(const Leaf& leaf, Encoding encoding) noexcept;

/// Appends values [begin, end) of `values` in `encoding`, which the leaf must allow.
void append_values(const Leaf& leaf, Encoding encoding, const ValueStore& values, int64_t begin,
                   int64_t end, std::string& out);

/// Appends `count` integers as DELTA_BINARY_PACKED.
template <typename T>
void append_deltas(const T* values, int64_t count, std::string& out);

}  // namespace loom::parquet::write
