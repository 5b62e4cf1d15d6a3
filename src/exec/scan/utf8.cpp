#include "exec/scan/utf8.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bitmap.h"
#include "simd/instruction_set.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loom::exec {

using column::BytesView;

namespace {

// Texts that are looked at one by one if one of them is not ASCII.
constexpr int64_t kStep = 64;

// The bytes of a row that count.
int64_t size_of(const BytesView* texts, const uint8_t* validity, int64_t row) noexcept {
    return validity == nullptr || base::bit_at(validity, row) ? texts[row].size : 0;
}

// Tells whether all of `size` bytes, at least one, are ASCII and none is zero.
bool is_ascii(const uint8_t* p, int64_t size) noexcept {
    constexpr uint64_t kHigh = 0x8080808080808080;
    constexpr uint64_t kOnes = 0x0101010101010101;
    const auto suspect = [](uint64_t word) { return word | (word - kOnes); };
    const auto load = [](const uint8_t* at) {
        uint64_t word;
        std::memcpy(&word, at, sizeof word);
        return word;
    };
    if (size < 8) {
        uint64_t word = kOnes;
        std::memcpy(&word, p, static_cast<size_t>(size));
        return (suspect(word) & kHigh) == 0;
    }
    // The last step overlaps the one before it.
    uint64_t all = suspect(load(p + size - 8));
    for (int64_t i = 0; i + 8 < size; i += 8) all |= suspect(load(p + i));
    return (all & kHigh) == 0;
}

bool are_ascii_portable(const BytesView* texts, const uint8_t* validity, int64_t count) noexcept {
    bool good = true;
    for (int64_t i = 0; i < count; ++i) {
        const int64_t size = size_of(texts, validity, i);
        good &= size == 0 || is_ascii(texts[i].data, size);
    }
    return good;
}

#if defined(__x86_64__)

#define LOOM_AVX2 __attribute__((target("avx2")))
#define LOOM_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,bmi2")))

LOOM_AVX2 inline __m256i load(const uint8_t* from) noexcept {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// As signed numbers, the characters that are looked for are above zero, and all others are not.
LOOM_AVX2 bool are_ascii_avx2(const BytesView* texts, const uint8_t* validity,
                              int64_t count) noexcept {
    __m256i lowest = _mm256_set1_epi8(1);
    bool good = true;
    for (int64_t i = 0; i < count; ++i) {
        const uint8_t* from = texts[i].data;
        const int64_t size = size_of(texts, validity, i);
        if (size < 32) {
            good &= size == 0 || is_ascii(from, size);
            continue;
        }
        // The last step overlaps the one before it.
        lowest = _mm256_min_epi8(lowest, load(from + size - 32));
        for (int64_t at = 0; at + 32 < size; at += 32)
            lowest = _mm256_min_epi8(lowest, load(from + at));
    }
    return good && _mm256_movemask_epi8(_mm256_cmpgt_epi8(lowest, _mm256_setzero_si256())) == -1;
}

// Bytes that a load's mask leaves out are not read.
LOOM_AVX512 inline uint64_t bad_bytes(const uint8_t* from, uint64_t bytes) noexcept {
    return _mm512_mask_cmple_epi8_mask(bytes, _mm512_maskz_loadu_epi8(bytes, from),
                                       _mm512_setzero_si512());
}

LOOM_AVX512 bool are_ascii_avx512(const BytesView* texts, const uint8_t* validity,
                                  int64_t count) noexcept {
    uint64_t bad = 0;
    for (int64_t i = 0; i < count; ++i) {
        const uint8_t* from = texts[i].data;
        int64_t size = size_of(texts, validity, i);
        for (; size > 64; size -= 64, from += 64) bad |= bad_bytes(from, ~uint64_t{0});
        bad |= bad_bytes(from, _bzhi_u64(~uint64_t{0}, static_cast<uint32_t>(size)));
    }
    return bad == 0;
}

#endif

struct KernelList {
    std::array<AsciiKernel, 3> kernels;
    size_t count = 0;
    void add(AsciiKernel kernel) { kernels[count++] = kernel; }
};

KernelList detect_kernels() noexcept {
    KernelList list;
#if defined(__x86_64__)
    const simd::InstructionSet best = simd::best_instruction_set();
    if (best == simd::InstructionSet::kAvx512) list.add({"avx512", are_ascii_avx512});
    if (best != simd::InstructionSet::kScalar) list.add({"avx2", are_ascii_avx2});
#endif
    list.add({"portable", are_ascii_portable});
    return list;
}

const KernelList& kernel_list() noexcept {
    static const KernelList list = detect_kernels();
    return list;
}

}  // namespace

std::span<const AsciiKernel> ascii_kernels() noexcept {
    const KernelList& list = kernel_list();
    return {list.kernels.data(), list.count};
}

bool is_server_text(const BytesView& value) noexcept {
    if (value.size == 0 || is_ascii(value.data, value.size)) return true;
    const uint8_t* p = value.data;
    const uint8_t* const end = p + value.size;
    while (p < end) {
        const int length = utf8_sequence(p, end - p);
        if (length == 0) return false;
        p += length;
    }
    return true;
}

bool are_server_texts(const BytesView* texts, const uint8_t* validity, int64_t count) noexcept {
    const auto are_ascii = kernel_list().kernels[0].are_ascii;
    for (int64_t begin = 0; begin < count; begin += kStep) {
        const int64_t rows = std::min(kStep, count - begin);
        const uint8_t* bits = validity == nullptr ? nullptr : validity + begin / 8;
        if (are_ascii(texts + begin, bits, rows)) continue;
        for (int64_t i = 0; i < rows; ++i)
            if ((bits == nullptr || base::bit_at(bits, i)) && !is_server_text(texts[begin + i]))
                return false;
    }
    return true;
}

}  // namespace loom::exec
