#pragma once
// Hashes of values as PostgreSQL's equality sees them: -0 is 0, all NaNs are one.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "column/column_view.h"

namespace loom::exec {

/// Mixes 64 bits; a bijection (the finaliser of SplitMix64).
inline uint64_t mix(uint64_t x) noexcept {
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9;
    x ^= x >> 27;
    x *= 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

inline uint64_t combine(uint64_t seed, uint64_t hash) noexcept {
    return mix(seed * 0x9e3779b97f4a7c15 + hash);
}

/// Returns up to eight bytes as a word; `size` is at most 8.
inline uint64_t short_word(const uint8_t* data, int64_t size) noexcept {
    if (size >= 4) {
        uint32_t low;
        uint32_t high;  // overlaps the other
        std::memcpy(&low, data, 4);
        std::memcpy(&high, data + size - 4, 4);
        return low | static_cast<uint64_t>(high) << 32;
    }
    if (size == 0) return 0;
    return data[0] | static_cast<uint64_t>(data[size / 2]) << 8 |
           static_cast<uint64_t>(data[size - 1]) << 16;
}

/// Hashes bytes, eight at a time; the last eight overlap those before.
inline uint64_t hash_bytes(const uint8_t* data, int64_t size) noexcept {
    uint64_t hash = static_cast<uint64_t>(size) * 0x9e3779b97f4a7c15;
    if (size <= 8) return mix(hash ^ mix(short_word(data, size)));
    const auto load = [](const uint8_t* from) {
        uint64_t word;
        std::memcpy(&word, from, sizeof word);
        return word;
    };
    const uint8_t* const last = data + size - 8;
    for (; data < last; data += 8) hash = (hash ^ mix(load(data))) * 0xff51afd7ed558ccd;
    return mix(hash ^ load(last));
}

/// Gives equal floats equal bits.
inline uint64_t float_key(double value) noexcept {
    if (value == 0) value = 0;
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

}  // namespace loom::exec
