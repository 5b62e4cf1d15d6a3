#pragma once
// Copies of few bytes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace loom::base {

/// Copies `size` bytes, mostly up to 32: then without a call. The blocks must not overlap; without
/// bytes both may be null.
inline void copy_short(uint8_t* to, const uint8_t* from, size_t size) noexcept {
    // From both ends; what lies in the middle is copied twice.
    const auto ends = [&]<size_t width>(std::integral_constant<size_t, width>) {
        uint8_t first[width];
        uint8_t last[width];
        std::memcpy(first, from, width);
        std::memcpy(last, from + size - width, width);
        std::memcpy(to, first, width);
        std::memcpy(to + size - width, last, width);
    };
    if (size > 32)
        std::memcpy(to, from, size);
    else if (size >= 16)
        ends(std::integral_constant<size_t, 16>());
    else if (size >= 8)
        ends(std::integral_constant<size_t, 8>());
    else if (size >= 4)
        ends(std::integral_constant<size_t, 4>());
    else if (size >= 2)
        ends(std::integral_constant<size_t, 2>());
    else if (size == 1)
        *to = *from;
}

}  // namespace loom::base
