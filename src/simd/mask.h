#pragma once
// Row masks: one bit a row, bit (i & 63) of word i / 64. Filters are computed as masks, from values
// or from dictionary codes, combined as words, and turned into selection vectors.
//
// All functions write (count + 63) / 64 words and clear the bits from `count` on. They read no
// value at or behind values[count].

#include <cstdint>

#include "simd/instruction_set.h"

namespace loom::simd {

/// Returns the words that a mask of `count` rows takes.
constexpr int64_t mask_words(int64_t count) noexcept {
    return (count + 63) / 64;
}

/// Sets the bit of each row whose code has its bit set in `bitmap`, a bitmap over `codes` (at least
/// 1) dictionary codes in whole words. Every row's code must be below `codes`.
void codes_to_mask(const uint8_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                   uint64_t* mask) noexcept;
void codes_to_mask(const uint16_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                   uint64_t* mask) noexcept;
void codes_to_mask(const uint32_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                   uint64_t* mask) noexcept;

/// Sets the bit of each row with low <= value <= high; low must not be above high.
void range_to_mask(const int16_t* values, int64_t count, int16_t low, int16_t high,
                   uint64_t* mask) noexcept;
void range_to_mask(const int32_t* values, int64_t count, int32_t low, int32_t high,
                   uint64_t* mask) noexcept;
void range_to_mask(const int64_t* values, int64_t count, int64_t low, int64_t high,
                   uint64_t* mask) noexcept;

/// Sets the bit of each row whose value has its bit (value - base) set in `bitmap`, a bitmap of
/// `size` (at least 1) values in whole words; values outside it are no members.
void members_to_mask(const int16_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                     uint32_t size, uint64_t* mask) noexcept;
void members_to_mask(const int32_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                     uint32_t size, uint64_t* mask) noexcept;
void members_to_mask(const int64_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                     uint32_t size, uint64_t* mask) noexcept;

/// Sets the bit of each row whose byte is not 0.
void bools_to_mask(const uint8_t* values, int64_t count, uint64_t* mask) noexcept;
/// Writes a byte 0 or 1 for each row, and up to kSelectionSlack bytes of unspecified contents
/// behind out[count].
void mask_to_bools(const uint64_t* mask, int64_t count, uint8_t* out) noexcept;

/// Bytes that mask_to_selection() and mask_to_bools() may write behind their results.
inline constexpr int kSelectionSlack = 64;
/// Writes the rows whose bits are set, ascending, and returns how many there are; count must not be
/// above 65,536. Writes up to kSelectionSlack bytes of unspecified contents behind the last.
int64_t mask_to_selection(const uint64_t* mask, int64_t count, uint16_t* selection) noexcept;

/// Counts the set bits of a mask whose bits from `count` on are clear.
int64_t count_mask(const uint64_t* mask, int64_t count) noexcept;

/// One implementation per instruction set, for dispatch and for tests that compare them. Calling
/// one above best_instruction_set() is an illegal instruction.
struct MaskKernels {
    void (*codes8)(const uint8_t*, int64_t, const uint64_t*, int64_t, uint64_t*) noexcept;
    void (*codes16)(const uint16_t*, int64_t, const uint64_t*, int64_t, uint64_t*) noexcept;
    void (*codes32)(const uint32_t*, int64_t, const uint64_t*, int64_t, uint64_t*) noexcept;
    void (*range16)(const int16_t*, int64_t, int16_t, int16_t, uint64_t*) noexcept;
    void (*range32)(const int32_t*, int64_t, int32_t, int32_t, uint64_t*) noexcept;
    void (*range64)(const int64_t*, int64_t, int64_t, int64_t, uint64_t*) noexcept;
    void (*members32)(const int32_t*, int64_t, int64_t, const uint64_t*, uint32_t,
                      uint64_t*) noexcept;
    void (*bools)(const uint8_t*, int64_t, uint64_t*) noexcept;
    void (*expand)(const uint64_t*, int64_t, uint8_t*) noexcept;
    int64_t (*selection)(const uint64_t*, int64_t, uint16_t*) noexcept;
};
const MaskKernels& mask_kernels(InstructionSet set) noexcept;

}  // namespace loom::simd
