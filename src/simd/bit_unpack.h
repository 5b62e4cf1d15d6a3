#pragma once
// Unpacks fixed-width little-endian bit fields, as Parquet's bit-packed runs and delta blocks hold
// them: value i takes bits [i * width, (i + 1) * width) of the bytes, least significant bit first.

#include <cstdint>

#include "simd/instruction_set.h"

namespace loom::simd {

/// Bytes that unpack() may read behind the last packed byte and write behind out[count].
/// Every kernel works in whole vectors of at most 64 bytes: a load starts within the packed bytes,
/// a store starts below out + count.
inline constexpr int kUnpackSlack = 64;

/// Unpacks `count` values of `width` bits (0 to 8 * sizeof(T)) to `out`.
/// Reads ceil(count * width / 8) bytes and up to kUnpackSlack more; writes up to kUnpackSlack bytes
/// of unspecified contents behind out[count].
void unpack(const uint8_t* packed, int width, int64_t count, uint8_t* out) noexcept;
void unpack(const uint8_t* packed, int width, int64_t count, uint16_t* out) noexcept;
void unpack(const uint8_t* packed, int width, int64_t count, uint32_t* out) noexcept;
void unpack(const uint8_t* packed, int width, int64_t count, uint64_t* out) noexcept;

/// One implementation per instruction set, for dispatch and for tests that compare them. Calling
/// one above best_instruction_set() is an illegal instruction.
struct UnpackKernels {
    void (*u8)(const uint8_t*, int, int64_t, uint8_t*) noexcept;
    void (*u16)(const uint8_t*, int, int64_t, uint16_t*) noexcept;
    void (*u32)(const uint8_t*, int, int64_t, uint32_t*) noexcept;
    void (*u64)(const uint8_t*, int, int64_t, uint64_t*) noexcept;
};
const UnpackKernels& unpack_kernels(InstructionSet set) noexcept;

}  // namespace loom::simd
