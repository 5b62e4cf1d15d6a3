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

/// Hashes bytes, eight at a time.
inline uint64_t hash_bytes(const uint8_t* data, int64_t size) noexcept {
    uint64_t hash = static_cast<uint64_t>(size) * 0x9e3779b97f4a7c15;
    while (size >= 8) {
        uint64_t word;
        std::memcpy(&word, data, 8);
        hash = (hash ^ mix(word)) * 0xff51afd7ed558ccd;
        data += 8;
        size -= 8;
    }
    uint64_t word = 0;
    if (size > 0) std::memcpy(&word, data, static_cast<size_t>(size));
    return mix(hash ^ word);
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
