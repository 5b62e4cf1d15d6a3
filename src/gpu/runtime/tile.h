#pragma once
// How columns lie in a device's memory, and how a warp reads them.
//
// A block holds some rows of one column, in tiles of 512. A warp takes a tile; a lane has 16 of its
// rows, four times four neighbours, so that plain values are read 16 bytes at a time: value i of
// lane l is row i / 4 * 128 + l * 4 + i % 4 of the tile. Bit i of a lane's mask stands for it.
//
// A value is held as its offset (32 bits) from the block's base, the kernel adds what the base is
// above the origin of the table's column, and computes with offsets from that origin.
// src/gpu/memory writes blocks.

#include "gpu/runtime/machine.h"

namespace loom::gpu {

inline constexpr uint32_t kLaneRows = 16;
inline constexpr uint32_t kTileRows = kWarp * kLaneRows;

/// A block as a kernel sees it. `data` holds a whole number of tiles; what lies behind the last row
/// is 0.
struct BlockView {
    const uint8_t* data = nullptr;
    /// Packed encodings: what the offsets of a tile are counted from, a multiple of 32.
    const uint32_t* tile_bases = nullptr;
    /// Bit i of word 32 * tile + lane says that value i of the lane is there; null if all are.
    const uint16_t* valid = nullptr;
    /// Offset of the block's base from the origin; a multiple of 32 but for one-byte offsets.
    uint32_t base = 0;
    uint32_t unused = 0;
};

/// Tiles that a block of threads works off: `tiles` of them from `first` on, in block `block`,
/// whose rows from the first of these tiles on are `rows`. A share is a span, or several of them
/// where blocks end.
struct Span {
    uint32_t block = 0;
    uint32_t first = 0;
    uint32_t tiles = 0;
    uint32_t rows = 0;
    uint32_t next = 0;  ///< the next of the same share; 0: none
};

/// Returns the mask of rows that exist, for a tile that begins `rows` before the end.
LOOM_DEVICE uint32_t row_mask(uint32_t rows, uint32_t lane) {
    if (rows >= kTileRows) return 0xffffU;
    const int left = static_cast<int>(rows) - static_cast<int>(lane) * 4;
    const int here = left & 127;
    const int count = left <= 0 ? 0 : (left >> 7) * 4 + (here < 4 ? here : 4);
    return (1U << count) - 1;
}

/// The row within its block of value i of a lane.
LOOM_DEVICE uint32_t row_of(uint32_t tile, uint32_t i, uint32_t lane) {
    return tile * kTileRows + (i >> 2) * 128 + lane * 4 + (i & 3);
}

/// Whether row `row` of a block has a value.
LOOM_DEVICE bool is_valid(const BlockView& block, uint32_t row) {
    if (block.valid == nullptr) return true;
    const uint32_t in_tile = row % kTileRows;
    const uint32_t i = (in_tile >> 7) * 4 + (in_tile & 3);
    const uint32_t bits = read16(block.valid + row / kTileRows * kWarp + ((in_tile >> 2) & 31));
    return (bits >> i & 1) != 0;
}
LOOM_DEVICE uint32_t valid_mask(const BlockView& block, uint32_t tile, uint32_t lane) {
    return block.valid == nullptr ? 0xffffU : read16(block.valid + tile * kWarp + lane);
}

/// Returns the sum of the values of the lanes up to this one.
LOOM_DEVICE uint32_t warp_prefix_sum(uint32_t value, uint32_t lane) {
    LOOM_UNROLL for (uint32_t by = 1; by < kWarp; by *= 2) {
        const uint32_t below = shuffle_up(value, by);
        if (lane >= by) value += below;
    }
    return value;
}

// Each encoding has Raw, a lane's values of a tile in registers; load(), which reads them all, or
// with kSome those that are alive, and shows `otherwise` (an offset) for others; at(), value i with
// i known to the compiler; pick(), any value i once the words of Raw are in memory, 32 words apart;
// base(), what to add to both; get(), one row's offset from the origin.

struct Offset32 {
    struct Raw {
        uint32_t words[kLaneRows];
    };
    template <bool kSome>
    LOOM_DEVICE static void load(Raw& raw, const BlockView& block, uint32_t tile, uint32_t lane,
                                 uint32_t alive, uint32_t otherwise) {
        const uint8_t* from = block.data + (static_cast<uint64_t>(tile) * kTileRows + lane * 4) * 4;
        LOOM_UNROLL for (uint32_t g = 0; g < kLaneRows / 4; ++g) {
            if (kSome)
                read_words4_if(raw.words + 4 * g, from + g * 512, alive & (15U << 4 * g),
                               otherwise);
            else
                read_words4(raw.words + 4 * g, from + g * 512);
        }
    }
    LOOM_DEVICE static uint32_t at(const Raw& raw, uint32_t i) { return raw.words[i]; }
    LOOM_DEVICE static uint32_t pick(const uint32_t* words, uint32_t i) { return words[i * kWarp]; }
    LOOM_DEVICE static uint32_t base(const BlockView& block, uint32_t) { return block.base; }
    LOOM_DEVICE static uint32_t get(const BlockView& block, uint32_t row) {
        return read32(block.data + static_cast<uint64_t>(row) * 4) + block.base;
    }
};

struct Offset16 {
    struct Raw {
        uint32_t words[kLaneRows / 2];
    };
    template <bool kSome>
    LOOM_DEVICE static void load(Raw& raw, const BlockView& block, uint32_t tile, uint32_t lane,
                                 uint32_t alive, uint32_t otherwise) {
        const uint8_t* from = block.data + (static_cast<uint64_t>(tile) * kTileRows + lane * 4) * 2;
        LOOM_UNROLL for (uint32_t g = 0; g < kLaneRows / 4; ++g) {
            if (kSome)
                read_words2_if(raw.words + 2 * g, from + g * 256, alive & (15U << 4 * g),
                               otherwise * 0x10001U);
            else
                read_words2(raw.words + 2 * g, from + g * 256);
        }
    }
    LOOM_DEVICE static uint32_t at(const Raw& raw, uint32_t i) {
        return byte_permute(raw.words[i >> 1], 0, (i & 1) != 0 ? 0x4432 : 0x4410);
    }
    LOOM_DEVICE static uint32_t pick(const uint32_t* words, uint32_t i) {
        return words[(i >> 1) * kWarp] >> (i & 1) * 16 & 0xffffU;
    }
    LOOM_DEVICE static uint32_t base(const BlockView& block, uint32_t) { return block.base; }
    LOOM_DEVICE static uint32_t get(const BlockView& block, uint32_t row) {
        return read16(block.data + static_cast<uint64_t>(row) * 2) + block.base;
    }
};

struct Offset8 {
    struct Raw {
        uint32_t words[kLaneRows / 4];
    };
    template <bool kSome>
    LOOM_DEVICE static void load(Raw& raw, const BlockView& block, uint32_t tile, uint32_t lane,
                                 uint32_t alive, uint32_t otherwise) {
        const uint8_t* from = block.data + static_cast<uint64_t>(tile) * kTileRows + lane * 4;
        LOOM_UNROLL for (uint32_t g = 0; g < kLaneRows / 4; ++g) raw.words[g] =
            kSome ? read32_if(from + g * 128, alive & (15U << 4 * g), otherwise * 0x1010101U)
                  : read32(from + g * 128);
    }
    LOOM_DEVICE static uint32_t at(const Raw& raw, uint32_t i) {
        return byte_permute(raw.words[i >> 2], 0, 0x4440 + (i & 3));
    }
    LOOM_DEVICE static uint32_t pick(const uint32_t* words, uint32_t i) {
        return words[(i >> 2) * kWarp] >> (i & 3) * 8 & 0xffU;
    }
    LOOM_DEVICE static uint32_t base(const BlockView& block, uint32_t) { return block.base; }
    LOOM_DEVICE static uint32_t get(const BlockView& block, uint32_t row) {
        return read8(block.data + row) + block.base;
    }
};

/// Offsets of kBits bits (even) from the tile's base. A lane's 16 values follow one another in
/// kWords words, of which word j of all lanes is one line of 128 bytes. Bits of a word that is not
/// read are 0: what at() shows of a dead row may be less than its value, and stays above the base.
template <uint32_t kBits>
struct Packed {
    static constexpr uint32_t kWords = kBits / 2;
    static constexpr uint32_t kMask = (1U << kBits) - 1;
    struct Raw {
        uint32_t words[kWords];
    };
    /// The values that have bits in word j.
    LOOM_DEVICE static constexpr uint32_t touching(uint32_t j) {
        uint32_t mask = 0;
        for (uint32_t i = 0; i < kLaneRows; ++i)
            if (i * kBits < 32 * j + 32 && (i + 1) * kBits > 32 * j) mask |= 1U << i;
        return mask;
    }
    template <bool kSome>
    LOOM_DEVICE static void load(Raw& raw, const BlockView& block, uint32_t tile, uint32_t lane,
                                 uint32_t alive, uint32_t) {
        const uint8_t* from =
            block.data + (static_cast<uint64_t>(tile) * (kWords * kWarp) + lane) * 4;
        LOOM_UNROLL for (uint32_t j = 0; j < kWords; ++j) raw.words[j] =
            kSome ? read32_if(from + j * 128, alive & touching(j), 0) : read32(from + j * 128);
    }
    LOOM_DEVICE static uint32_t at(const Raw& raw, uint32_t i) {
        const uint32_t word = i * kBits / 32;
        const uint32_t shift = i * kBits % 32;
        if (shift + kBits <= 32) return raw.words[word] >> shift & kMask;
        return funnel_right(raw.words[word], raw.words[word + 1 < kWords ? word + 1 : word],
                            shift) &
               kMask;
    }
    LOOM_DEVICE static uint32_t pick(const uint32_t* words, uint32_t i) {
        const uint32_t word = i * kBits / 32;
        const uint32_t next = word + 1 < kWords ? word + 1 : word;
        return funnel_right(words[word * kWarp], words[next * kWarp], i * kBits % 32) & kMask;
    }
    LOOM_DEVICE static uint32_t base(const BlockView& block, uint32_t tile) {
        return look_up32_if(block.tile_bases + tile, 1, 0) + block.base;
    }
    LOOM_DEVICE static uint32_t get(const BlockView& block, uint32_t row) {
        const uint32_t in_tile = row % kTileRows;
        const uint32_t bit = ((in_tile >> 7) * 4 + (in_tile & 3)) * kBits;
        const uint8_t* from =
            block.data + (static_cast<uint64_t>(row / kTileRows) * (kWords * kWarp) +
                          (bit >> 5) * kWarp + ((in_tile >> 2) & 31)) *
                             4;
        const uint32_t low = read32(from);
        const uint32_t high = read32_if(from + 128, (bit & 31) + kBits > 32, 0);
        return (funnel_right(low, high, bit & 31) & kMask) + base(block, row / kTileRows);
    }
};

/// Whole values of 8 bytes, for columns whose values lie further apart than offsets reach. There is
/// no base.
struct Wide {
    LOOM_DEVICE static uint64_t get(const BlockView& block, uint32_t row) {
        return read64(block.data + static_cast<uint64_t>(row) * 8);
    }
};

/// Puts the words of a lane where pick() finds them; `words` is the lane's first.
template <typename Raw>
LOOM_DEVICE void put_words(uint32_t* words, const Raw& raw) {
    constexpr uint32_t kCount = sizeof raw.words / sizeof raw.words[0];
    LOOM_UNROLL for (uint32_t i = 0; i < kCount; ++i) words[i * kWarp] = raw.words[i];
}

// Masks are made from the last row to the first: each test shifts its answer in at the low end.

/// Appends bit `x` of a bitmap whose words have their bits reversed (bit 0 on top), given the word.
LOOM_DEVICE uint32_t push_bit(uint32_t word, uint32_t x, uint32_t mask) {
    return funnel_left(word << (x & 31), mask, 1);
}
LOOM_DEVICE uint32_t push(bool value, uint32_t mask) {
    return mask << 1 | (value ? 1U : 0U);
}

/// Bounds for the two functions below.
struct Bounds {
    uint32_t low;
    uint32_t high;
};
/// Returns bounds in each byte (`bits` 8) or half (16) of a word, for values from `lowest` to
/// `highest` that are held as offsets from `base`.
LOOM_DEVICE Bounds bounds_within(uint32_t lowest, uint32_t highest, uint32_t base, uint32_t bits) {
    const uint32_t each = bits == 8 ? 0x1010101U : 0x10001U;
    const uint32_t most = (1U << (bits - 1)) - 1;
    const bool none = lowest > highest || highest < base || (lowest > base && lowest - base > most);
    if (none) return {most * each, (most + 1) * each};
    const uint32_t low = lowest > base ? lowest - base : 0;
    const uint32_t high = highest - base < most ? highest - base : most;
    return {low * each, high * each | (most + 1) * each};
}

/// Appends whether each of four bytes (below 128) lies between two others. `low` is the lower bound
/// in each byte, `high` the upper one with the top bit of each byte set.
LOOM_DEVICE uint32_t push_between4(uint32_t bytes, uint32_t low, uint32_t high, uint32_t mask) {
    const uint32_t flags = ((bytes | 0x80808080U) - low) & (high - bytes) & 0x80808080U;
    return funnel_left((flags >> 7) * 0x10204080U, mask, 4);
}
/// Likewise two halves (below 32768).
LOOM_DEVICE uint32_t push_between2(uint32_t halves, uint32_t low, uint32_t high, uint32_t mask) {
    const uint32_t flags = ((halves | 0x80008000U) - low) & (high - halves) & 0x80008000U;
    return funnel_left((flags >> 15) * 0x40008000U, mask, 2);
}

}  // namespace loom::gpu
