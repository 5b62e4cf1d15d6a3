#pragma once
// int2, int4, int8: arithmetic with PostgreSQL's overflow checks. Mixed widths are computed in the
// wider one (int24pl, int48mul, ...).

#include "sql/fault.h"

namespace loom::sql {

template <typename T>
struct Integer;
template <>
struct Integer<int16_t> {
    using Unsigned = uint16_t;
    using Wide = int32_t;
    static constexpr FaultBits kRange = kInt2Range;
    static constexpr int16_t kMin = -32768;
};
template <>
struct Integer<int32_t> {
    using Unsigned = uint32_t;
    using Wide = int64_t;
    static constexpr FaultBits kRange = kInt4Range;
    static constexpr int32_t kMin = -2147483647 - 1;
};
template <>
struct Integer<int64_t> {
    using Unsigned = uint64_t;
    using Wide = Int128;
    static constexpr FaultBits kRange = kInt8Range;
    static constexpr int64_t kMin = -9223372036854775807LL - 1;
};

/// The result type of mixed arithmetic.
template <typename A, typename B>
struct Wider {
    static constexpr bool kFirst = sizeof(A) >= sizeof(B);
    template <bool kChoice, typename X, typename Y>
    struct Pick {
        using type = X;
    };
    template <typename X, typename Y>
    struct Pick<false, X, Y> {
        using type = Y;
    };
    using type = typename Pick<kFirst, A, B>::type;
};
template <typename A, typename B>
using WiderOf = typename Wider<A, B>::type;

/// Raises the fault of a type if `sign` is negative.
template <typename T>
LOOM_SQL constexpr void raise_range(T sign, Fault& fault) {
    if constexpr (sizeof(T) == 8)
        fault.raise_int8_range(sign);
    else
        fault.raise(Integer<T>::kRange, sign < 0);
}

/// int4pl, int24pl, int48pl, ... The sign test keeps the loop in lanes of the type.
template <typename A, typename B>
LOOM_SQL constexpr WiderOf<A, B> integer_add(A a, B b, Fault& fault) {
    using T = WiderOf<A, B>;
    using U = typename Integer<T>::Unsigned;
    const T x = a;
    const T y = b;
    const T sum = static_cast<T>(static_cast<U>(static_cast<U>(x) + static_cast<U>(y)));
    raise_range<T>(static_cast<T>((x ^ sum) & (y ^ sum)), fault);
    return sum;
}

/// int4mi, ...
template <typename A, typename B>
LOOM_SQL constexpr WiderOf<A, B> integer_subtract(A a, B b, Fault& fault) {
    using T = WiderOf<A, B>;
    using U = typename Integer<T>::Unsigned;
    const T x = a;
    const T y = b;
    const T difference = static_cast<T>(static_cast<U>(static_cast<U>(x) - static_cast<U>(y)));
    raise_range<T>(static_cast<T>((x ^ y) & (x ^ difference)), fault);
    return difference;
}

/// int4mul, ...
template <typename A, typename B>
LOOM_SQL constexpr WiderOf<A, B> integer_multiply(A a, B b, Fault& fault) {
    using T = WiderOf<A, B>;
    if constexpr (sizeof(T) == 8) {
        T product = 0;
        fault.raise(Integer<T>::kRange, __builtin_mul_overflow(T{a}, T{b}, &product));
        return product;
    } else {
        using W = typename Integer<T>::Wide;
        const W product = static_cast<W>(a) * static_cast<W>(b);
        fault.raise(Integer<T>::kRange, static_cast<T>(product) != product);
        return static_cast<T>(product);
    }
}

/// int4div, ...: towards zero; the smallest value divided by -1 is out of range.
template <typename A, typename B>
LOOM_SQL constexpr WiderOf<A, B> integer_divide(A a, B b, Fault& fault) {
    using T = WiderOf<A, B>;
    if (b == 0) {
        fault.raise(kDivisionByZero);
        return 0;
    }
    if (b == -1) {
        fault.raise(Integer<T>::kRange, T{a} == Integer<T>::kMin);
        return static_cast<T>(typename Integer<T>::Unsigned{0} -
                              static_cast<typename Integer<T>::Unsigned>(a));
    }
    return static_cast<T>(T{a} / T{b});
}

/// int2mod, int4mod, int8mod: the sign of the dividend; anything modulo -1 is 0.
template <typename T>
LOOM_SQL constexpr T integer_remainder(T a, T b, Fault& fault) {
    if (b == 0) {
        fault.raise(kDivisionByZero);
        return 0;
    }
    return b == -1 ? T{0} : static_cast<T>(a % b);
}

/// int4um, ...
template <typename T>
LOOM_SQL constexpr T integer_negate(T a, Fault& fault) {
    using U = typename Integer<T>::Unsigned;
    fault.raise(Integer<T>::kRange, a == Integer<T>::kMin);
    return static_cast<T>(static_cast<U>(U{0} - static_cast<U>(a)));
}

/// int4abs, ...
template <typename T>
LOOM_SQL constexpr T integer_abs(T a, Fault& fault) {
    using U = typename Integer<T>::Unsigned;
    fault.raise(Integer<T>::kRange, a == Integer<T>::kMin);
    return a < 0 ? static_cast<T>(static_cast<U>(U{0} - static_cast<U>(a))) : a;
}

/// int4up, ...
template <typename T>
LOOM_SQL constexpr T identity(T a) {
    return a;
}

/// i2toi4, int48: to a wider type.
template <typename To, typename From>
LOOM_SQL constexpr To integer_widen(From a) {
    return static_cast<To>(a);
}

/// i4toi2, int84, int82: to a narrower one.
template <typename To, typename From>
LOOM_SQL constexpr To integer_narrow(From a, Fault& fault) {
    fault.raise(Integer<To>::kRange, static_cast<To>(a) != a);
    return static_cast<To>(a);
}

template <typename T>
LOOM_SQL constexpr T bit_and(T a, T b) {
    return static_cast<T>(a & b);
}
template <typename T>
LOOM_SQL constexpr T bit_or(T a, T b) {
    return static_cast<T>(a | b);
}
template <typename T>
LOOM_SQL constexpr T bit_xor(T a, T b) {
    return static_cast<T>(a ^ b);
}
template <typename T>
LOOM_SQL constexpr T bit_not(T a) {
    return static_cast<T>(~a);
}
/// larger, smaller: int4larger, ...
template <typename T>
LOOM_SQL constexpr T integer_larger(T a, T b) {
    return a > b ? a : b;
}
template <typename T>
LOOM_SQL constexpr T integer_smaller(T a, T b) {
    return a < b ? a : b;
}

/// int4_bool, bool_int4. Booleans come as bytes: those of NULL rows may be neither 0 nor 1.
LOOM_SQL constexpr bool int4_bool(int32_t a) {
    return a != 0;
}
LOOM_SQL constexpr int32_t bool_int4(uint8_t a) {
    return a != 0 ? 1 : 0;
}

}  // namespace loom::sql
