// AVX2: whole words of 64 rows by compare and movemask; the rest, fewer than 64 rows, by the plain
// kernel, so that nothing behind the values is read.

#if defined(__x86_64__)

#include <array>
#include <bit>

#include <immintrin.h>

#include "simd/mask_kernels.h"

#define LOOM_AVX2 __attribute__((target("avx2")))

namespace loom::simd {

namespace {

LOOM_AVX2 inline __m256i load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
}
LOOM_AVX2 inline uint64_t byte_mask(__m256i lanes) noexcept {
    return static_cast<uint32_t>(_mm256_movemask_epi8(lanes));
}
LOOM_AVX2 inline uint64_t lane_mask32(__m256i lanes) noexcept {
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

// The 256-bit bitmap lies in two registers of 16 bytes a lane: a byte shuffle fetches the byte of
// code >> 3 from both, bit 7 of the code chooses, a second shuffle makes the bit to test.
LOOM_AVX2 void codes8(const uint8_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                      uint64_t* mask) noexcept {
    alignas(32) uint64_t words[4] = {};
    for (int64_t i = 0; i < 4 && i * 64 < codes; ++i) words[i] = bitmap[i];
    const __m256i low =
        _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(words)));
    const __m256i high =
        _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(words + 2)));
    const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i seven = _mm256_set1_epi8(7);
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 2; ++j) {
            fetch_ahead(values + i + 32 * j);
            const __m256i x = load(values + i + 32 * j);
            const __m256i at = _mm256_and_si256(_mm256_srli_epi16(x, 3), nibble);
            const __m256i byte =
                _mm256_blendv_epi8(_mm256_shuffle_epi8(low, at), _mm256_shuffle_epi8(high, at), x);
            const __m256i bit = _mm256_shuffle_epi8(bits, _mm256_and_si256(x, seven));
            word |= byte_mask(_mm256_cmpeq_epi8(_mm256_and_si256(byte, bit), bit)) << (32 * j);
        }
        mask[i >> 6] = word;
    }
    if (i < count) kMaskScalar.codes8(values + i, count - i, bitmap, codes, mask + (i >> 6));
}

// Eight codes at a time: a gather of the 32-bit word of each code, its bit shifted to the sign.
LOOM_AVX2 inline uint64_t test_codes(__m256i x, const uint64_t* bitmap) noexcept {
    const __m256i low = _mm256_set1_epi32(31);
    const __m256i words =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(bitmap), _mm256_srli_epi32(x, 5), 4);
    return lane_mask32(_mm256_sllv_epi32(words, _mm256_andnot_si256(x, low)));
}

LOOM_AVX2 void codes16(const uint16_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                       uint64_t* mask) noexcept {
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 8) {
            const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values + i + j));
            word |= test_codes(_mm256_cvtepu16_epi32(x), bitmap) << j;
        }
        mask[i >> 6] = word;
    }
    if (i < count) kMaskScalar.codes16(values + i, count - i, bitmap, codes, mask + (i >> 6));
}

LOOM_AVX2 void codes32(const uint32_t* values, int64_t count, const uint64_t* bitmap, int64_t codes,
                       uint64_t* mask) noexcept {
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 8) {
            fetch_ahead(values + i + j);
            word |= test_codes(load(values + i + j), bitmap) << j;
        }
        mask[i >> 6] = word;
    }
    if (i < count) kMaskScalar.codes32(values + i, count - i, bitmap, codes, mask + (i >> 6));
}

// value - low <= high - low, unsigned: the minimum of both sides is the left one.
LOOM_AVX2 void range16(const int16_t* values, int64_t count, int16_t low, int16_t high,
                       uint64_t* mask) noexcept {
    const __m256i from = _mm256_set1_epi16(low);
    const __m256i span = _mm256_set1_epi16(static_cast<int16_t>(high - low));
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 2; ++j) {
            fetch_ahead(values + i + 32 * j);
            const __m256i a = _mm256_sub_epi16(load(values + i + 32 * j), from);
            const __m256i b = _mm256_sub_epi16(load(values + i + 32 * j + 16), from);
            const __m256i in = _mm256_packs_epi16(_mm256_cmpeq_epi16(_mm256_min_epu16(a, span), a),
                                                  _mm256_cmpeq_epi16(_mm256_min_epu16(b, span), b));
            word |= byte_mask(_mm256_permute4x64_epi64(in, 0xD8)) << (32 * j);
        }
        mask[i >> 6] = word;
    }
    if (i < count) kMaskScalar.range16(values + i, count - i, low, high, mask + (i >> 6));
}

LOOM_AVX2 void range32(const int32_t* values, int64_t count, int32_t low, int32_t high,
                       uint64_t* mask) noexcept {
    const __m256i from = _mm256_set1_epi32(low);
    const __m256i span = _mm256_set1_epi32(
        static_cast<int>(static_cast<uint32_t>(high) - static_cast<uint32_t>(low)));
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 8) {
            fetch_ahead(values + i + j);
            const __m256i x = _mm256_sub_epi32(load(values + i + j), from);
            word |= lane_mask32(_mm256_cmpeq_epi32(_mm256_min_epu32(x, span), x)) << j;
        }
        mask[i >> 6] = word;
    }
    if (i < count) kMaskScalar.range32(values + i, count - i, low, high, mask + (i >> 6));
}

LOOM_AVX2 void range64(const int64_t* values, int64_t count, int64_t low, int64_t high,
                       uint64_t* mask) noexcept {
    const __m256i from = _mm256_set1_epi64x(low);
    const __m256i to = _mm256_set1_epi64x(high);
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t out = 0;
        for (int j = 0; j < 64; j += 4) {
            fetch_ahead(values + i + j);
            const __m256i x = load(values + i + j);
            const __m256i outside =
                _mm256_or_si256(_mm256_cmpgt_epi64(from, x), _mm256_cmpgt_epi64(x, to));
            out |= static_cast<uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(outside))) << j;
        }
        mask[i >> 6] = ~out;
    }
    if (i < count) kMaskScalar.range64(values + i, count - i, low, high, mask + (i >> 6));
}

LOOM_AVX2 void members32(const int32_t* values, int64_t count, int64_t base, const uint64_t* bitmap,
                         uint32_t size, uint64_t* mask) noexcept {
    const __m256i from = _mm256_set1_epi32(static_cast<int32_t>(base));
    const __m256i last = _mm256_set1_epi32(static_cast<int>(size - 1));
    const __m256i low = _mm256_set1_epi32(31);
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        uint64_t word = 0;
        for (int j = 0; j < 64; j += 8) {
            fetch_ahead(values + i + j);
            const __m256i x = _mm256_sub_epi32(load(values + i + j), from);
            const __m256i in = _mm256_cmpeq_epi32(_mm256_min_epu32(x, last), x);
            const __m256i words = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
                                                              reinterpret_cast<const int*>(bitmap),
                                                              _mm256_srli_epi32(x, 5), in, 4);
            word |= lane_mask32(_mm256_sllv_epi32(words, _mm256_andnot_si256(x, low))) << j;
        }
        mask[i >> 6] = word;
    }
    if (i < count)
        kMaskScalar.members32(values + i, count - i, base, bitmap, size, mask + (i >> 6));
}

LOOM_AVX2 void bools(const uint8_t* values, int64_t count, uint64_t* mask) noexcept {
    const __m256i zero = _mm256_setzero_si256();
    int64_t i = 0;
    for (; i + 64 <= count; i += 64)
        mask[i >> 6] = ~(byte_mask(_mm256_cmpeq_epi8(load(values + i), zero)) |
                         byte_mask(_mm256_cmpeq_epi8(load(values + i + 32), zero)) << 32);
    if (i < count) kMaskScalar.bools(values + i, count - i, mask + (i >> 6));
}

LOOM_AVX2 void expand(const uint64_t* mask, int64_t count, uint8_t* out) noexcept {
    const __m256i spread = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                            2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bits = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
    const __m256i one = _mm256_set1_epi8(1);
    for (int64_t i = 0; i < count; i += 32) {
        const auto half = static_cast<int>(mask[i >> 6] >> (i & 32));
        const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(half), spread);
        const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bits), bits);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_and_si256(set, one));
    }
}

constexpr std::array<std::array<uint16_t, 8>, 256> make_positions() {
    std::array<std::array<uint16_t, 8>, 256> table{};
    for (int bits = 0; bits < 256; ++bits) {
        int rows = 0;
        for (int i = 0; i < 8; ++i)
            if (bits >> i & 1) table[bits][rows++] = static_cast<uint16_t>(i);
    }
    return table;
}

alignas(64) constexpr std::array<std::array<uint16_t, 8>, 256> kPositions = make_positions();

// A table gives the positions of the set bits of a byte; the store of eight starts at the row that
// is next, so it ends at most 16 bytes behind the last.
LOOM_AVX2 int64_t selection(const uint64_t* mask, int64_t count, uint16_t* out) noexcept {
    int64_t rows = 0;
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = mask[i >> 6];
        for (int64_t j = i; word != 0; j += 8, word >>= 8) {
            const auto bits = static_cast<uint8_t>(word);
            const __m128i at =
                _mm_load_si128(reinterpret_cast<const __m128i*>(kPositions[bits].data()));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + rows),
                             _mm_add_epi16(at, _mm_set1_epi16(static_cast<int16_t>(j))));
            rows += std::popcount(bits);
        }
    }
    return rows;
}

}  // namespace

const MaskKernels kMaskAvx2 = {codes8,  codes16,   codes32, range16, range32,
                               range64, members32, bools,   expand,  selection};

}  // namespace loom::simd

#endif
