#pragma once
// Precision and scale of numeric results. PostgreSQL gives every numeric value a display scale of
// its own. These rules say it where it follows from the types of the arguments, none of which is a
// Decimal; where it does not (nullopt), the result is one. The precision bounds the digits; where
// that bound would pass kMaxPrecision it is kMaxPrecision, and evaluation checks each value
// (Unrepresentable).

#include <algorithm>
#include <optional>

#include "plan/type.h"

namespace loom::plan {

/// Makes a numeric of so many digits before and after the point, capped as above.
constexpr Type make_bounded_numeric(int integer_digits, int scale) {
    return make_numeric(std::clamp(integer_digits + scale, 1, kMaxPrecision), scale);
}

/// Returns the digits before the point that a value of the type can have.
constexpr int integer_digits(Type type) {
    return type.precision - type.scale;
}

/// a + b, a - b (numeric_add, numeric_sub).
constexpr Type numeric_sum_type(Type a, Type b) {
    return make_bounded_numeric(std::max(integer_digits(a), integer_digits(b)) + 1,
                                std::max(a.scale, b.scale));
}

/// a * b (numeric_mul).
constexpr std::optional<Type> numeric_product_type(Type a, Type b) {
    if (a.scale + b.scale > kMaxPrecision) return std::nullopt;
    return make_bounded_numeric(integer_digits(a) + integer_digits(b), a.scale + b.scale);
}

/// a % b (numeric_mod): no larger than either.
constexpr Type numeric_remainder_type(Type a, Type b) {
    return make_bounded_numeric(std::min(integer_digits(a), integer_digits(b)),
                                std::max(a.scale, b.scale));
}

/// round(a, digits) and trunc(a, digits) with a constant of at most kMaxPrecision; also ceil and
/// floor with digits 0. A carry may add a digit before the point.
constexpr Type numeric_round_type(Type a, int digits) {
    return make_bounded_numeric(integer_digits(a) + 1, std::max(digits, 0));
}

/// The casts int2, int4, int8 -> numeric.
constexpr std::optional<Type> numeric_from_integer_type(TypeId id) {
    switch (id) {
        case TypeId::kInt2:
            return make_numeric(5, 0);
        case TypeId::kInt4:
            return make_numeric(10, 0);
        case TypeId::kInt8:
            return make_numeric(19, 0);
        default:
            return std::nullopt;
    }
}

/// numeric(p, s) as a type modifier, i.e. the cast numeric(numeric, int4). Nothing for a negative
/// scale, a scale above the precision, or a precision above kMaxPrecision.
constexpr std::optional<Type> numeric_type_of_modifier(int modifier) {
    if (modifier < 4) return std::nullopt;
    const int precision = ((modifier - 4) >> 16) & 0xffff;
    // The scale is an 11-bit two's complement number.
    const int scale = (((modifier - 4) & 0x7ff) ^ 1024) - 1024;
    if (precision < 1 || precision > kMaxPrecision || scale < 0 || scale > precision)
        return std::nullopt;
    return make_numeric(precision, scale);
}

/// A choice between two values (CASE, COALESCE, GREATEST), which may be Decimals.
constexpr Type numeric_choice_type(Type a, Type b) {
    if (is_decimal(a) || is_decimal(b) || a.scale != b.scale) return make_decimal();
    return make_numeric(std::max(a.precision, b.precision), a.scale);
}

}  // namespace loom::plan
