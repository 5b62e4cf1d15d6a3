// The snappy decoder, instantiated for three instruction sets, and the choice among them.
//
// snappy_decode_body.inc holds the algorithm. It is compiled once per instruction set, because code
// can be inlined only into functions that allow the same instructions. Each instantiation brings
// `repeat_pattern`, the one step that needs hand-written vectors.

#include "format/codec/snappy_decode.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace loom::codec {

namespace {

// kPattern[n][i] = i % n: which byte of an n-byte pattern stands at output byte i.
struct PatternTable {
    alignas(64) uint8_t index[32][64];
};
constexpr PatternTable make_pattern_table() {
    PatternTable table{};
    for (int period = 1; period < 32; ++period)
        for (int i = 0; i < 64; ++i) table.index[period][i] = static_cast<uint8_t>(i % period);
    return table;
}
constexpr PatternTable kPattern = make_pattern_table();

// What a tag says about an element that decode_short_elements() takes: its length, and what to add
// to the offset bits behind the tag. A literal has an offset that passes the tests of a copy once
// so much output is there. Other elements get one that never does.
struct ShortElement {
    uint32_t offset;
    uint32_t length;
};
constexpr uint32_t kTooFar = 1U << 31;
// So that the next tag is in the eight bytes from the tag on.
constexpr uint32_t kLongestLiteral = 6;
struct ShortElements {
    ShortElement of_tag[256];
};
constexpr ShortElements make_short_elements() {
    ShortElements elements{};
    for (uint32_t tag = 0; tag < 256; ++tag) {
        const uint32_t length = (tag >> 2) + 1;
        ShortElement element{kTooFar, 0};
        if ((tag & 3) == 0 && length <= kLongestLiteral) element = {length, length};
        if ((tag & 3) == 1) element = {tag >> 5 << 8, (tag >> 2 & 7) + 4};
        if ((tag & 3) == 2) element = {0, length};
        elements.of_tag[tag] = element;
    }
    return elements;
}
constexpr ShortElements kShortElements = make_short_elements();
// The bits of the offset behind a tag of each kind.
constexpr uint64_t kOffsetBits[4] = {0, 0xff, 0xffff, 0};

}  // namespace

// Keeps the compiler from making a branch out of a choice between values that it knows how to
// compute.
#define LOOM_SNAPPY_OPAQUE(a, b, c, d) asm("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d))

namespace portable {
#define LOOM_SNAPPY_TARGET
// Writes 64 bytes (or at least `length`) that repeat the `period` bytes in front of `to`.
inline void repeat_pattern(uint8_t* to, uint32_t period, uint32_t length) noexcept {
    const uint8_t* from = to - period;
    for (uint32_t i = 0; i < length; ++i) to[i] = from[i];
}
#include "format/codec/snappy_decode_body.inc"
#undef LOOM_SNAPPY_TARGET
}  // namespace portable

#if defined(__x86_64__)
namespace avx2 {
#define LOOM_SNAPPY_TARGET __attribute__((target("avx2,bmi,bmi2")))
LOOM_SNAPPY_TARGET inline void repeat_pattern(uint8_t* to, uint32_t period,
                                              uint32_t length) noexcept {
    const uint8_t* from = to - period;
    if (period > 16) {
        // Each 16 bytes are complete before the next are loaded.
        for (uint32_t i = 0; i < 64; i += 16) std::memcpy(to + i, from + i, 16);
        return;
    }
    const __m256i pattern =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    const auto* index = reinterpret_cast<const __m256i*>(kPattern.index[period]);
    auto* target = reinterpret_cast<__m256i*>(to);
    _mm256_storeu_si256(target, _mm256_shuffle_epi8(pattern, _mm256_load_si256(index)));
    if (length > 32)
        _mm256_storeu_si256(target + 1, _mm256_shuffle_epi8(pattern, _mm256_load_si256(index + 1)));
}
#include "format/codec/snappy_decode_body.inc"
#undef LOOM_SNAPPY_TARGET
}  // namespace avx2

namespace avx512 {
#define LOOM_SNAPPY_TARGET \
    __attribute__((target("avx2,bmi,bmi2,avx512f,avx512bw,avx512vl,avx512vbmi")))
LOOM_SNAPPY_TARGET inline void repeat_pattern(uint8_t* to, uint32_t period, uint32_t) noexcept {
    // A load no wider than needed: a wider one would span several fresh stores and wait for them.
    const uint8_t* from = to - period;
    __m512i pattern;
    if (period <= 8)
        pattern = _mm512_castsi128_si512(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    else if (period <= 16)
        pattern = _mm512_castsi128_si512(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    else
        pattern =
            _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    const __m512i index = _mm512_load_si512(kPattern.index[period]);
    // The masked form is the same instruction; g++ 12 warns about the unmasked one.
    _mm512_storeu_si512(to, _mm512_maskz_permutexvar_epi8(~__mmask64{0}, index, pattern));
}
#include "format/codec/snappy_decode_body.inc"
#undef LOOM_SNAPPY_TARGET
}  // namespace avx512
#endif

namespace {

struct KernelList {
    std::array<SnappyKernel, 3> kernels;
    size_t count = 0;
    void add(SnappyKernel kernel) { kernels[count++] = kernel; }
};

KernelList detect_kernels() noexcept {
    KernelList list;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                          __builtin_cpu_supports("bmi2");
    if (has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi"))
        list.add({"avx512vbmi", avx512::decode});
    if (has_avx2) list.add({"avx2", avx2::decode});
#endif
    list.add({"portable", portable::decode});
    return list;
}

const KernelList& kernel_list() noexcept {
    static const KernelList list = detect_kernels();
    return list;
}

}  // namespace

std::span<const SnappyKernel> snappy_kernels() noexcept {
    const KernelList& list = kernel_list();
    return {list.kernels.data(), list.count};
}

bool decode_snappy(base::ByteSpan in, std::span<uint8_t> out) noexcept {
    return kernel_list().kernels[0].decode(in, out);
}

}  // namespace loom::codec
