#pragma once
// Bits in Arrow's order: bit i of a bitmap is bit (i & 7) of byte i / 8.

#include <bit>
#include <cstdint>

#include "base/bytes.h"

namespace loom::base {

inline bool bit_at(const uint8_t* bits, int64_t i) noexcept {
    return (bits[i >> 3] >> (i & 7)) & 1;
}
inline void set_bit(uint8_t* bits, int64_t i) noexcept {
    bits[i >> 3] = static_cast<uint8_t>(bits[i >> 3] | (1U << (i & 7)));
}
inline void clear_bit(uint8_t* bits, int64_t i) noexcept {
    bits[i >> 3] = static_cast<uint8_t>(bits[i >> 3] & ~(1U << (i & 7)));
}
inline void put_bit(uint8_t* bits, int64_t i, bool value) noexcept {
    value ? set_bit(bits, i) : clear_bit(bits, i);
}
/// Returns the bytes that `count` bits take.
inline constexpr int64_t bitmap_bytes(int64_t count) noexcept {
    return (count + 7) / 8;
}

/// Counts the set bits among bits[offset, offset + count).
int64_t count_bits(const uint8_t* bits, int64_t offset, int64_t count) noexcept;

/// Copies bits[from_offset, + count) to to[to_offset, + count); other bits of `to` stay.
void copy_bits(const uint8_t* from, int64_t from_offset, int64_t count, uint8_t* to,
               int64_t to_offset) noexcept;

/// Sets to[offset, + count) to `value`.
void fill_bits(uint8_t* to, int64_t offset, int64_t count, bool value) noexcept;

}  // namespace loom::base
