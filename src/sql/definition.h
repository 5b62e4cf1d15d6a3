#pragma once
// How the definitions of this folder are declared, so that one text serves the host's compiler and
// NVRTC. Nothing here includes a header of the standard library's containers or throws.

#if defined(__CUDACC_RTC__)
#define LOOM_SQL __device__ __forceinline__
/// A function of the mathematical library.
#define LOOM_MATH(name) name
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;  // as on the host, so that both name instances of templates alike
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
#else
#include <cstdint>
/// Inlined into kernels of any instruction set, so that the loop around it decides how it is
/// compiled.
#define LOOM_SQL __attribute__((always_inline)) inline
#define LOOM_MATH(name) __builtin_##name
#endif

namespace loom::sql {

using Int128 = __int128;
using UInt128 = unsigned __int128;

/// Text or bytea; laid out as column::BytesView.
struct Bytes {
    const uint8_t* data = nullptr;
    int64_t size = 0;
};

/// Laid out as plan::Interval.
struct Interval {
    int64_t microseconds = 0;
    int32_t days = 0;
    int32_t months = 0;
};

/// Laid out as plan::Uuid.
struct Uuid {
    uint8_t bytes[16] = {};
};

/// Returns how many bits a number takes that is not 0.
LOOM_SQL constexpr int bit_width(uint64_t value) {
#if defined(__CUDACC_RTC__)
    return 64 - __clzll(static_cast<long long>(value));
#else
    return 64 - __builtin_clzll(value);
#endif
}

/// Compute modulo the type's range and tell whether that differs from the true result.
#if defined(__CUDACC_RTC__)
template <typename T>
struct UnsignedOf;
template <>
struct UnsignedOf<int32_t> {
    using type = uint32_t;
};
template <>
struct UnsignedOf<int64_t> {
    using type = uint64_t;
};
template <>
struct UnsignedOf<Int128> {
    using type = UInt128;
};
template <typename T>
LOOM_SQL constexpr bool add_overflows(T a, T b, T* out) {
    using U = typename UnsignedOf<T>::type;
    *out = static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    return ((a ^ *out) & (b ^ *out)) < 0;
}
template <typename T>
LOOM_SQL constexpr bool subtract_overflows(T a, T b, T* out) {
    using U = typename UnsignedOf<T>::type;
    *out = static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
    return ((a ^ b) & (a ^ *out)) < 0;
}
LOOM_SQL constexpr bool multiply_overflows(int64_t a, int64_t b, int64_t* out) {
    const Int128 product = Int128{a} * b;
    *out = static_cast<int64_t>(product);
    return *out != product;
}
LOOM_SQL constexpr bool multiply_overflows(Int128 a, Int128 b, Int128* out) {
    *out = static_cast<Int128>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
    if (a == 0 || a == -1) return a == -1 && b == static_cast<Int128>(UInt128{1} << 127);
    return *out / a != b;
}
#else
template <typename T>
LOOM_SQL constexpr bool add_overflows(T a, T b, T* out) {
    return __builtin_add_overflow(a, b, out);
}
template <typename T>
LOOM_SQL constexpr bool subtract_overflows(T a, T b, T* out) {
    return __builtin_sub_overflow(a, b, out);
}
template <typename T>
LOOM_SQL constexpr bool multiply_overflows(T a, T b, T* out) {
    return __builtin_mul_overflow(a, b, out);
}
#endif

}  // namespace loom::sql
