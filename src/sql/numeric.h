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

/// numeric_mul. Unchecked where the digits of the arguments cannot add up to more than 38.
LOOM_SQL constexpr Int128 numeric_multiply(Int128 a, Int128 b) {
    return wrapping_multiply(a, b);
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

/// numeric_mod of aligned values: the sign of the dividend.
template <typename T>
LOOM_SQL constexpr T numeric_remainder(T a, T b, Fault& fault) {
    if (b == 0) {
        fault.raise(kDivisionByZero);
        return 0;
    }
    return b == -1 ? T{0} : static_cast<T>(a % b);
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

/// numeric_int2, numeric_int4, numeric_int8 of a value that is rounded to scale 0.
template <typename T>
LOOM_SQL constexpr T numeric_to_integer(Int128 a, FaultBits range, Fault& fault) {
    fault.raise(range, static_cast<Int128>(static_cast<T>(a)) != a);
    return static_cast<T>(a);
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
