// Values that are encoded for a device and read back by the text of its kernels.

#include "gpu/memory/encode.h"

#include <gtest/gtest.h>

#include <random>

#include "gpu/runtime/tile.h"

namespace loom::gpu {
namespace {

struct Column {
    std::vector<int64_t> values;
    std::vector<uint8_t> valid;

    Values view() const { return {values, valid}; }
};

// `nulls` of 100 values are NULL.
Column random_column(std::mt19937_64& random, int64_t rows, int64_t low, int64_t high, int nulls) {
    Column column;
    const uint64_t reach = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (nulls > 0) column.valid.assign(static_cast<size_t>(rows + 7) / 8, 0);
    for (int64_t i = 0; i < rows; ++i) {
        const uint64_t above = reach == UINT64_MAX ? random() : random() % (reach + 1);
        column.values.push_back(static_cast<int64_t>(static_cast<uint64_t>(low) + above));
        if (nulls == 0) continue;
        if (static_cast<int>(random() % 100) < nulls)
            column.values.back() = static_cast<int64_t>(random());  // does not count
        else
            column.valid[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1U << i % 8);
    }
    return column;
}

// Reads a block as kernels do: row by row, and tile by tile.
template <typename E>
void check(const Column& column, const EncodedBlock& block, int64_t origin) {
    BlockView view;
    view.data = block.data.data();
    view.tile_bases = block.tile_bases.empty() ? nullptr : block.tile_bases.data();
    view.valid = block.valid.empty() ? nullptr : block.valid.data();
    if (block.min <= block.max)
        view.base = static_cast<uint32_t>(static_cast<uint64_t>(block.base) -
                                          static_cast<uint64_t>(origin));
    const Values values = column.view();
    for (int64_t row = 0; row < block.rows; ++row) {
        const auto at = static_cast<uint32_t>(row);
        ASSERT_EQ(is_valid(view, at), !values.is_null(row)) << row;
        if (!values.is_null(row)) {
            ASSERT_EQ(origin + E::get(view, at), column.values[static_cast<size_t>(row)]) << row;
        }
    }
    for (uint32_t tile = 0; tile * int64_t{kTileRows} < block.rows; ++tile)
        for (uint32_t lane = 0; lane < kWarp; ++lane) {
            const auto rows = static_cast<uint32_t>(block.rows - tile * int64_t{kTileRows});
            const uint32_t mask = row_mask(rows, lane);
            const uint32_t valid = valid_mask(view, tile, lane);
            typename E::Raw whole;
            typename E::Raw some;
            const uint32_t alive = mask & valid & 0x5a3cU;
            E::template load<false>(whole, view, tile, lane, 0, 0);
            E::template load<true>(some, view, tile, lane, alive, 0);
            for (uint32_t i = 0; i < kLaneRows; ++i) {
                const uint32_t row = row_of(tile, i, lane);
                ASSERT_EQ((mask >> i & 1) != 0, row < block.rows) << row;
                if (row >= block.rows) continue;
                ASSERT_EQ((valid >> i & 1) != 0, !values.is_null(row)) << row;
                if (values.is_null(row)) continue;
                const int64_t expected = column.values[row];
                ASSERT_EQ(origin + (E::at(whole, i) + E::base(view, tile)), expected) << row;
                if ((alive >> i & 1) != 0) {
                    ASSERT_EQ(origin + (E::at(some, i) + E::base(view, tile)), expected) << row;
                }
            }
        }
}

template <uint32_t kBits>
bool check_packed(const ColumnLayout& layout, const Column& column, const EncodedBlock& block,
                  int64_t origin) {
    if (layout.bits == kBits) {
        check<Packed<kBits>>(column, block, origin);
        return true;
    }
    if constexpr (kBits < 30)
        return check_packed<kBits + 2>(layout, column, block, origin);
    else
        return false;
}

void check(const Column& column) {
    ColumnShape shape;
    shape.add(column.view());
    const ColumnLayout layout = shape.layout();
    const EncodedBlock block = encode(column.view(), layout);
    ASSERT_EQ(block.data.size() % tile_bytes(layout), 0U);
    const int64_t origin = shape.has_values() ? shape.min() & ~int64_t{31} : 0;
    switch (layout.encoding) {
        case Encoding::kOffset8:
            return check<Offset8>(column, block, origin);
        case Encoding::kOffset16:
            return check<Offset16>(column, block, origin);
        case Encoding::kOffset32:
            return check<Offset32>(column, block, origin);
        case Encoding::kPacked:
            ASSERT_TRUE(check_packed<2>(layout, column, block, origin));
            return;
        case Encoding::kWide:
            break;
    }
    BlockView view;
    view.data = block.data.data();
    for (int64_t row = 0; row < block.rows; ++row)
        if (!column.view().is_null(row)) {
            ASSERT_EQ(static_cast<int64_t>(Wide::get(view, static_cast<uint32_t>(row))),
                      column.values[static_cast<size_t>(row)]);
        }
}

}  // namespace

TEST(Encode, ValuesComeBack) {
    std::mt19937_64 random(4);
    const std::pair<int64_t, int64_t> ranges[] = {{0, 0},
                                                  {-7, -7},
                                                  {0, 1},
                                                  {1, 50},
                                                  {31, 286},
                                                  {-100, 27},
                                                  {0, 256},
                                                  {19'920'101, 19'981'231},
                                                  {-40'000, 20'000},
                                                  {0, 100'000},
                                                  {-70'000, 7'000'000},
                                                  {1, int64_t{1} << 29},
                                                  {0, (int64_t{1} << 30) - 1},
                                                  {INT32_MIN, INT32_MAX},
                                                  {0, UINT32_MAX},
                                                  {5, int64_t{5} + UINT32_MAX},
                                                  {INT64_MIN, INT64_MAX},
                                                  {INT64_MAX - 9, INT64_MAX},
                                                  {INT64_MIN, INT64_MIN + 300}};
    for (const auto& [low, high] : ranges)
        for (const int64_t rows : {0, 1, 3, 127, 511, 512, 513, 1023, 1024, 1025, 5000})
            for (const int nulls : {0, 20, 100}) {
                SCOPED_TRACE(testing::Message() << low << " to " << high << ", " << rows
                                                << " rows, " << nulls << " of 100 NULL");
                check(random_column(random, rows, low, high, nulls));
                if (HasFatalFailure()) return;
            }
}

TEST(Encode, SortedKeysTakeTheBitsOfATile) {
    Column column;
    for (int64_t i = 0; i < 100'000; ++i) column.values.push_back(i * 30);
    ColumnShape shape;
    shape.add(column.view());
    const ColumnLayout layout = shape.layout();
    EXPECT_EQ(layout.encoding, Encoding::kPacked);
    EXPECT_LE(layout.bits, 14);
    check(column);
}

TEST(Encode, BitsOfARowMask) {
    for (uint32_t rows = 0; rows <= kTileRows + 1; ++rows) {
        uint32_t count = 0;
        for (uint32_t lane = 0; lane < kWarp; ++lane)
            for (uint32_t i = 0; i < kLaneRows; ++i)
                if ((row_mask(rows, lane) >> i & 1) != 0) {
                    EXPECT_LT(row_of(0, i, lane), rows);
                    ++count;
                }
        EXPECT_EQ(count, std::min(rows, kTileRows));
    }
}

TEST(Encode, RangesOfBytesAndHalves) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 20'000; ++round) {
        const auto pick = [&](uint32_t most) {
            return static_cast<uint32_t>(random() % (most + 1));
        };
        const uint32_t low = pick(127);
        const uint32_t high = pick(127);
        uint32_t word = 0;
        uint32_t expected = 0b101;
        for (int i = 3; i >= 0; --i) {
            const uint32_t value = pick(127);
            word |= value << 8 * i;
            expected = expected << 1 | (value >= low && value <= high ? 1U : 0U);
        }
        EXPECT_EQ(push_between4(word, low * 0x1010101U, high * 0x1010101U | 0x80808080U, 0b101),
                  expected);
        const uint32_t low2 = pick(32767);
        const uint32_t high2 = pick(32767);
        const uint32_t a = pick(32767);
        const uint32_t b = pick(32767);
        const auto within = [&](uint32_t value) {
            return value >= low2 && value <= high2 ? 1U : 0U;
        };
        EXPECT_EQ(push_between2(a | b << 16, low2 * 0x10001U, high2 * 0x10001U | 0x80008000U, 1),
                  4U | within(b) << 1 | within(a));
    }
}

}  // namespace loom::gpu
