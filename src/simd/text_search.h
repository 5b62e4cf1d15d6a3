#pragma once
// Searches through the bytes of many texts at once.

#include <cstdint>

namespace loom::simd {

/// Three sets of bytes, one for each of three places that follow each other, in up to eight
/// combinations: a combination is a bit of all three tables.
struct ByteTriples {
    uint8_t sets[3][256] = {};  ///< the combinations that a byte belongs to, by place
    uint8_t low[3][16] = {};    ///< those of all bytes with that low half
    uint8_t high[3][16] = {};

    void add(int combination, int place, uint8_t byte) noexcept {
        const auto bit = static_cast<uint8_t>(1 << combination);
        sets[place][byte] |= bit;
        low[place][byte & 15] |= bit;
        high[place][byte >> 4] |= bit;
    }
};

/// Returns the first place in [from, end - 3] whose three bytes are of one combination, or null.
/// May also return earlier places where only the halves of the bytes fit. Reads nothing else.
const uint8_t* find_triple(const ByteTriples& triples, const uint8_t* from,
                           const uint8_t* end) noexcept;

/// Returns where `piece`, of at least one byte, first starts in [from, end), or null.
const uint8_t* find_piece(const uint8_t* from, const uint8_t* end, const uint8_t* piece,
                          int64_t size) noexcept;

}  // namespace loom::simd
