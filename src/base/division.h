#pragma once
// Division that rounds to one side for all signs, where C++ truncates. Units of time before 1970
// need it. `T` is a signed integer, __int128 too; the divisor is positive, so that nothing
// overflows.

#include <type_traits>

namespace loom::base {

/// Returns the largest integer that is not above dividend / divisor.
template <typename T>
constexpr T floor_divide(T dividend, std::type_identity_t<T> divisor) noexcept {
    return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

/// Returns the smallest integer that is not below dividend / divisor.
template <typename T>
constexpr T ceil_divide(T dividend, std::type_identity_t<T> divisor) noexcept {
    return dividend / divisor + (dividend % divisor > 0 ? 1 : 0);
}

/// Returns what floor_divide() leaves: 0 to divisor - 1.
template <typename T>
constexpr T floor_modulo(T dividend, std::type_identity_t<T> divisor) noexcept {
    const T rest = dividend % divisor;
    return rest < 0 ? rest + divisor : rest;
}

}  // namespace loom::base
