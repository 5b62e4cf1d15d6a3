#include "simd/highest.h"

#include <cstring>

#include "simd/instruction_set.h"

namespace loom::simd {

namespace {

// Four running maxima, so that one comparison need not wait for the one before. The compiler turns
// the vectors into those of the target.
template <typename T, int kBytes>
[[gnu::always_inline]] inline T highest_in(const T* values, int64_t count) noexcept {
    typedef T Vector __attribute__((vector_size(kBytes)));
    constexpr int64_t kLanes = kBytes / sizeof(T);
    Vector best[4] = {};
    int64_t i = 0;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes)
        for (int j = 0; j < 4; ++j) {
            Vector next;
            std::memcpy(&next, values + i + j * kLanes, sizeof next);
            best[j] = best[j] > next ? best[j] : next;
        }
    T result = 0;
    for (const Vector& part : best)
        for (int lane = 0; lane < kLanes; ++lane)
            result = part[lane] > result ? part[lane] : result;
    for (; i < count; ++i) result = values[i] > result ? values[i] : result;
    return result;
}

template <typename T>
T highest_portable(const T* values, int64_t count) noexcept {
    return highest_in<T, 16>(values, count);
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx2"))) T highest_avx2(const T* values, int64_t count) noexcept {
    return highest_in<T, 32>(values, count);
}
#endif

template <typename T>
T highest_best(const T* values, int64_t count) noexcept {
#if defined(__x86_64__)
    static const bool avx2 = best_instruction_set() != InstructionSet::kScalar;
    if (avx2) return highest_avx2(values, count);
#endif
    return highest_portable(values, count);
}

}  // namespace

uint8_t highest(const uint8_t* values, int64_t count) noexcept {
    return highest_best(values, count);
}
uint16_t highest(const uint16_t* values, int64_t count) noexcept {
    return highest_best(values, count);
}
uint32_t highest(const uint32_t* values, int64_t count) noexcept {
    return highest_best(values, count);
}

}  // namespace loom::simd
