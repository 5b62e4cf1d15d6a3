#pragma once
// Which bytes PostgreSQL takes as text in a UTF-8 database.

#include <cstdint>
#include <span>

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

/// Tells whether `value` is valid UTF-8 without zero bytes.
bool is_server_text(const column::BytesView& value) noexcept;

/// Tells whether is_server_text() holds for all of `count` texts that are not NULL. Reads no byte
/// beyond a text.
bool are_server_texts(const column::BytesView* texts, const uint8_t* validity,
                      int64_t count) noexcept;

/// Tells whether all texts that are not NULL consist of ASCII characters other than zero; one
/// implementation for one instruction set.
struct AsciiKernel {
    const char* name;
    bool (*are_ascii)(const column::BytesView* texts, const uint8_t* validity,
                      int64_t count) noexcept;
};

/// Returns the implementations that this processor can run, best first; for tests.
std::span<const AsciiKernel> ascii_kernels() noexcept;

}  // namespace loom::exec
