#include "gpu/memory/encode.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu/runtime/tile.h"

namespace loom::gpu {

namespace {

// Bases are multiples of 32, so that a bitmap's word and bit follow from the offset alone.
constexpr int64_t kBaseStep = 32;

int64_t base_below(int64_t value) {
    const int64_t base = value & ~(kBaseStep - 1);
    return base;
}

int bits_of(uint64_t value) {
    return std::bit_width(value);
}

uint64_t distance(int64_t low, int64_t high) {
    return static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
}

// Calls use(tile, first, end) for each tile of the rows.
template <typename Use>
void for_tiles(int64_t rows, Use&& use) {
    for (int64_t first = 0; first < rows; first += kTileRows)
        use(first / kTileRows, first, std::min<int64_t>(rows, first + kTileRows));
}

struct Range {
    int64_t min = INT64_MAX;
    int64_t max = INT64_MIN;
};

Range range_of(const Values& values, int64_t first, int64_t end) {
    Range range;
    for (int64_t row = first; row < end; ++row) {
        if (values.is_null(row)) continue;
        range.min = std::min(range.min, values.values[static_cast<size_t>(row)]);
        range.max = std::max(range.max, values.values[static_cast<size_t>(row)]);
    }
    return range;
}

// The place of a row in its tile: lane, and which of the lane's values.
struct Place {
    uint32_t lane;
    uint32_t i;
};
Place place_of(int64_t row) {
    const auto in_tile = static_cast<uint32_t>(row % kTileRows);
    return {in_tile / 4 % kWarp, in_tile / 128 * 4 + in_tile % 4};
}

template <typename T>
void put_offsets(const Values& values, EncodedBlock& block) {
    for (int64_t row = 0; row < block.rows; ++row) {
        if (values.is_null(row)) continue;
        const auto offset =
            static_cast<T>(distance(block.base, values.values[static_cast<size_t>(row)]));
        std::memcpy(block.data.data() + row * static_cast<int64_t>(sizeof(T)), &offset, sizeof(T));
    }
}

void put_packed(const Values& values, uint32_t bits, EncodedBlock& block) {
    const uint32_t words = bits / 2;
    std::vector<uint32_t> out(words * kWarp);
    block.tile_bases.resize(block.data.size() / (out.size() * sizeof(uint32_t)));
    for_tiles(block.rows, [&](int64_t tile, int64_t first, int64_t end) {
        const Range range = range_of(values, first, end);
        const int64_t base = range.min > range.max ? block.base : base_below(range.min);
        block.tile_bases[static_cast<size_t>(tile)] =
            static_cast<uint32_t>(distance(block.base, base));
        std::fill(out.begin(), out.end(), 0);
        for (int64_t row = first; row < end; ++row) {
            if (values.is_null(row)) continue;
            const uint64_t offset = distance(base, values.values[static_cast<size_t>(row)]);
            const auto [lane, i] = place_of(row);
            const uint32_t bit = i * bits;
            const uint64_t shifted = offset << bit % 32;
            out[bit / 32 * kWarp + lane] |= static_cast<uint32_t>(shifted);
            if (bit % 32 + bits > 32)
                out[(bit / 32 + 1) * kWarp + lane] |= static_cast<uint32_t>(shifted >> 32);
        }
        std::memcpy(block.data.data() + static_cast<size_t>(tile) * out.size() * sizeof(uint32_t),
                    out.data(), out.size() * sizeof(uint32_t));
    });
}

void put_valid(const Values& values, EncodedBlock& block) {
    if (values.valid.empty()) return;
    block.valid.assign((static_cast<size_t>(block.rows) + kTileRows - 1) / kTileRows * kWarp, 0);
    for (int64_t row = 0; row < block.rows; ++row) {
        if (values.is_null(row)) continue;
        const auto [lane, i] = place_of(row);
        block.valid[static_cast<size_t>(row / kTileRows) * kWarp + lane] |=
            static_cast<uint16_t>(1U << i);
    }
}

}  // namespace

std::string encoding_name(const ColumnLayout& layout) {
    switch (layout.encoding) {
        case Encoding::kOffset8:
            return "Offset8";
        case Encoding::kOffset16:
            return "Offset16";
        case Encoding::kOffset32:
            return "Offset32";
        case Encoding::kPacked:
            return "Packed<" + std::to_string(layout.bits) + ">";
        case Encoding::kWide:
            return "Wide";
    }
    return {};
}

uint32_t tile_bytes(const ColumnLayout& layout) {
    switch (layout.encoding) {
        case Encoding::kOffset8:
            return kTileRows;
        case Encoding::kOffset16:
            return kTileRows * 2;
        case Encoding::kOffset32:
            return kTileRows * 4;
        case Encoding::kPacked:
            return kTileRows / 8 * layout.bits;
        case Encoding::kWide:
            return kTileRows * 8;
    }
    return 0;
}

void ColumnShape::add(const Values& values) {
    const auto rows = static_cast<int64_t>(values.values.size());
    for_tiles(rows, [&](int64_t, int64_t first, int64_t end) {
        const Range range = range_of(values, first, end);
        if (range.min > range.max) return;
        min_ = std::min(min_, range.min);
        max_ = std::max(max_, range.max);
        tile_bits_ = std::max(tile_bits_, bits_of(distance(base_below(range.min), range.max)));
    });
    for (int64_t row = 0; row < rows && !has_nulls_; ++row) has_nulls_ = values.is_null(row);
}

void ColumnShape::add(const ColumnShape& other) {
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    tile_bits_ = std::max(tile_bits_, other.tile_bits_);
    has_nulls_ = has_nulls_ || other.has_nulls_;
}

// Values of up to 16 bits lie in bytes and halves, of which comparisons take four and two at once;
// above that bits are packed: they are keys and measures, fetched for few rows, so that bytes count
// more than the instructions to unpack them.
ColumnLayout ColumnShape::layout() const {
    ColumnLayout layout;
    layout.nullable = has_nulls_;
    if (!has_values()) {
        layout.encoding = Encoding::kOffset8;
        return layout;
    }
    const uint64_t reach = distance(min_, max_);
    const uint64_t aligned = distance(base_below(min_), max_);
    const int bits = std::max(2, (tile_bits_ + 1) / 2 * 2);
    if (reach < 256)
        layout.encoding = Encoding::kOffset8;
    else if (aligned < 65536)
        layout.encoding = Encoding::kOffset16;
    else if (aligned > UINT32_MAX)
        layout.encoding = Encoding::kWide;
    else if (bits > 30)
        layout.encoding = Encoding::kOffset32;
    else {
        layout.encoding = Encoding::kPacked;
        layout.bits = static_cast<uint8_t>(bits);
    }
    return layout;
}

bool ColumnShape::fits(const ColumnLayout& layout) const {
    if (has_nulls_ && !layout.nullable) return false;
    if (!has_values()) return true;
    const uint64_t aligned = distance(base_below(min_), max_);
    switch (layout.encoding) {
        case Encoding::kOffset8:
            return distance(min_, max_) < 256;
        case Encoding::kOffset16:
            return aligned < 65536;
        case Encoding::kOffset32:
            return aligned <= UINT32_MAX;
        case Encoding::kPacked:
            return aligned <= UINT32_MAX && tile_bits_ <= layout.bits;
        case Encoding::kWide:
            return true;
    }
    return false;
}

EncodedBlock encode(const Values& values, const ColumnLayout& layout) {
    EncodedBlock block;
    block.rows = static_cast<int64_t>(values.values.size());
    const Range range = range_of(values, 0, block.rows);
    block.min = range.min;
    block.max = range.max;
    const auto tiles = (static_cast<uint64_t>(block.rows) + kTileRows - 1) / kTileRows;
    block.data.assign(tiles * tile_bytes(layout), 0);
    if (range.min <= range.max && layout.encoding != Encoding::kWide)
        block.base = layout.encoding == Encoding::kOffset8 ? range.min : base_below(range.min);
    switch (layout.encoding) {
        case Encoding::kOffset8:
            put_offsets<uint8_t>(values, block);
            break;
        case Encoding::kOffset16:
            put_offsets<uint16_t>(values, block);
            break;
        case Encoding::kOffset32:
            put_offsets<uint32_t>(values, block);
            break;
        case Encoding::kPacked:
            put_packed(values, layout.bits, block);
            break;
        case Encoding::kWide:
            put_offsets<uint64_t>(values, block);
            break;
    }
    if (layout.nullable) put_valid(values, block);
    return block;
}

}  // namespace loom::gpu
