#include "format/parquet/decode/convert.h"

#include <gtest/gtest.h>

#include "column/column_view.h"
#include "format/parquet/decode/expand.h"
#include "format/parquet/test/bytes.h"

namespace loom::parquet {
namespace {

using test::Bytes;

LeafType decimal_leaf(PhysicalType physical, int precision, int length = 0) {
    SchemaElement element;
    element.physical = static_cast<int32_t>(physical);
    element.type_length = length;
    element.converted = ConvertedType::kDecimal;
    element.precision = precision;
    return make_leaf_type(element);
}

__int128 to_decimal(const LeafType& leaf, Bytes bytes) {
    base::Buffer out;
    out.resize(32);
    convert_values(leaf, bytes.span().data(), 1, out.data());
    switch (leaf.logical_width()) {
        case 4: return base::load<int32_t>(out.data());
        case 8: return base::load<int64_t>(out.data());
        default: return base::load<__int128>(out.data());
    }
}

TEST(Convert, FixedDecimals) {
    const auto fixed = PhysicalType::kFixedLenByteArray;
    EXPECT_TRUE(to_decimal(decimal_leaf(fixed, 4, 2), {0xFF, 0x85}) == -123);
    EXPECT_TRUE(to_decimal(decimal_leaf(fixed, 9, 4), {0x00, 0x00, 0x01, 0x00}) == 256);
    EXPECT_TRUE(to_decimal(decimal_leaf(fixed, 18, 5), {0x80, 0, 0, 0, 0}) == -(__int128{1} << 39));
    EXPECT_TRUE(to_decimal(decimal_leaf(fixed, 38, 9), {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}) == -2);
    // Redundant sign bytes are accepted, lost digits are not.
    EXPECT_TRUE(to_decimal(decimal_leaf(fixed, 9, 6), {0xFF, 0xFF, 0x80, 0, 0, 1}) == INT32_MIN + 1);
    EXPECT_THROW(to_decimal(decimal_leaf(fixed, 9, 6), {0xFF, 0xFF, 0x7F, 0, 0, 1}), base::Error);
    EXPECT_THROW(to_decimal(decimal_leaf(fixed, 9, 6), {0x00, 0x01, 0, 0, 0, 1}), base::Error);
}

TEST(Convert, ByteArrayDecimals) {
    const LeafType leaf = decimal_leaf(PhysicalType::kByteArray, 10);
    uint8_t out[16 + 64];
    const uint8_t bytes[] = {0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x80};
    const column::BytesView values[] = {{bytes, 0}, {bytes, 1}, {bytes + 1, 9}};
    const int64_t expected[] = {0, -1, 128};
    for (size_t i = 0; i < 3; ++i) {
        const column::BytesView view = values[i];
        convert_values(leaf, reinterpret_cast<const uint8_t*>(&view), 1, out);
        EXPECT_EQ(base::load<int64_t>(out), expected[i]);
    }
}

TEST(Convert, BigEndianWidths) {
    uint8_t out[32];
    const uint8_t minus_two[] = {0xFE};
    EXPECT_TRUE(read_big_endian(minus_two, 1, 32, out));
    EXPECT_EQ(out[31], 0xFF);
    EXPECT_EQ(out[0], 0xFE);
    const uint8_t wide[] = {0x01, 0, 0, 0, 0};
    EXPECT_FALSE(read_big_endian(wide, 5, 4, out));
    EXPECT_TRUE(read_big_endian(wide, 5, 8, out));
}

int64_t to_timestamp(int64_t nanos, uint32_t day) {
    SchemaElement element;
    element.physical = static_cast<int32_t>(PhysicalType::kInt96);
    Bytes bytes;
    bytes.raw(nanos).raw(day);
    uint8_t out[8 + 64];
    convert_values(make_leaf_type(element), bytes.span().data(), 1, out);
    return base::load<int64_t>(out);
}

TEST(Convert, Int96) {
    constexpr uint32_t k1970 = 2440588;
    EXPECT_EQ(to_timestamp(0, k1970), 0);
    EXPECT_EQ(to_timestamp(1999, k1970), 1);
    // Half a second before 1970, as new and as old writers store it.
    EXPECT_EQ(to_timestamp(86'399'500'000'000, k1970 - 1), -500'000);
    EXPECT_EQ(to_timestamp(-500'000'000, k1970), -500'000);
    EXPECT_EQ(to_timestamp(-1, k1970), -1);
    EXPECT_EQ(to_timestamp(86'399'999'999'000, 5373484), 253402300799999999);  // 9999-12-31
    EXPECT_EQ(to_timestamp(0, 1721426), -62135596800000000);                    // 0001-01-01
    try {
        to_timestamp(0, 0xFFFFFFFF);
        ADD_FAILURE();
    } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::ErrorKind::kDatetimeRange);
    }
}

TEST(Convert, Booleans) {
    uint8_t bytes[21 + 8];
    for (int i = 0; i < 21; ++i) bytes[i] = i % 3 == 0;
    uint8_t bits[4] = {};
    pack_booleans(bytes, 21, bits, 5);
    for (int i = 0; i < 21; ++i) EXPECT_EQ(base::bit_at(bits, 5 + i), i % 3 == 0) << i;
}

TEST(Expand, PutsValuesWhereTheyBelong) {
    const uint8_t validity[] = {0b01101001, 0b1};
    for (const int width : {1, 2, 4, 8, 16, 3}) {
        std::vector<uint8_t> dense(static_cast<size_t>(width) * 8 + 16);
        for (size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<uint8_t>(i / static_cast<size_t>(width) + 1);
        std::vector<uint8_t> out(static_cast<size_t>(width) * 9 + 64, 0xEE);
        expand_slots(dense.data(), width, validity, 0, 9, out.data());
        const int expected[] = {1, 0, 0, 2, 0, 3, 4, 0, 5};
        for (int row = 0; row < 9; ++row) EXPECT_EQ(out[static_cast<size_t>(row * width)], expected[row]) << width;
    }
}

}  // namespace
}  // namespace loom::parquet
