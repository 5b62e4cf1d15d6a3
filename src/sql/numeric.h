#pragma once
// numeric as an unscaled integer whose scale the type knows. Two representations: 64 bits for up to
// 18 digits, 128 bits for up to 38. Factors are powers of ten that align scales; a definition that
// cannot prove its result to have at most 38 digits raises kNumericDigits.

#include "sql/fault.h"

namespace loom::sql {

/// Returns 10 to the power `exponent`, 0 to 38.
LOOM_SQL constexpr Int128 power_of_ten(int exponent) {
    Int128 power = 1;
    for (int i = 0; i < exponent; ++i) power *= 10;
    return power;
}

/// Whether a value has at most 38 digits.
LOOM_SQL constexpr bool has_38_digits(Int128 value) {
    constexpr Int128 kEnd = power_of_ten(38);
    return value > -kEnd && value < kEnd;
}

/// a * b, modulo 2^128.
LOOM_SQL constexpr Int128 wrapping_multiply(Int128 a, Int128 b) {
    return static_cast<Int128>(static_cast<UInt128>(a) * static_cast<UInt128>(b));
}
LOOM_SQL constexpr Int128 wrapping_add(Int128 a, Int128 b) {
    return static_cast<Int128>(static_cast<UInt128>(a) + static_cast<UInt128>(b));
}
LOOM_SQL constexpr Int128 wrapping_subtract(Int128 a, Int128 b) {
    return static_cast<Int128>(static_cast<UInt128>(a) - static_cast<UInt128>(b));
}
LOOM_SQL constexpr int64_t wrapping_multiply(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
LOOM_SQL constexpr int64_t wrapping_add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
LOOM_SQL constexpr int64_t wrapping_subtract(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

// Where the result is sure to fit, T is int64_t or Int128, and what leaves T on the way wraps.

/// numeric_mul. Unchecked where the digits of the arguments cannot add up to more than 38.
template <typename T>
LOOM_SQL constexpr T numeric_multiply(T a, T b) {
    return wrapping_multiply(a, b);
}
/// numeric_add, numeric_sub of values that two factors align.
template <typename T>
LOOM_SQL constexpr T numeric_add(T a, T b, T first, T second) {
    return wrapping_add(wrapping_multiply(a, first), wrapping_multiply(b, second));
}
template <typename T>
LOOM_SQL constexpr T numeric_subtract(T a, T b, T first, T second) {
    return wrapping_subtract(wrapping_multiply(a, first), wrapping_multiply(b, second));
}
/// numeric_uminus, numeric_uplus, numeric_abs.
template <typename T>
LOOM_SQL constexpr T numeric_negate(T a) {
    return wrapping_subtract(T{0}, a);
}
template <typename T>
LOOM_SQL constexpr T numeric_identity(T a) {
    return a;
}
template <typename T>
LOOM_SQL constexpr T numeric_absolute(T a) {
    return a < 0 ? numeric_negate(a) : a;
}
LOOM_SQL constexpr Int128 numeric_multiply_checked(Int128 a, Int128 b, Fault& fault) {
    // Most values fit 64 bits, and their product needs no test but that of its digits.
    Int128 product = 0;
    if (static_cast<int64_t>(a) == a && static_cast<int64_t>(b) == b)
        product = a * b;
    else if (multiply_overflows(a, b, &product))
        fault.raise(kNumericDigits);
    fault.raise(kNumericDigits, !has_38_digits(product));
    return product;
}

/// Brings a value to a larger scale.
LOOM_SQL constexpr Int128 numeric_scale_up_checked(Int128 a, Int128 factor, Fault& fault) {
    Int128 scaled = 0;
    fault.raise(kNumericDigits, multiply_overflows(a, factor, &scaled));
    return scaled;
}

/// numeric_add, numeric_sub of aligned values of up to 39 digits.
LOOM_SQL constexpr Int128 numeric_add_checked(Int128 a, Int128 b, Fault& fault) {
    Int128 sum = 0;
    fault.raise(kNumericDigits, add_overflows(a, b, &sum) || !has_38_digits(sum));
    return sum;
}
LOOM_SQL constexpr Int128 numeric_subtract_checked(Int128 a, Int128 b, Fault& fault) {
    Int128 difference = 0;
    fault.raise(kNumericDigits,
                subtract_overflows(a, b, &difference) || !has_38_digits(difference));
    return difference;
}
/// The same of values that two factors align.
LOOM_SQL constexpr Int128 numeric_add_aligned(Int128 a, Int128 b, Int128 first, Int128 second,
                                              Fault& fault) {
    return numeric_add_checked(numeric_scale_up_checked(a, first, fault),
                               numeric_scale_up_checked(b, second, fault), fault);
}
LOOM_SQL constexpr Int128 numeric_subtract_aligned(Int128 a, Int128 b, Int128 first, Int128 second,
                                                   Fault& fault) {
    return numeric_subtract_checked(numeric_scale_up_checked(a, first, fault),
                                    numeric_scale_up_checked(b, second, fault), fault);
}

/// numeric_mod of aligned values: the sign of the dividend.
template <typename T>
LOOM_SQL constexpr T numeric_remainder(T a, T b, Fault& fault) {
    if (b == 0) {
        fault.raise(kDivisionByZero);
        return 0;
    }
    return b == -1 ? T{0} : static_cast<T>(a % b);
}
/// The same of values that two factors align.
template <typename T>
LOOM_SQL constexpr T numeric_remainder_aligned(Int128 a, Int128 b, Int128 first, Int128 second,
                                               Fault& fault) {
    return static_cast<T>(numeric_remainder(numeric_scale_up_checked(a, first, fault),
                                            numeric_scale_up_checked(b, second, fault), fault));
}

/// How digits behind the new scale are dropped.
enum class Rounding : uint8_t {
    kHalfAway,     ///< round, casts: halves away from zero
    kTowardsZero,  ///< trunc
    kUp,           ///< ceil
    kDown          ///< floor
};

/// Divides by the factor of the dropped digits.
template <Rounding kRounding, typename T>
LOOM_SQL constexpr T numeric_scale_down(T a, T factor) {
    const T quotient = static_cast<T>(a / factor);
    const T rest = static_cast<T>(a - quotient * factor);
    if constexpr (kRounding == Rounding::kHalfAway) {
        // |rest| >= factor / 2, rounded up, without doubling it.
        const T half = static_cast<T>(factor - factor / 2);
        return static_cast<T>(quotient + (rest >= half ? 1 : 0) - (-rest >= half ? 1 : 0));
    }
    if constexpr (kRounding == Rounding::kUp) return static_cast<T>(quotient + (rest > 0 ? 1 : 0));
    if constexpr (kRounding == Rounding::kDown)
        return static_cast<T>(quotient - (rest < 0 ? 1 : 0));
    return quotient;
}

/// numeric_cmp of values of different scale; a value that leaves 128 bits when it is aligned is
/// beyond every other.
LOOM_SQL constexpr int numeric_compare(Int128 a, Int128 factor_a, Int128 b, Int128 factor_b) {
    Int128 x = 0;
    Int128 y = 0;
    // At most one factor is not 1.
    if (multiply_overflows(a, factor_a, &x)) return a < 0 ? -1 : 1;
    if (multiply_overflows(b, factor_b, &y)) return b < 0 ? 1 : -1;
    return x < y ? -1 : x > y ? 1 : 0;
}

/// round, trunc, ceil, floor, and the cast to numeric(p, s): drops digits by one factor, then
/// brings the value up by another. The result is smaller than `limit`; 0: it has at most 38 digits.
template <typename R, typename A, Rounding kRounding>
LOOM_SQL constexpr R numeric_rescale(A a, Int128 drop, Int128 up, Int128 limit, Fault& fault) {
    Int128 value = a;
    if (drop != 1) {
        // 64-bit division where it does.
        if (sizeof(A) == 8 && static_cast<int64_t>(drop) == drop)
            value = numeric_scale_down<kRounding, int64_t>(static_cast<int64_t>(a),
                                                           static_cast<int64_t>(drop));
        else
            value = numeric_scale_down<kRounding, Int128>(value, drop);
    }
    if (up != 1) value = numeric_scale_up_checked(value, up, fault);
    if (limit != 0)
        fault.raise(kNumericField, value >= limit || value <= -limit);
    else if (sizeof(R) == 16)
        fault.raise(kNumericDigits, !has_38_digits(value));
    return static_cast<R>(value);
}

/// numeric_cmp of values that two factors align, which fit T then or, for Int128, may be beyond.
template <typename T>
LOOM_SQL constexpr int numeric_order(T a, T b, T first, T second) {
    if constexpr (sizeof(T) == 8) {
        const T x = wrapping_multiply(a, first);
        const T y = wrapping_multiply(b, second);
        return (x > y ? 1 : 0) - (x < y ? 1 : 0);
    } else {
        return numeric_compare(a, first, b, second);
    }
}
/// numeric_eq and relatives.
template <typename T>
LOOM_SQL constexpr bool numeric_equal(T a, T b, T first, T second) {
    return numeric_order<T>(a, b, first, second) == 0;
}
template <typename T>
LOOM_SQL constexpr bool numeric_not_equal(T a, T b, T first, T second) {
    return numeric_order<T>(a, b, first, second) != 0;
}
template <typename T>
LOOM_SQL constexpr bool numeric_less(T a, T b, T first, T second) {
    return numeric_order<T>(a, b, first, second) < 0;
}
template <typename T>
LOOM_SQL constexpr bool numeric_less_equal(T a, T b, T first, T second) {
    return numeric_order<T>(a, b, first, second) <= 0;
}
template <typename T>
LOOM_SQL constexpr bool numeric_greater(T a, T b, T first, T second) {
    return numeric_order<T>(a, b, first, second) > 0;
}
template <typename T>
LOOM_SQL constexpr bool numeric_greater_equal(T a, T b, T first, T second) {
    return numeric_order<T>(a, b, first, second) >= 0;
}

/// numeric_int2, numeric_int4, numeric_int8 of a value that is rounded to scale 0.
template <typename T>
LOOM_SQL constexpr T numeric_to_integer(Int128 a, FaultBits range, Fault& fault) {
    fault.raise(range, static_cast<Int128>(static_cast<T>(a)) != a);
    return static_cast<T>(a);
}

/// The same of a value of any scale: the factor of its digits behind the point.
template <typename R, FaultBits kRange, typename A>
LOOM_SQL constexpr R numeric_round_to_integer(A a, Int128 drop, Fault& fault) {
    const Int128 value = sizeof(A) == 8 && static_cast<int64_t>(drop) == drop
                             ? Int128{numeric_scale_down<Rounding::kHalfAway, int64_t>(
                                   static_cast<int64_t>(a), static_cast<int64_t>(drop))}
                             : numeric_scale_down<Rounding::kHalfAway, Int128>(a, drop);
    return numeric_to_integer<R>(value, kRange, fault);
}

/// numeric_float8 where both numbers are exact as float8, so that one division rounds correctly.
LOOM_SQL constexpr bool exact_as_float8(Int128 a, int scale) {
    constexpr Int128 kEnd = Int128{1} << 53;
    return a >= -kEnd && a <= kEnd && scale <= 22;
}
LOOM_SQL constexpr bool exact_as_float4(Int128 a, int scale) {
    constexpr Int128 kEnd = Int128{1} << 24;
    return a >= -kEnd && a <= kEnd && scale <= 10;
}

}  // namespace loom::sql
