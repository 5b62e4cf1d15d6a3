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
        return low | static_cast<uint64_t>(high) << 8 * (size - 4);
    }
    if (size == 0) return 0;
    return data[0] | static_cast<uint64_t>(data[size / 2]) << 8 * (size / 2) |
           static_cast<uint64_t>(data[size - 1]) << 8 * (size - 1);
}

inline constexpr int64_t kMaxInlineBytes = 15;

/// Up to kMaxInlineBytes bytes and their number, in the last byte; zeros between.
struct InlineBytes {
    uint64_t low = 0;
    uint64_t high = 0;
};

inline InlineBytes inline_bytes(const uint8_t* data, int64_t size) noexcept {
    InlineBytes out;
    if (size >= 8) {
        std::memcpy(&out.low, data, 8);
        std::memcpy(&out.high, data + size - 8, 8);
        // In two steps, since all of eight bytes are shifted out.
        out.high = out.high >> 8 >> 8 * (15 - size);
    } else {
        out.low = short_word(data, size);
    }
    out.high |= static_cast<uint64_t>(size) << 56;  // NOLINT(clang-analyzer-core*): 0 shifts well
    return out;
}

/// Multiplies to 128 bits and folds them.
inline uint64_t fold(uint64_t a, uint64_t b) noexcept {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

/// Returns hash_bytes() of what was made to `bytes`.
inline uint64_t hash_inline(const InlineBytes& bytes) noexcept {
    return mix(fold(bytes.low ^ 0x9e3779b97f4a7c15, bytes.high ^ 0xc2b2ae3d27d4eb4f));
}

/// Hashes bytes, sixteen at a time; the last sixteen overlap those before.
inline uint64_t hash_bytes(const uint8_t* data, int64_t size) noexcept {
    if (size <= kMaxInlineBytes) return hash_inline(inline_bytes(data, size));
    const auto load = [](const uint8_t* from) {
        uint64_t word;
        std::memcpy(&word, from, sizeof word);
        return word;
    };
    uint64_t hash = static_cast<uint64_t>(size) * 0x9e3779b97f4a7c15;
    const uint8_t* const last = data + size - 16;
    for (; data < last; data += 16)
        hash = fold(load(data) ^ 0xff51afd7ed558ccd, load(data + 8) ^ hash);
    return mix(fold(load(last) ^ 0x9e3779b97f4a7c15, load(last + 8) ^ hash));
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
