#pragma once
// numeric whose values have scales of their own: the rules of PostgreSQL's numeric.c for the digits
// that a result shows. Every Decimal has at most 38 digits and a scale of 0 to kMaxScale; what
// leaves these bounds raises kNumericDigits.

#include "sql/numeric.h"

namespace loom::sql {

/// Laid out as plan::Decimal.
struct Decimal {
    Int128 unscaled = 0;
    int64_t scale = 0;
};

inline constexpr int kMaxDigits = 38;
/// NUMERIC_MAX_DISPLAY_SCALE.
inline constexpr int kMaxScale = 1000;

struct PowersOfTen {
    Int128 at[kMaxDigits + 1] = {};
    constexpr PowersOfTen() {
        for (int i = 0; i <= kMaxDigits; ++i) at[i] = power_of_ten(i);
    }
};
inline constexpr PowersOfTen kPowersOfTen;

LOOM_SQL constexpr int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}
LOOM_SQL constexpr int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}
LOOM_SQL constexpr UInt128 magnitude_of(Int128 value) {
    return value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
}

/// Returns the decimal digits of a number below 10^39; 0 has none.
LOOM_SQL constexpr int decimal_digits(UInt128 magnitude) {
    int bits = 0;
    const auto high = static_cast<uint64_t>(magnitude >> 64);
    const auto low = static_cast<uint64_t>(magnitude);
    if (high != 0)
        bits = 64 + bit_width(high);
    else if (low != 0)
        bits = bit_width(low);
    if (bits == 0) return 0;
    // 1233 / 4096 is log10(2) closely enough for 128 bits.
    const int digits = bits * 1233 >> 12;
    return digits + (magnitude >= static_cast<UInt128>(kPowersOfTen.at[digits]) ? 1 : 0);
}

/// Returns the unscaled value at a scale that is not smaller.
LOOM_SQL constexpr Int128 decimal_align(Decimal a, int64_t scale, Fault& fault) {
    const int64_t up = scale - a.scale;
    if (up == 0 || a.unscaled == 0) return a.unscaled;
    Int128 aligned = 0;
    fault.raise(
        kNumericDigits,
        up > kMaxDigits ||
            multiply_overflows(a.unscaled, kPowersOfTen.at[smaller(up, kMaxDigits)], &aligned));
    return aligned;
}

LOOM_SQL constexpr Decimal decimal_negate(Decimal a) {
    return {-a.unscaled, a.scale};
}
LOOM_SQL constexpr Decimal decimal_absolute(Decimal a) {
    return {a.unscaled < 0 ? -a.unscaled : a.unscaled, a.scale};
}

/// numeric_add.
LOOM_SQL constexpr Decimal decimal_add(Decimal a, Decimal b, Fault& fault) {
    const int64_t scale = larger(a.scale, b.scale);
    return {
        numeric_add_checked(decimal_align(a, scale, fault), decimal_align(b, scale, fault), fault),
        scale};
}
/// numeric_sub.
LOOM_SQL constexpr Decimal decimal_subtract(Decimal a, Decimal b, Fault& fault) {
    return decimal_add(a, decimal_negate(b), fault);
}

/// numeric_mul.
LOOM_SQL constexpr Decimal decimal_multiply(Decimal a, Decimal b, Fault& fault) {
    fault.raise(kNumericDigits, a.scale + b.scale > kMaxScale);
    return {numeric_multiply_checked(a.unscaled, b.unscaled, fault), a.scale + b.scale};
}

/// numeric_mod: the sign of the dividend.
LOOM_SQL constexpr Decimal decimal_remainder(Decimal a, Decimal b, Fault& fault) {
    const int64_t scale = larger(a.scale, b.scale);
    if (b.unscaled == 0) {
        fault.raise(kDivisionByZero);
        return {};
    }
    const Int128 divisor = decimal_align(b, scale, fault);
    if (divisor == 0) return {};  // it did not fit
    return {numeric_remainder(decimal_align(a, scale, fault), divisor, fault), scale};
}

/// numeric_div_trunc: a number of scale 0.
LOOM_SQL constexpr Decimal decimal_divide_truncating(Decimal a, Decimal b, Fault& fault) {
    if (b.unscaled == 0) {
        fault.raise(kDivisionByZero);
        return {};
    }
    const int64_t scale = larger(a.scale, b.scale);
    const Int128 divisor = decimal_align(b, scale, fault);
    if (divisor == 0) return {};  // it did not fit
    return {decimal_align(a, scale, fault) / divisor, 0};
}

/// cmp_numerics. A value that leaves 128 bits when it is aligned is beyond the other.
LOOM_SQL constexpr int decimal_compare(Decimal a, Decimal b) {
    Int128 x = a.unscaled;
    Int128 y = b.unscaled;
    if (a.scale != b.scale) {
        const int64_t up = a.scale < b.scale ? b.scale - a.scale : a.scale - b.scale;
        Int128& low = a.scale < b.scale ? x : y;
        if (low != 0 && (up > kMaxDigits || multiply_overflows(low, kPowersOfTen.at[up], &low))) {
            if (a.scale < b.scale) return a.unscaled < 0 ? -1 : 1;
            return b.unscaled < 0 ? 1 : -1;
        }
    }
    return (x > y ? 1 : 0) - (x < y ? 1 : 0);
}

/// round, trunc, ceil, floor: the unscaled value with max(digits, 0) digits behind the point.
template <Rounding kRounding>
LOOM_SQL constexpr Int128 decimal_round(Decimal a, int64_t digits, Fault& fault) {
    if (digits >= a.scale) return decimal_align(a, digits, fault);
    const int64_t drop = a.scale - digits;
    Int128 value = 0;
    if (drop <= kMaxDigits)
        value = numeric_scale_down<kRounding>(a.unscaled, kPowersOfTen.at[drop]);
    else if (kRounding == Rounding::kUp)  // less than a tenth of the last digit
        value = a.unscaled > 0 ? 1 : 0;
    else if (kRounding == Rounding::kDown)
        value = a.unscaled < 0 ? -1 : 0;
    return digits < 0 ? decimal_align({value, digits}, 0, fault) : value;
}

// --- division -----------------------------------------------------------------------------------

/// The leading digit of a number in base 10,000, and the power of 10,000 that it counts.
struct LeadingDigit {
    int64_t weight = 0;
    int64_t digit = 0;
};

LOOM_SQL constexpr LeadingDigit leading_digit(UInt128 magnitude, int64_t scale) {
    constexpr int64_t kWidth = 4;
    if (magnitude == 0) return {};
    const int64_t exponent = decimal_digits(magnitude) - 1 - scale;  // of the leading decimal digit
    const int64_t weight = exponent >= 0 ? exponent / kWidth : -((-exponent + kWidth - 1) / kWidth);
    const int64_t below = scale + weight * kWidth;  // decimal digits below the leading digit
    if (below <= 0) return {weight, static_cast<int64_t>(magnitude * kPowersOfTen.at[-below])};
    const auto divisor = static_cast<UInt128>(kPowersOfTen.at[below]);
    return {weight, static_cast<int64_t>(magnitude / divisor)};
}

/// select_div_scale: the digits behind the point that a quotient shows. At least 16 significant
/// digits (NUMERIC_MIN_SIG_DIGITS), and no fewer behind the point than either operand has.
LOOM_SQL constexpr int64_t quotient_scale(Decimal a, Decimal b) {
    const LeadingDigit above = leading_digit(magnitude_of(a.unscaled), a.scale);
    const LeadingDigit below = leading_digit(magnitude_of(b.unscaled), b.scale);
    const int64_t weight = above.weight - below.weight - (above.digit <= below.digit ? 1 : 0);
    return smaller(larger(larger(16 - weight * 4, a.scale), larger(b.scale, 0)), kMaxScale);
}

/// numeric_div: rounded half away from zero.
LOOM_SQL constexpr Decimal decimal_divide(Decimal a, Decimal b, Fault& fault) {
    if (b.unscaled == 0) {
        fault.raise(kDivisionByZero);
        return {};
    }
    const int64_t scale = quotient_scale(a, b);
    const UInt128 divisor = magnitude_of(b.unscaled);
    const UInt128 dividend = magnitude_of(a.unscaled);
    UInt128 quotient = dividend / divisor;
    UInt128 rest = dividend - quotient * divisor;
    // As many further digits at a time as the rest has room for.
    const int64_t room = kMaxDigits - decimal_digits(divisor);
    for (int64_t left = scale + b.scale - a.scale; left > 0;) {
        const int64_t step = smaller(left, room);
        if (step == 0 || decimal_digits(quotient) + step > kMaxDigits) {
            if (quotient == 0 && rest == 0) break;
            fault.raise(kNumericDigits);
            return {};
        }
        const auto factor = static_cast<UInt128>(kPowersOfTen.at[step]);
        rest *= factor;
        const UInt128 digits = rest / divisor;
        quotient = quotient * factor + digits;
        rest -= digits * divisor;
        left -= step;
    }
    if (rest * 2 >= divisor) ++quotient;
    fault.raise(kNumericDigits, !has_38_digits(static_cast<Int128>(quotient)));
    const bool negative = (a.unscaled < 0) != (b.unscaled < 0);
    return {negative ? -static_cast<Int128>(quotient) : static_cast<Int128>(quotient), scale};
}

/// sqrt_var of a number that is not negative: rounded to its own scale. Digit by digit.
LOOM_SQL constexpr Decimal decimal_square_root(Decimal a, Fault& fault) {
    // The root has one digit for each pair of digits around the point; one more for rounding.
    const UInt128 magnitude = magnitude_of(a.unscaled);
    const int64_t have = decimal_digits(magnitude);
    // A root of r digits leaves a rest of r + 1, which two more digits must fit behind.
    if (larger(0, (have - a.scale + 1) / 2) + a.scale + 1 > kMaxDigits - 4) {
        fault.raise(kNumericDigits);
        return {};
    }
    int64_t place = have - a.scale;  // of the leading digit: 10^(place - 1)
    place += place & 1;              // pairs end at the point
    UInt128 root = 0;
    UInt128 rest = 0;
    for (int64_t at = place; at > -2 * (a.scale + 1); at -= 2) {
        int64_t pair = 0;
        for (int64_t digit = at; digit > at - 2; --digit) {
            const int64_t exponent = digit - 1 + a.scale;  // in the unscaled number
            const bool there = exponent >= 0 && exponent < have;
            pair = pair * 10 +
                   (there ? static_cast<int64_t>(
                                magnitude / static_cast<UInt128>(kPowersOfTen.at[exponent]) % 10)
                          : 0);
        }
        rest = rest * 100 + static_cast<UInt128>(pair);
        UInt128 next = root * 20 + 1;  // (20 root + d) d in steps of d
        int64_t digit = 0;
        while (rest >= next) {
            rest -= next;
            next += 2;
            ++digit;
        }
        root = root * 10 + static_cast<UInt128>(digit);
    }
    return {static_cast<Int128>(root / 10 + (root % 10 >= 5 ? 1 : 0)), a.scale};
}

}  // namespace loom::sql
