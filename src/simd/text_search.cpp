#include "simd/text_search.h"

#include <bit>
#include <cstring>

#include "simd/instruction_set.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loom::simd {

namespace {

bool has_triple(const ByteTriples& triples, const uint8_t* at) noexcept {
    return (triples.sets[0][at[0]] & triples.sets[1][at[1]] & triples.sets[2][at[2]]) != 0;
}

const uint8_t* find_triple_portable(const ByteTriples& triples, const uint8_t* from,
                                    const uint8_t* end) noexcept {
    for (; end - from >= 3; ++from)
        if (has_triple(triples, from)) return from;
    return nullptr;
}

// The first and the last byte are known to be there.
bool has_middle(const uint8_t* at, const uint8_t* piece, int64_t size) noexcept {
    return size <= 2 || std::memcmp(at + 1, piece + 1, static_cast<size_t>(size - 2)) == 0;
}

const uint8_t* find_piece_portable(const uint8_t* from, const uint8_t* end, const uint8_t* piece,
                                   int64_t size) noexcept {
    for (; end - from >= size; ++from) {
        const void* first = std::memchr(from, piece[0], static_cast<size_t>(end - from - size + 1));
        if (first == nullptr) return nullptr;
        from = static_cast<const uint8_t*>(first);
        if (from[size - 1] == piece[size - 1] && has_middle(from, piece, size)) return from;
    }
    return nullptr;
}

#if defined(__x86_64__)

#define LOOM_AVX2 __attribute__((target("avx2")))
// Places looked at in one step.
constexpr int64_t kStep = 32;

LOOM_AVX2 __m256i table(const uint8_t (&half)[16]) noexcept {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half)));
}

LOOM_AVX2 __m256i load(const uint8_t* at) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// The combinations of 32 bytes at one place: those of the low half that are of the high half too.
LOOM_AVX2 __m256i combinations(__m256i bytes, __m256i low, __m256i high) noexcept {
    const __m256i half = _mm256_set1_epi8(15);
    return _mm256_and_si256(
        _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, half)),
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half)));
}

LOOM_AVX2 const uint8_t* find_triple_avx2(const ByteTriples& triples, const uint8_t* from,
                                          const uint8_t* end) noexcept {
    const __m256i low[] = {table(triples.low[0]), table(triples.low[1]), table(triples.low[2])};
    const __m256i high[] = {table(triples.high[0]), table(triples.high[1]), table(triples.high[2])};
    // A step reads two bytes behind its places.
    for (; end - from >= kStep + 2; from += kStep) {
        const __m256i found =
            _mm256_and_si256(_mm256_and_si256(combinations(load(from), low[0], high[0]),
                                              combinations(load(from + 1), low[1], high[1])),
                             combinations(load(from + 2), low[2], high[2]));
        const auto none = static_cast<uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(found, _mm256_setzero_si256())));
        if (none != UINT32_MAX) return from + std::countr_one(none);
    }
    return find_triple_portable(triples, from, end);
}

LOOM_AVX2 const uint8_t* find_piece_avx2(const uint8_t* from, const uint8_t* end,
                                         const uint8_t* piece, int64_t size) noexcept {
    const __m256i first = _mm256_set1_epi8(static_cast<char>(piece[0]));
    const __m256i last = _mm256_set1_epi8(static_cast<char>(piece[size - 1]));
    for (; end - from >= kStep + size - 1; from += kStep) {
        auto left = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_and_si256(
            _mm256_cmpeq_epi8(load(from), first), _mm256_cmpeq_epi8(load(from + size - 1), last))));
        for (; left != 0; left &= left - 1) {
            const uint8_t* place = from + std::countr_zero(left);
            if (has_middle(place, piece, size)) return place;
        }
    }
    return find_piece_portable(from, end, piece, size);
}

bool has_avx2() noexcept {
    static const bool avx2 = best_instruction_set() != InstructionSet::kScalar;
    return avx2;
}

#endif

}  // namespace

const uint8_t* find_triple(const ByteTriples& triples, const uint8_t* from,
                           const uint8_t* end) noexcept {
#if defined(__x86_64__)
    if (has_avx2()) return find_triple_avx2(triples, from, end);
#endif
    return find_triple_portable(triples, from, end);
}

const uint8_t* find_piece(const uint8_t* from, const uint8_t* end, const uint8_t* piece,
                          int64_t size) noexcept {
#if defined(__x86_64__)
    if (has_avx2()) return find_piece_avx2(from, end, piece, size);
#endif
    return find_piece_portable(from, end, piece, size);
}

}  // namespace loom::simd
