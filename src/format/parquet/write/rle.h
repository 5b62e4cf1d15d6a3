#pragma once
// RLE / bit-packing hybrid (Encodings.md), for dictionary codes, levels and booleans.

#include <cstdint>
#include <span>
#include <string>

namespace loom::parquet::write {

/// Appends `values` in `bit_width` bits each (0 to 32) to `out`, without any length prefix.
/// Only runs of at least 64 equal values become run-length runs: shorter ones would cut the
/// bit-packed stretches that readers unpack fast.
template <typename T>
void append_rle(std::span<const T> values, int bit_width, std::string& out);

/// Appends one run of `count` times `value`.
void append_rle_run(int64_t count, uint32_t value, int bit_width, std::string& out);

/// Appends `count` values of `bit_width` bits each, rounded up to whole bytes.
template <typename T>
void append_packed(const T* values, int64_t count, int bit_width, std::string& out);

void append_varint(uint64_t value, std::string& out);

}  // namespace loom::parquet::write
