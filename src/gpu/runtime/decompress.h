#pragma once
// Decompression of blocks of known size, a warp each. Whatever the bytes say, nothing is read but
// the block's bytes and up to kWordSlack bytes around them, and nothing written outside its room.

#include "gpu/runtime/machine.h"

namespace loom::gpu {

/// Bytes in front of and behind what is read that must be there, whatever they hold: loads are of
/// aligned words.
inline constexpr uint32_t kWordSlack = 16;

// Loads through the first cache of bytes that lie anywhere, of memory that no kernel writes
// meanwhile.
LOOM_DEVICE uint32_t load8(const uint8_t* at) {
    return look_up8_if(at, 1, 0);
}
LOOM_DEVICE const uint8_t* word_below(const uint8_t* at) {
    return at - (reinterpret_cast<uint64_t>(at) & 3);
}
LOOM_DEVICE uint32_t load32(const uint8_t* at) {
    const uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uint64_t>(at) & 3) * 8;
    const uint8_t* const words = word_below(at);
    return funnel_right(look_up32_if(words, 1, 0), look_up32_if(words + 4, 1, 0), shift);
}
LOOM_DEVICE uint64_t load64(const uint8_t* at) {
    const uint32_t shift = static_cast<uint32_t>(reinterpret_cast<uint64_t>(at) & 3) * 8;
    const uint8_t* const words = word_below(at);
    const uint32_t a = look_up32_if(words, 1, 0);
    const uint32_t b = look_up32_if(words + 4, 1, 0);
    const uint32_t c = look_up32_if(words + 8, 1, 0);
    return uint64_t{funnel_right(b, c, shift)} << 32 | funnel_right(a, b, shift);
}

/// Copies bytes that do not overlap, by all lanes.
LOOM_DEVICE void warp_copy(uint8_t* to, const uint8_t* from, uint32_t bytes, uint32_t lane) {
    constexpr uint32_t kShort = 4 * kWarp;
    uint32_t done = 0;
    if (bytes >= kShort) {
        const uint32_t front = static_cast<uint32_t>(0 - reinterpret_cast<uint64_t>(to)) & 3;
        if (lane < front) to[lane] = static_cast<uint8_t>(load8(from + lane));
        const uint32_t words = (bytes - front) / 4;
        LOOM_NO_UNROLL for (uint32_t i = lane; i < words; i += kWarp) *
            reinterpret_cast<uint32_t*>(to + front + uint64_t{i} * 4) =
            load32(from + front + uint64_t{i} * 4);
        done = front + words * 4;
    }
    LOOM_NO_UNROLL for (uint32_t i = done + lane; i < bytes; i += kWarp) to[i] =
        static_cast<uint8_t>(load8(from + i));
}

/// Copies what lies `offset` bytes before `to` until it is `bytes`, which may be more than the
/// offset: then it repeats. All lanes must have written what is copied.
LOOM_DEVICE void warp_repeat(uint8_t* to, uint32_t offset, uint32_t bytes, uint32_t lane) {
    const uint8_t* const from = to - offset;
    if (bytes <= offset) {
        LOOM_NO_UNROLL for (uint32_t i = lane; i < bytes; i += kWarp) to[i] = from[i];
    } else {
        LOOM_NO_UNROLL for (uint32_t i = lane; i < bytes; i += kWarp) to[i] = from[i % offset];
    }
}

/// A block, and how far one has come. Offsets are below 2^31.
struct PackedBytes {
    const uint8_t* from;
    uint32_t from_bytes;
    uint8_t* to;
    uint32_t to_bytes;
};

/// Snappy (format_description.txt). Returns, to all lanes, whether the bytes are a block of exactly
/// that length.
LOOM_DEVICE bool snappy_decompress(const PackedBytes& block, uint32_t lane) {
    uint32_t at = 0;
    uint64_t total = 0;
    for (uint32_t shift = 0;; shift += 7) {
        if (at == block.from_bytes || shift > 28) return false;
        const uint32_t byte = load8(block.from + at++);
        total |= uint64_t{byte & 127} << shift;
        if (byte < 128) break;
    }
    if (total != block.to_bytes) return false;
    uint32_t done = 0;
    while (at < block.from_bytes) {
        // The tag and what belongs to it: five bytes at most.
        const uint64_t word = load64(block.from + at);
        const uint32_t tag = static_cast<uint32_t>(word) & 255;
        const uint32_t kind = tag & 3;
        const uint32_t tail = static_cast<uint32_t>(word >> 8);
        uint32_t length = (tag >> 2) + 1;
        uint32_t head = 1;
        if (kind == 0) {
            if (length > 60) {
                const uint32_t more = length - 60;
                length = tail & (0xffffffffU >> (32 - 8 * more));
                if (length == 0xffffffffU) return false;
                ++length;
                head += more;
            }
            if (head > block.from_bytes - at) return false;
            at += head;
            if (length > block.from_bytes - at || length > block.to_bytes - done) return false;
            warp_copy(block.to + done, block.from + at, length, lane);
            at += length;
            done += length;
            continue;
        }
        uint32_t offset = tail;
        if (kind == 1) {
            head = 2;
            length = (tag >> 2 & 7) + 4;
            offset = (tail & 255) | tag >> 5 << 8;
        } else if (kind == 2) {
            head = 3;
            offset = tail & 0xffff;
        } else {
            head = 5;
        }
        if (head > block.from_bytes - at || offset == 0 || offset > done ||
            length > block.to_bytes - done)
            return false;
        warp_sync();
        warp_repeat(block.to + done, offset, length, lane);
        at += head;
        done += length;
    }
    return done == block.to_bytes;
}

/// Adds the bytes behind a length of 15; false if the block ends or they are too many.
LOOM_DEVICE bool lz4_length(const PackedBytes& block, uint32_t& at, uint32_t& length) {
    for (;;) {
        if (at == block.from_bytes || length > block.to_bytes) return false;
        const uint32_t byte = load8(block.from + at++);
        length += byte;
        if (byte != 255) return true;
    }
}

/// A block of LZ4 (lz4_Block_format.md), as above. The rules for its end are insisted on: the last
/// five bytes are literals, the last match begins twelve bytes before the end at least.
LOOM_DEVICE bool lz4_decompress(const PackedBytes& block, uint32_t lane) {
    constexpr uint32_t kLastLiterals = 5;
    constexpr uint32_t kLastMatch = 12;
    constexpr uint32_t kShortestMatch = 4;
    uint32_t at = 0;
    uint32_t done = 0;
    for (;;) {
        if (at == block.from_bytes) return false;
        const uint32_t token = load8(block.from + at++);
        uint32_t length = token >> 4;
        if (length == 15 && !lz4_length(block, at, length)) return false;
        if (length > block.from_bytes - at || length > block.to_bytes - done) return false;
        warp_copy(block.to + done, block.from + at, length, lane);
        at += length;
        done += length;
        if (at == block.from_bytes) return done == block.to_bytes;
        // An offset and then a token with the last literals.
        if (block.from_bytes - at < 2 + 1 + kLastLiterals || block.to_bytes - done < kLastMatch)
            return false;
        const uint32_t offset = load8(block.from + at) | load8(block.from + at + 1) << 8;
        at += 2;
        length = token & 15;
        if (length == 15 && !lz4_length(block, at, length)) return false;
        length += kShortestMatch;
        if (offset == 0 || offset > done || length > block.to_bytes - done - kLastLiterals)
            return false;
        warp_sync();
        warp_repeat(block.to + done, offset, length, lane);
        done += length;
    }
}

}  // namespace loom::gpu
