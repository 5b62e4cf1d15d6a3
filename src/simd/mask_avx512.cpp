// AVX-512: compares yield mask registers; a last, partial word is loaded under a mask, so that
// nothing behind the values is read. Bitmaps of up to 4,096 codes stay in registers.

#if defined(__x86_64__)

#include <bit>

// GCC 12 warns about _mm512_undefined in its own header.
#if !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

#include "simd/mask_kernels.h"

#define LOOM_AVX512 \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,popcnt")))

namespace loom::simd {

namespace {

// A mask of the lanes that exist when `left` rows remain.
constexpr uint64_t lanes(int64_t left) noexcept {
    return left >= 64 ? ~uint64_t{0} : left <= 0 ? 0 : (uint64_t{1} << left) - 1;
}

// Loads 64 bitmap bytes from word `from` on; words that do not exist are 0.
LOOM_AVX512 inline __m512i bitmap_words(const uint64_t* bitmap, int64_t codes,
                                        int64_t from) noexcept {
    return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(lanes(mask_words(codes) - from)),
                                    bitmap + from);
}

LOOM_AVX512 void codes8(const uint8_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                        uint64_t* mask) noexcept {
    const __m512i table = bitmap_words(bitmap, codes > 256 ? 256 : codes, 0);
    const __m512i bits = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ULL));
    const __m512i low5 = _mm512_set1_epi8(31);
    const __m512i seven = _mm512_set1_epi8(7);
    for (int64_t i = 0; i < count; i += 64) {
        const __mmask64 rows = lanes(count - i);
        fetch_ahead(values + i);
        const __m512i x = _mm512_maskz_loadu_epi8(rows, values + i);
        const __m512i byte =
            _mm512_permutexvar_epi8(_mm512_and_si512(_mm512_srli_epi16(x, 3), low5), table);
        const __m512i bit = _mm512_shuffle_epi8(bits, _mm512_and_si512(x, seven));
        mask[i >> 6] = _mm512_mask_test_epi8_mask(rows, byte, bit);
    }
}

// kGroups * 1,024 codes in 2 * kGroups registers of 16-bit words: a two-register permute fetches
// the word of code >> 4, further bits of it choose among the pairs.
template <int kGroups>
LOOM_AVX512 inline void codes16_registers(const uint16_t* values, int64_t count,
                                          const uint64_t* bitmap, int64_t codes,
                                          uint64_t* mask) noexcept {
    __m512i low[kGroups];
    __m512i high[kGroups];
    for (int g = 0; g < kGroups; ++g) {
        low[g] = bitmap_words(bitmap, codes, 16 * g);
        high[g] = bitmap_words(bitmap, codes, 16 * g + 8);
    }
    const __m512i one = _mm512_set1_epi16(1);
    const __m512i fifteen = _mm512_set1_epi16(15);
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int half = 0; half < 64; half += 32) {
            const auto rows = static_cast<__mmask32>(lanes(count - i) >> half);
            fetch_ahead(values + i + half);
            const __m512i x = _mm512_maskz_loadu_epi16(rows, values + i + half);
            const __m512i at = _mm512_srli_epi16(x, 4);
            __m512i found = _mm512_permutex2var_epi16(low[0], at, high[0]);
            if constexpr (kGroups >= 2) {
                __m512i odd = _mm512_permutex2var_epi16(low[1], at, high[1]);
                if constexpr (kGroups == 4) {
                    const __mmask32 upper = _mm512_test_epi16_mask(at, _mm512_set1_epi16(128));
                    found = _mm512_mask_mov_epi16(found, upper,
                                                  _mm512_permutex2var_epi16(low[2], at, high[2]));
                    odd = _mm512_mask_mov_epi16(odd, upper,
                                                _mm512_permutex2var_epi16(low[3], at, high[3]));
                }
                found = _mm512_mask_mov_epi16(
                    found, _mm512_test_epi16_mask(at, _mm512_set1_epi16(64)), odd);
            }
            const __m512i bit = _mm512_sllv_epi16(one, _mm512_and_si512(x, fifteen));
            word |= static_cast<uint64_t>(_mm512_mask_test_epi16_mask(rows, found, bit)) << half;
        }
        mask[i >> 6] = word;
    }
}

// Sixteen codes: gathers the 32-bit word of each and tests its bit.
LOOM_AVX512 inline uint64_t test_codes(__mmask16 rows, __m512i x, const uint64_t* bitmap) noexcept {
    const __m512i words = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), rows,
                                                      _mm512_srli_epi32(x, 5), bitmap, 4);
    const __m512i bit =
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(x, _mm512_set1_epi32(31)));
    return _mm512_mask_test_epi32_mask(rows, words, bit);
}

LOOM_AVX512 void codes16(const uint16_t* values, int64_t count, const uint64_t* bitmap,
                         int64_t codes, uint64_t* mask) noexcept {
    if (codes <= 1024) return codes16_registers<1>(values, count, bitmap, codes, mask);
    if (codes <= 2048) return codes16_registers<2>(values, count, bitmap, codes, mask);
    if (codes <= 4096) return codes16_registers<4>(values, count, bitmap, codes, mask);
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 16) {
            const auto rows = static_cast<__mmask16>(lanes(count - i) >> j);
            const __m256i x = _mm256_maskz_loadu_epi16(rows, values + i + j);
            word |= test_codes(rows, _mm512_cvtepu16_epi32(x), bitmap) << j;
        }
        mask[i >> 6] = word;
    }
}

LOOM_AVX512 void codes32(const uint32_t* values, int64_t count, const uint64_t* bitmap, int64_t,
                         uint64_t* mask) noexcept {
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 16) {
            const auto rows = static_cast<__mmask16>(lanes(count - i) >> j);
            fetch_ahead(values + i + j);
            word |= test_codes(rows, _mm512_maskz_loadu_epi32(rows, values + i + j), bitmap) << j;
        }
        mask[i >> 6] = word;
    }
}

LOOM_AVX512 void range16(const int16_t* values, int64_t count, int16_t low, int16_t high,
                         uint64_t* mask) noexcept {
    const __m512i from = _mm512_set1_epi16(low);
    const __m512i span = _mm512_set1_epi16(static_cast<int16_t>(high - low));
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 32) {
            const auto rows = static_cast<__mmask32>(lanes(count - i) >> j);
            fetch_ahead(values + i + j);
            const __m512i x = _mm512_maskz_loadu_epi16(rows, values + i + j);
            word |= static_cast<uint64_t>(
                        _mm512_mask_cmple_epu16_mask(rows, _mm512_sub_epi16(x, from), span))
                    << j;
        }
        mask[i >> 6] = word;
    }
}

LOOM_AVX512 void range32(const int32_t* values, int64_t count, int32_t low, int32_t high,
                         uint64_t* mask) noexcept {
    const __m512i from = _mm512_set1_epi32(low);
    const __m512i span = _mm512_set1_epi32(
        static_cast<int>(static_cast<uint32_t>(high) - static_cast<uint32_t>(low)));
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 16) {
            const auto rows = static_cast<__mmask16>(lanes(count - i) >> j);
            fetch_ahead(values + i + j);
            const __m512i x = _mm512_maskz_loadu_epi32(rows, values + i + j);
            word |= static_cast<uint64_t>(
                        _mm512_mask_cmple_epu32_mask(rows, _mm512_sub_epi32(x, from), span))
                    << j;
        }
        mask[i >> 6] = word;
    }
}

LOOM_AVX512 void range64(const int64_t* values, int64_t count, int64_t low, int64_t high,
                         uint64_t* mask) noexcept {
    const __m512i from = _mm512_set1_epi64(low);
    const __m512i span = _mm512_set1_epi64(
        static_cast<long long>(static_cast<uint64_t>(high) - static_cast<uint64_t>(low)));
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 8) {
            const auto rows = static_cast<__mmask8>(lanes(count - i) >> j);
            fetch_ahead(values + i + j);
            const __m512i x = _mm512_maskz_loadu_epi64(rows, values + i + j);
            word |= static_cast<uint64_t>(
                        _mm512_mask_cmple_epu64_mask(rows, _mm512_sub_epi64(x, from), span))
                    << j;
        }
        mask[i >> 6] = word;
    }
}

LOOM_AVX512 void members32(const int32_t* values, int64_t count, int64_t base,
                           const uint64_t* bitmap, uint32_t size, uint64_t* mask) noexcept {
    const __m512i from = _mm512_set1_epi32(static_cast<int32_t>(base));
    const __m512i end = _mm512_set1_epi32(static_cast<int>(size));
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 16) {
            auto rows = static_cast<__mmask16>(lanes(count - i) >> j);
            fetch_ahead(values + i + j);
            const __m512i x =
                _mm512_sub_epi32(_mm512_maskz_loadu_epi32(rows, values + i + j), from);
            rows = _mm512_mask_cmplt_epu32_mask(rows, x, end);
            word |= test_codes(rows, x, bitmap) << j;
        }
        mask[i >> 6] = word;
    }
}

LOOM_AVX512 void bools(const uint8_t* values, int64_t count, uint64_t* mask) noexcept {
    for (int64_t i = 0; i < count; i += 64) {
        const __m512i x = _mm512_maskz_loadu_epi8(lanes(count - i), values + i);
        mask[i >> 6] = _mm512_test_epi8_mask(x, x);
    }
}

LOOM_AVX512 void expand(const uint64_t* mask, int64_t count, uint8_t* out) noexcept {
    const __m512i one = _mm512_set1_epi8(1);
    for (int64_t i = 0; i < count; i += 64)
        _mm512_storeu_si512(out + i, _mm512_maskz_mov_epi8(mask[i >> 6], one));
}

// Each store of 64 bytes starts at the row that is next: at most 64 bytes behind the last.
LOOM_AVX512 int64_t selection(const uint64_t* mask, int64_t count, uint16_t* out) noexcept {
    const __m512i ascending =
        _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                         12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    int64_t rows = 0;
    for (int64_t i = 0; i < count; i += 32) {
        const auto bits = static_cast<uint32_t>(mask[i >> 6] >> (i & 32));
        const __m512i at = _mm512_add_epi16(ascending, _mm512_set1_epi16(static_cast<int16_t>(i)));
        _mm512_storeu_si512(out + rows, _mm512_maskz_compress_epi16(bits, at));
        rows += std::popcount(bits);
    }
    return rows;
}

}  // namespace

const MaskKernels kMaskAvx512 = {codes8,  codes16,   codes32, range16, range32,
                                 range64, members32, bools,   expand,  selection};

}  // namespace loom::simd

#if !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif
