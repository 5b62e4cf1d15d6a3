#pragma once
// Short texts in half a cache line, compared without a look at where they lie.

#include <cstdint>
#include <cstring>

#include "column/column_view.h"
#include "exec/hash.h"

namespace loom::exec {

/// A text of up to kMaxTextKeyBytes bytes and its length. Zeros are none.
struct TextKey {
    uint64_t words[4] = {};
};

inline constexpr int64_t kMaxTextKeyBytes = 2 * kMaxInlineBytes + 1;

/// Returns the key of a text of up to kMaxTextKeyBytes bytes. Those of more than 15 bytes are their
/// first 16 and their last 16, whose first byte is one of those before: the length takes its place.
inline TextKey text_key(const column::BytesView& text) noexcept {
    // Shorter texts have a 1 where longer ones have their length.
    constexpr uint64_t kInline = 1;
    if (text.size <= kMaxInlineBytes) {
        const InlineBytes bytes = inline_bytes(text.data, text.size);
        return {{bytes.low, bytes.high, kInline, 0}};
    }
    const auto load = [](const uint8_t* from) {
        uint64_t word;
        std::memcpy(&word, from, sizeof word);
        return word;
    };
    const uint8_t* end = text.data + text.size;
    const uint64_t third = (load(end - 16) & ~uint64_t{0xff}) | static_cast<uint64_t>(text.size);
    return {{load(text.data), load(text.data + 8), third, load(end - 8)}};
}

inline bool equal_keys(const TextKey& a, const TextKey& b) noexcept {
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]) | (a.words[2] ^ b.words[2]) |
            (a.words[3] ^ b.words[3])) == 0;
}

}  // namespace loom::exec
