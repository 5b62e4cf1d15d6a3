#pragma once
// Row masks of vectors (simd/mask.h has the kernels): bit (i & 63) of word i / 64.

#include <cstring>

#include "base/bytes.h"
#include "exec/vector.h"
#include "simd/mask.h"

namespace loom::exec {

/// Words of the mask of a full batch.
inline constexpr int64_t kMaskWords = simd::mask_words(kBatchRows);

/// Sets the first `count` bits to `value` and clears the rest of the last word.
inline void fill_mask(uint64_t* mask, int64_t count, bool value) noexcept {
    const int64_t words = simd::mask_words(count);
    std::memset(mask, value ? 0xff : 0, static_cast<size_t>(words) * 8);
    if (value && (count & 63) != 0) mask[words - 1] = (uint64_t{1} << (count & 63)) - 1;
}

/// Clears the bits of NULL rows. `validity` may be null (no NULLs).
inline void clear_nulls(uint64_t* mask, const uint8_t* validity, int64_t count) noexcept {
    if (validity == nullptr) return;
    for (int64_t i = 0; i < simd::mask_words(count); ++i)
        mask[i] &= base::load<uint64_t>(validity + i * 8);
}

/// Clears bits that `other` lacks.
inline void and_mask(uint64_t* mask, const uint64_t* other, int64_t count) noexcept {
    for (int64_t i = 0; i < simd::mask_words(count); ++i) mask[i] &= other[i];
}

/// Turns each of the first `count` bits around.
inline void invert_mask(uint64_t* mask, int64_t count) noexcept {
    const int64_t words = simd::mask_words(count);
    for (int64_t i = 0; i < words; ++i) mask[i] = ~mask[i];
    if ((count & 63) != 0) mask[words - 1] &= (uint64_t{1} << (count & 63)) - 1;
}

/// Sets the bit of each row of a codes vector whose entry has its bit set in `bitmap`; NULL rows
/// are clear.
inline void codes_to_mask(const Vector& rows, const uint64_t* bitmap, uint64_t* mask) noexcept {
    const int64_t entries = rows.dictionary->values.length;
    if (entries == 0) return fill_mask(mask, rows.length, false);
    if (rows.code_width == 1)
        simd::codes_to_mask(rows.as<uint8_t>(), rows.length, bitmap, entries, mask);
    else if (rows.code_width == 2)
        simd::codes_to_mask(rows.as<uint16_t>(), rows.length, bitmap, entries, mask);
    else
        simd::codes_to_mask(rows.as<uint32_t>(), rows.length, bitmap, entries, mask);
    clear_nulls(mask, rows.validity, rows.length);
}

}  // namespace loom::exec
