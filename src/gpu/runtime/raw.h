#pragma once
// Values of a column as a file holds them, in a device's memory, on their way to tiles (tile.h).
// src/gpu/memory/raw_loader brings them there; encode() and ColumnShape in src/gpu/memory/encode
// say what comes of them, bit by bit.

#include "gpu/runtime/tile.h"
#include "sql/definition.h"

namespace loom::gpu {

/// How a file holds a value.
enum class RawKind : uint32_t {
    kConstant,  ///< all rows have `offset`, or with no `valid` none has a value
    kBit,
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kInt128,  ///< of which the low half counts
    kUInt8,
    kUInt16,
    kUInt32,
    kUInt64  ///< of codes only
};

/// Rows of a block that lie together in a file.
struct RawPiece {
    const uint8_t* values = nullptr;   ///< aligned to a value's bytes
    const uint8_t* valid = nullptr;    ///< a bit a row; null: all rows have values
    const int64_t* entries = nullptr;  ///< what codes stand for; below 0: NULL. Null: no codes
    uint64_t count = 0;                ///< of entries
    uint32_t first = 0;                ///< row of the block
    uint32_t rows = 0;
    RawKind kind = RawKind::kInt64;
    uint32_t all_null = 0;  ///< kConstant
    // The engine's value is value / divisor (downwards) * factor + offset, from low to high; any
    // other makes the column one that is not read here.
    int64_t divisor = 1;
    int64_t factor = 1;
    int64_t offset = 0;
    int64_t low = 0;
    int64_t high = 0;
};

/// What the values of a block need; all 0 at first.
struct RawShape {
    uint64_t greatest = 0;  ///< raw_order(), of values that are there
    uint64_t least = 0;     ///< ~raw_order() of the least
    uint64_t tile_bits = 0;
    uint32_t has_values = 0;
    uint32_t has_nulls = 0;
    uint32_t faults = 0;
    uint32_t unused = 0;
};

/// A block of a column: its pieces, and where its tiles go.
struct RawBlock {
    uint32_t first_tile = 0;  ///< counted over all blocks
    uint32_t first_piece = 0;
    uint32_t pieces = 0;
    uint32_t rows = 0;
    uint8_t* data = nullptr;
    uint32_t* tile_bases = nullptr;
    uint16_t* valid = nullptr;  ///< null: nothing to write
    int64_t base = 0;
};

enum class RawEncoding : uint32_t { kOffset8, kOffset16, kOffset32, kPacked, kWide };

/// Parameters of the kernels `raw_shapes` and `raw_tiles`.
struct RawColumnParameters {
    const RawBlock* blocks = nullptr;
    const RawPiece* pieces = nullptr;
    RawShape* shapes = nullptr;  ///< by block
    uint32_t block_count = 0;
    uint32_t tiles = 0;  ///< of all blocks
    RawEncoding encoding = RawEncoding::kWide;
    uint32_t bits = 0;  ///< kPacked
};

/// Orders integers as words.
LOOM_DEVICE uint64_t raw_order(int64_t value) {
    return static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
}
LOOM_DEVICE int64_t raw_of_order(uint64_t word) {
    return static_cast<int64_t>(word ^ uint64_t{1} << 63);
}

/// Returns the value at a row of a piece, as the file has it.
LOOM_DEVICE int64_t raw_value(const RawPiece& piece, uint32_t row) {
    const uint64_t at = row;
    switch (piece.kind) {
        case RawKind::kBit:
            return read8(piece.values + at / 8) >> row % 8 & 1;
        case RawKind::kInt8:
            return static_cast<int8_t>(read8(piece.values + at));
        case RawKind::kUInt8:
            return read8(piece.values + at);
        case RawKind::kInt16:
            return static_cast<int16_t>(read16(piece.values + at * 2));
        case RawKind::kUInt16:
            return read16(piece.values + at * 2);
        case RawKind::kInt32:
            return static_cast<int32_t>(read32(piece.values + at * 4));
        case RawKind::kUInt32:
            return read32(piece.values + at * 4);
        case RawKind::kInt128:
            return static_cast<int64_t>(read64(piece.values + at * 16));
        case RawKind::kConstant:
            return 0;
        default:
            return static_cast<int64_t>(read64(piece.values + at * 8));
    }
}

/// Makes the engine's value of a file's; false if the engine has not such a value.
LOOM_DEVICE bool raw_converted(const RawPiece& piece, int64_t x, int64_t& value) {
    if (piece.divisor != 1) {
        const int64_t quotient = x / piece.divisor;
        x = quotient - (x % piece.divisor < 0 ? 1 : 0);
    }
    bool bad = piece.factor != 1 && sql::multiply_overflows(x, piece.factor, &x);
    bad = sql::add_overflows(x, piece.offset, &x) || bad;
    value = x;
    return !bad && x >= piece.low && x <= piece.high;
}

/// Returns whether a row has a value, and which; says so if it has one that the engine has not.
LOOM_DEVICE bool raw_row(const RawPiece& piece, uint32_t row, int64_t& value, bool& fault) {
    if (piece.all_null != 0) return false;
    if (piece.valid != nullptr && (read8(piece.valid + row / 8) >> row % 8 & 1) == 0) return false;
    const int64_t x = raw_value(piece, row);
    if (piece.entries != nullptr) {
        // A negative code is a large one.
        if (static_cast<uint64_t>(x) >= piece.count) {
            fault = true;
            return false;
        }
        value = piece.entries[x];
        return value >= 0;
    }
    if (!raw_converted(piece, x, value)) fault = true;
    return true;
}

/// A lane's rows of a tile: bit i of the result says that values[i] is there. `exists` has the bits
/// of rows that there are.
LOOM_DEVICE uint32_t raw_lane(const RawPiece* pieces, const RawBlock& block, uint32_t tile,
                              uint32_t lane, int64_t* values, uint32_t& exists, bool& fault) {
    // The last piece that begins at or before the tile.
    uint32_t low = block.first_piece;
    uint32_t high = block.first_piece + block.pieces;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (pieces[middle].first <= tile * kTileRows)
            low = middle;
        else
            high = middle;
    }
    uint32_t valid = 0;
    exists = 0;
    LOOM_NO_UNROLL for (uint32_t i = 0; i < kLaneRows; ++i) {
        const uint32_t row = row_of(tile, i, lane);
        values[i] = 0;
        if (row >= block.rows) continue;
        exists |= 1U << i;
        while (row - pieces[low].first >= pieces[low].rows) ++low;
        if (raw_row(pieces[low], row - pieces[low].first, values[i], fault))
            valid |= 1U << i;
        else
            values[i] = 0;
    }
    return valid;
}

/// Finds the block of a tile.
LOOM_DEVICE const RawBlock& raw_block(const RawColumnParameters& p, uint32_t tile,
                                      uint32_t& number) {
    uint32_t low = 0;
    uint32_t high = p.block_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (p.blocks[middle].first_tile <= tile)
            low = middle;
        else
            high = middle;
    }
    number = low;
    return p.blocks[low];
}

LOOM_DEVICE uint64_t warp_largest(uint64_t word) {
    LOOM_UNROLL for (uint32_t by = kWarp / 2; by != 0; by /= 2) {
        const uint64_t other = shuffle_xor(word, by);
        word = other > word ? other : word;
    }
    return word;
}
LOOM_DEVICE void raw_keep_largest(uint64_t* at, uint64_t word) {
    if (*static_cast<volatile const uint64_t*>(at) < word) atomic_max(at, word);
}
LOOM_DEVICE void raw_flag(uint32_t* at) {
    if (*static_cast<volatile const uint32_t*>(at) == 0) atomic_or(at, 1);
}
LOOM_DEVICE int64_t raw_base_below(int64_t value) {
    return value & ~int64_t{31};
}

/// The least and the greatest value of a tile, in all lanes, if there is any.
struct RawRange {
    bool any;
    int64_t least;
    int64_t greatest;
};
LOOM_DEVICE RawRange raw_range(const int64_t* values, uint32_t valid) {
    uint64_t least = 0;
    uint64_t greatest = 0;
    LOOM_NO_UNROLL for (uint32_t i = 0; i < kLaneRows; ++i) {
        if ((valid >> i & 1) == 0) continue;
        const uint64_t word = raw_order(values[i]);
        greatest = word > greatest ? word : greatest;
        least = ~word > least ? ~word : least;
    }
    const bool any = any_lane(valid != 0);
    greatest = warp_largest(greatest);
    least = warp_largest(least);
    return {any, raw_of_order(~least), raw_of_order(greatest)};
}

/// Looks at a tile: what ColumnShape::add() finds.
LOOM_DEVICE void raw_shape_of_tile(const RawColumnParameters& p, uint32_t tile, uint32_t lane) {
    uint32_t number = 0;
    const RawBlock& block = raw_block(p, tile, number);
    int64_t values[kLaneRows];
    uint32_t exists = 0;
    bool fault = false;
    const uint32_t valid =
        raw_lane(p.pieces, block, tile - block.first_tile, lane, values, exists, fault);
    const RawRange range = raw_range(values, valid);
    const bool nulls = any_lane(valid != exists);
    fault = any_lane(fault);
    if (lane != 0) return;
    RawShape& shape = p.shapes[number];
    if (nulls) raw_flag(&shape.has_nulls);
    if (fault) raw_flag(&shape.faults);
    if (!range.any) return;
    raw_flag(&shape.has_values);
    raw_keep_largest(&shape.greatest, raw_order(range.greatest));
    raw_keep_largest(&shape.least, ~raw_order(range.least));
    const uint64_t distance =
        static_cast<uint64_t>(range.greatest) - static_cast<uint64_t>(raw_base_below(range.least));
    if (distance != 0)
        raw_keep_largest(&shape.tile_bits, static_cast<uint64_t>(sql::bit_width(distance)));
}

template <typename T>
LOOM_DEVICE void raw_put(const RawBlock& block, uint32_t tile, uint32_t lane, const int64_t* values,
                         uint32_t valid) {
    T* const to = reinterpret_cast<T*>(block.data);
    LOOM_NO_UNROLL for (uint32_t i = 0; i < kLaneRows; ++i) {
        const uint64_t offset = (valid >> i & 1) != 0 ? static_cast<uint64_t>(values[i]) -
                                                            static_cast<uint64_t>(block.base)
                                                      : 0;
        to[row_of(tile, i, lane)] = static_cast<T>(offset);
    }
}

/// Writes a tile as encode() does.
LOOM_DEVICE void raw_encode_tile(const RawColumnParameters& p, uint32_t tile, uint32_t lane) {
    uint32_t number = 0;
    const RawBlock& block = raw_block(p, tile, number);
    tile -= block.first_tile;
    int64_t values[kLaneRows];
    uint32_t exists = 0;
    bool fault = false;
    const uint32_t valid = raw_lane(p.pieces, block, tile, lane, values, exists, fault);
    if (block.valid != nullptr)
        block.valid[static_cast<uint64_t>(tile) * kWarp + lane] = static_cast<uint16_t>(valid);
    switch (p.encoding) {
        case RawEncoding::kOffset8:
            return raw_put<uint8_t>(block, tile, lane, values, valid);
        case RawEncoding::kOffset16:
            return raw_put<uint16_t>(block, tile, lane, values, valid);
        case RawEncoding::kOffset32:
            return raw_put<uint32_t>(block, tile, lane, values, valid);
        case RawEncoding::kWide:
            return raw_put<uint64_t>(block, tile, lane, values, valid);
        default:
            break;
    }
    const RawRange range = raw_range(values, valid);
    const int64_t base = range.any ? raw_base_below(range.least) : block.base;
    if (lane == 0)
        block.tile_bases[tile] =
            static_cast<uint32_t>(static_cast<uint64_t>(base) - static_cast<uint64_t>(block.base));
    uint32_t* to = reinterpret_cast<uint32_t*>(block.data) +
                   static_cast<uint64_t>(tile) * (p.bits / 2 * kWarp) + lane;
    uint64_t waiting = 0;
    uint32_t filled = 0;
    LOOM_NO_UNROLL for (uint32_t i = 0; i < kLaneRows; ++i) {
        const uint64_t offset = (valid >> i & 1) != 0
                                    ? static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(base)
                                    : 0;
        waiting |= offset << filled;
        filled += p.bits;
        if (filled < 32) continue;
        *to = static_cast<uint32_t>(waiting);
        to += kWarp;
        waiting >>= 32;
        filled -= 32;
    }
}

}  // namespace loom::gpu
