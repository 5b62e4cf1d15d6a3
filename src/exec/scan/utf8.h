#pragma once
// Which bytes PostgreSQL takes as text in a UTF-8 database.

#include <cstring>

#include "column/column_view.h"

namespace loom::exec {

/// Returns the length of the valid UTF-8 sequence at `p`, or 0. Overlong forms, surrogates and code
/// points above U+10FFFF are invalid, as in PostgreSQL's pg_utf8_islegal; so is a zero byte.
inline int utf8_sequence(const uint8_t* p, int64_t left) noexcept {
    const uint8_t first = p[0];
    if (first < 0x80) return first != 0 ? 1 : 0;
    const auto continues = [&](int i) { return (p[i] & 0xC0) == 0x80; };
    if (first < 0xC2) return 0;
    if (first < 0xE0) return left >= 2 && continues(1) ? 2 : 0;
    if (first < 0xF0) {
        if (left < 3 || !continues(1) || !continues(2)) return 0;
        if (first == 0xE0 && p[1] < 0xA0) return 0;
        if (first == 0xED && p[1] > 0x9F) return 0;
        return 3;
    }
    if (first > 0xF4 || left < 4 || !continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && p[1] < 0x90) return 0;
    if (first == 0xF4 && p[1] > 0x8F) return 0;
    return 4;
}

/// Tells whether all of `size` bytes, at least one, are ASCII and none is zero.
inline bool is_plain_ascii(const uint8_t* p, int64_t size) noexcept {
    constexpr uint64_t kHigh = 0x8080808080808080;
    constexpr uint64_t kOnes = 0x0101010101010101;
    const auto suspect = [](uint64_t word) { return word | (word - kOnes); };
    const auto load = [](const uint8_t* at) {
        uint64_t word;
        std::memcpy(&word, at, sizeof word);
        return word;
    };
    if (size < 8) {
        uint64_t word = kOnes;
        std::memcpy(&word, p, static_cast<size_t>(size));
        return (suspect(word) & kHigh) == 0;
    }
    // The last step overlaps the one before it.
    uint64_t all = suspect(load(p + size - 8));
    for (int64_t i = 0; i + 8 < size; i += 8) all |= suspect(load(p + i));
    return (all & kHigh) == 0;
}

/// Tells whether `value` is valid UTF-8 without zero bytes.
inline bool is_server_text(const column::BytesView& value) noexcept {
    if (value.size == 0 || is_plain_ascii(value.data, value.size)) return true;
    const uint8_t* p = value.data;
    const uint8_t* const end = p + value.size;
    while (p < end) {
        const int length = utf8_sequence(p, end - p);
        if (length == 0) return false;
        p += length;
    }
    return true;
}

}  // namespace loom::exec
