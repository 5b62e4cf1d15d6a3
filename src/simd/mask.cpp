// Plain kernels and the choice among all of them.

#include "simd/mask.h"

#include <bit>

#include "simd/mask_kernels.h"

namespace loom::simd {

namespace {

// Fills a mask from `test(row)`.
template <typename Test>
void fill(int64_t count, uint64_t* mask, Test test) noexcept {
    for (int64_t i = 0; i < count; i += 64) {
        const int64_t rows = count - i < 64 ? count - i : 64;
        uint64_t word = 0;
        for (int64_t j = 0; j < rows; ++j) word |= static_cast<uint64_t>(test(i + j)) << j;
        mask[i >> 6] = word;
    }
}

template <typename T>
void codes_scalar(const T* values, int64_t count, const uint64_t* bitmap, int64_t,
                  uint64_t* mask) noexcept {
    fill(count, mask,
         [=](int64_t i) { return (bitmap[values[i] >> 6] >> (values[i] & 63) & 1) != 0; });
}

template <typename T>
void range_scalar(const T* values, int64_t count, T low, T high, uint64_t* mask) noexcept {
    fill(count, mask, [=](int64_t i) { return values[i] >= low && values[i] <= high; });
}

template <typename T>
void members_scalar(const T* values, int64_t count, int64_t base, const uint64_t* bitmap,
                    uint32_t size, uint64_t* mask) noexcept {
    fill(count, mask, [=](int64_t i) {
        const uint64_t at =
            static_cast<uint64_t>(static_cast<int64_t>(values[i])) - static_cast<uint64_t>(base);
        return at < size && (bitmap[at >> 6] >> (at & 63) & 1) != 0;
    });
}

void bools_scalar(const uint8_t* values, int64_t count, uint64_t* mask) noexcept {
    fill(count, mask, [=](int64_t i) { return values[i] != 0; });
}

void expand_scalar(const uint64_t* mask, int64_t count, uint8_t* out) noexcept {
    for (int64_t i = 0; i < count; ++i) out[i] = mask[i >> 6] >> (i & 63) & 1;
}

int64_t selection_scalar(const uint64_t* mask, int64_t count, uint16_t* selection) noexcept {
    int64_t rows = 0;
    for (int64_t i = 0; i < count; i += 64)
        for (uint64_t word = mask[i >> 6]; word != 0; word &= word - 1)
            selection[rows++] = static_cast<uint16_t>(i + std::countr_zero(word));
    return rows;
}

}  // namespace

const MaskKernels kMaskScalar = {
    codes_scalar<uint8_t>, codes_scalar<uint16_t>, codes_scalar<uint32_t>,  range_scalar<int16_t>,
    range_scalar<int32_t>, range_scalar<int64_t>,  members_scalar<int32_t>, bools_scalar,
    expand_scalar,         selection_scalar};

const MaskKernels& mask_kernels(InstructionSet set) noexcept {
#if defined(__x86_64__)
    if (set == InstructionSet::kAvx512) return kMaskAvx512;
    if (set == InstructionSet::kAvx2) return kMaskAvx2;
#endif
    return kMaskScalar;
}

namespace {
const MaskKernels& best() noexcept {
    static const MaskKernels& kernels = mask_kernels(best_instruction_set());
    return kernels;
}
}  // namespace

void codes_to_mask(const uint8_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                   uint64_t* mask) noexcept {
    best().codes8(values, count, bitmap, codes, mask);
}
void codes_to_mask(const uint16_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                   uint64_t* mask) noexcept {
    best().codes16(values, count, bitmap, codes, mask);
}
void codes_to_mask(const uint32_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                   uint64_t* mask) noexcept {
    best().codes32(values, count, bitmap, codes, mask);
}
void range_to_mask(const int16_t* values, int64_t count, int16_t low, int16_t high,
                   uint64_t* mask) noexcept {
    best().range16(values, count, low, high, mask);
}
void range_to_mask(const int32_t* values, int64_t count, int32_t low, int32_t high,
                   uint64_t* mask) noexcept {
    best().range32(values, count, low, high, mask);
}
void range_to_mask(const int64_t* values, int64_t count, int64_t low, int64_t high,
                   uint64_t* mask) noexcept {
    best().range64(values, count, low, high, mask);
}
void members_to_mask(const int16_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                     uint32_t size, uint64_t* mask) noexcept {
    members_scalar(values, count, base, bitmap, size, mask);
}
void members_to_mask(const int32_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                     uint32_t size, uint64_t* mask) noexcept {
    // The vector kernels subtract modulo 2^32, so the bitmap must not reach past the type.
    if (base < INT32_MIN || base > INT32_MAX - static_cast<int64_t>(size - 1))
        return members_scalar(values, count, base, bitmap, size, mask);
    best().members32(values, count, base, bitmap, size, mask);
}
void members_to_mask(const int64_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                     uint32_t size, uint64_t* mask) noexcept {
    members_scalar(values, count, base, bitmap, size, mask);
}
void bools_to_mask(const uint8_t* values, int64_t count, uint64_t* mask) noexcept {
    best().bools(values, count, mask);
}
void mask_to_bools(const uint64_t* mask, int64_t count, uint8_t* out) noexcept {
    best().expand(mask, count, out);
}
int64_t mask_to_selection(const uint64_t* mask, int64_t count, uint16_t* selection) noexcept {
    return best().selection(mask, count, selection);
}
int64_t count_mask(const uint64_t* mask, int64_t count) noexcept {
    int64_t rows = 0;
    for (int64_t i = 0; i < mask_words(count); ++i) rows += std::popcount(mask[i]);
    return rows;
}

}  // namespace loom::simd
