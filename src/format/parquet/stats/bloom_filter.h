#pragma once
// Split block Bloom filters (BloomFilter.md).

#include "column/scalar.h"
#include "format/parquet/read/file_state.h"

namespace loom::parquet {

/// Returns false only if the chunk's filter proves that `value` is not in it. Reads the filter's
/// header and one block of 32 bytes. A filter whose header makes no sense counts as absent.
bool bloom_filter_may_contain(const FileState& file, int64_t row_group, int leaf,
                              const column::Scalar& value);

/// Returns whether a block of a filter has all bits of `hash`.
bool block_may_contain(const uint8_t* block, uint64_t hash) noexcept;

}  // namespace loom::parquet
