#pragma once
// float4, float8: IEEE arithmetic with PostgreSQL's checks (float8_pl, float8_div, ...): a result
// that overflows or underflows, or a division by zero, is an error; infinite and NaN arguments are
// not.

#include "sql/fault.h"
#include "sql/integer.h"

namespace loom::sql {

template <typename T>
LOOM_SQL constexpr bool is_infinite(T a) {
    return LOOM_MATH(isinf)(a) != 0;
}
template <typename T>
LOOM_SQL constexpr bool is_nan(T a) {
    return a != a;
}

/// float4pl, float8pl, float48pl, ...
template <typename A, typename B>
LOOM_SQL auto float_add(A x, B y, Fault& fault) {
    const decltype(x + y) a = x;
    const decltype(x + y) b = y;
    const auto sum = a + b;
    fault.raise(kFloatOverflow, is_infinite(sum) & !is_infinite(a) & !is_infinite(b));
    return sum;
}
template <typename A, typename B>
LOOM_SQL auto float_subtract(A x, B y, Fault& fault) {
    const decltype(x + y) a = x;
    const decltype(x + y) b = y;
    const auto difference = a - b;
    fault.raise(kFloatOverflow, is_infinite(difference) & !is_infinite(a) & !is_infinite(b));
    return difference;
}
template <typename A, typename B>
LOOM_SQL auto float_multiply(A x, B y, Fault& fault) {
    const decltype(x + y) a = x;
    const decltype(x + y) b = y;
    const auto product = a * b;
    fault.raise(kFloatOverflow, is_infinite(product) & !is_infinite(a) & !is_infinite(b));
    fault.raise(kFloatUnderflow, (product == 0) & (a != 0) & (b != 0));
    return product;
}
template <typename A, typename B>
LOOM_SQL auto float_divide(A x, B y, Fault& fault) {
    const decltype(x + y) a = x;
    const decltype(x + y) b = y;
    const bool zero = (b == 0) & !is_nan(a);
    fault.raise(kDivisionByZero, zero);
    const auto quotient = a / b;
    fault.raise(kFloatOverflow, is_infinite(quotient) & !is_infinite(a) & !zero);
    fault.raise(kFloatUnderflow, (quotient == 0) & (a != 0) & !is_infinite(b));
    return quotient;
}

template <typename T>
LOOM_SQL T float_negate(T a) {
    return -a;
}
/// float4abs, float8abs.
LOOM_SQL float float_abs(float a) {
    return LOOM_MATH(fabsf)(a);
}
LOOM_SQL double float_abs(double a) {
    return LOOM_MATH(fabs)(a);
}

/// i2tod, i4tod, i8tod, i4tof, ...; ftod.
template <typename To, typename From>
LOOM_SQL To to_float(From a) {
    return static_cast<To>(a);
}
/// dtof.
LOOM_SQL float float8_to_float4(double a, Fault& fault) {
    const auto narrow = static_cast<float>(a);
    fault.raise(kFloatOverflow, is_infinite(narrow) & !is_infinite(a));
    fault.raise(kFloatUnderflow, (narrow == 0) & (a != 0));
    return narrow;
}
/// dtoi2, dtoi4, dtoi8, ftoi2, ...: to the nearest, halves to even.
template <typename To, typename From>
LOOM_SQL To float_to_integer(From a, Fault& fault) {
    const From rounded = static_cast<From>(LOOM_MATH(rint)(static_cast<double>(a)));
    const From low = static_cast<From>(Integer<To>::kMin);
    const bool fits = (rounded >= low) & (rounded < -low);
    fault.raise(Integer<To>::kRange, !fits);
    return fits ? static_cast<To>(rounded) : To{0};
}

/// dround, dceil, dfloor, dtrunc, dsign.
LOOM_SQL double float_round(double a) {
    return LOOM_MATH(rint)(a);
}
LOOM_SQL double float_ceil(double a) {
    return LOOM_MATH(ceil)(a);
}
LOOM_SQL double float_floor(double a) {
    return LOOM_MATH(floor)(a);
}
LOOM_SQL double float_truncate(double a) {
    return LOOM_MATH(trunc)(a);
}
LOOM_SQL double float_sign(double a) {
    return (a > 0 ? 1.0 : 0.0) - (a < 0 ? 1.0 : 0.0);
}

/// dsqrt, dcbrt, dexp, dlog1, dlog10, dpow: the C library's results.
LOOM_SQL double float_sqrt(double a, Fault& fault) {
    fault.raise(kSquareRoot, a < 0);
    return LOOM_MATH(sqrt)(a);
}
LOOM_SQL double float_cbrt(double a) {
    return LOOM_MATH(cbrt)(a);
}
LOOM_SQL double float_exp(double a, Fault& fault) {
    if (is_nan(a)) return a;
    if (is_infinite(a)) return a > 0 ? a : 0;
    const double power = LOOM_MATH(exp)(a);
    fault.raise(kFloatOverflow, is_infinite(power));
    fault.raise(kFloatUnderflow, power == 0);
    return power;
}
LOOM_SQL double float_ln(double a, Fault& fault) {
    fault.raise(kLogOfZero, a == 0);
    fault.raise(kLogOfNegative, a < 0);
    return LOOM_MATH(log)(a);
}
LOOM_SQL double float_log10(double a, Fault& fault) {
    fault.raise(kLogOfZero, a == 0);
    fault.raise(kLogOfNegative, a < 0);
    return LOOM_MATH(log10)(a);
}
LOOM_SQL double float_power(double a, double b, Fault& fault) {
    if (is_nan(a)) return is_nan(b) || b != 0 ? a : 1;
    if (is_nan(b)) return a != 1 ? b : 1;
    if (a == 0 && b < 0) {
        fault.raise(kZeroToNegative);
        return 0;
    }
    if (a < 0 && LOOM_MATH(floor)(b) != b) {
        fault.raise(kComplexPower);
        return 0;
    }
    // The C library treats infinite arguments as POSIX says, which is what PostgreSQL wants.
    const double power = LOOM_MATH(pow)(a, b);
    if (is_infinite(a) || is_infinite(b)) return power;
    fault.raise(kFloatOverflow, is_infinite(power));
    fault.raise(kFloatUnderflow, power == 0 && a != 0);
    return power;
}

}  // namespace loom::sql
