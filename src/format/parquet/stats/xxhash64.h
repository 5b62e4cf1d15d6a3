#pragma once
// The hash of Parquet's Bloom filters.

#include <cstdint>

#include "base/bytes.h"

namespace loom::parquet {

/// Returns XXH64 of `bytes` with seed 0 (xxHash's doc/xxhash_spec.md).
uint64_t xxhash64(base::ByteSpan bytes) noexcept;

}  // namespace loom::parquet
