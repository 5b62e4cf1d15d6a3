// Pieces of the writer against what the format's documents say, byte by byte.

#include <gtest/gtest.h>

#include "format/parquet/write/bounds.h"
#include "format/parquet/write/encode.h"
#include "format/parquet/write/rle.h"
#include "format/parquet/write/thrift_writer.h"

namespace loom::parquet::write {
namespace {

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return text;
}

TEST(Rle, PacksAsTheExampleOfTheFormat) {
    // Encodings.md: 0 to 7 in 3 bits are 10001000 11000110 11111010.
    const std::vector<uint32_t> values = {0, 1, 2, 3, 4, 5, 6, 7};
    std::string out;
    append_rle(std::span<const uint32_t>(values), 3, out);
    EXPECT_EQ(hex(out), "0388c6fa");
}

TEST(Rle, WritesLongRunsOnceAndShortOnesPacked) {
    std::vector<uint32_t> values(1000, 5);
    std::string out;
    append_rle(std::span<const uint32_t>(values), 9, out);
    EXPECT_EQ(hex(out), "d00f0500");
    // Three values, then a run: the packed group before it must be full.
    values.assign({1, 2, 3});
    values.insert(values.end(), 100, 7);
    out.clear();
    append_rle(std::span<const uint32_t>(values), 8, out);
    EXPECT_EQ(hex(out), "030102030707070707be0107");
}

TEST(Delta, MatchesTheExamplesOfTheFormat) {
    // Encodings.md: 1 to 5 have deltas of 1 only; width 0 in all miniblocks.
    const std::vector<int32_t> values = {1, 2, 3, 4, 5};
    std::string out;
    append_deltas(values.data(), 5, out);
    EXPECT_EQ(hex(out),
              "8001"
              "04"
              "05"
              "02"
              "02"
              "00000000");
}

TEST(Thrift, WritesFieldsAndLists) {
    std::string out;
    ThriftWriter thrift(&out);
    thrift.begin_root();
    thrift.field_i32(1, 3);
    thrift.field_bool(2, true);
    thrift.begin_list(20, ThriftType::kI32, 2);
    thrift.element_integer(-1);
    thrift.element_integer(300);
    thrift.end_struct();
    EXPECT_EQ(hex(out),
              "1506"
              "11"
              "0928"
              "25"
              "01"
              "d804"
              "00");
}

Leaf leaf_of(const column::DataType& type) {
    Leaf leaf;
    leaf.type = &type;
    leaf.physical = PhysicalType::kByteArray;
    leaf.order = Order::kBytes;
    return leaf;
}

TEST(Bounds, RaisesTextByCharacters) {
    const auto type = column::make_type(column::TypeId::kUtf8);
    const Leaf leaf = leaf_of(*type);
    auto upper = [&](const std::string& text, size_t limit) {
        return upper_bound(leaf, text, limit).bytes;
    };
    EXPECT_EQ(upper("abcdef", 3), "abd");
    EXPECT_EQ(upper("ab", 3), "ab");
    EXPECT_EQ(upper("aé€", 3), "aê");                      // U+00E9 -> U+00EA
    EXPECT_EQ(upper("a\x7f\x7fxyz", 3), "a\x7f\xc2\x80");  // U+007F -> U+0080
    EXPECT_EQ(upper("\xed\x9f\xbf"
                    "abc",
                    3),
              "\xee\x80\x80");  // U+D7FF -> U+E000
    EXPECT_EQ(upper("a\xf4\x8f\xbf\xbf"
                    "b",
                    5),
              "b");  // U+10FFFF can't be raised
    const std::string highest = "\xf4\x8f\xbf\xbf\xf4\x8f\xbf\xbf";
    EXPECT_EQ(upper(highest, 4), highest);
    EXPECT_TRUE(upper_bound(leaf, highest, 4).exact);
    // Bytes that are no UTF-8 are dropped, which is still an upper bound.
    EXPECT_EQ(upper("ab\xff\xff\xff", 3), "ac");
    EXPECT_EQ(lower_bound(leaf, "aé€", 2).bytes, "a");
}

TEST(Bounds, RaisesBinaryByBytes) {
    const auto type = column::make_type(column::TypeId::kBinary);
    const Leaf leaf = leaf_of(*type);
    EXPECT_EQ(upper_bound(leaf,
                          "ab\xff\xff"
                          "c",
                          4)
                  .bytes,
              "ac");
    EXPECT_EQ(upper_bound(leaf, "\xff\xff\xff", 2).bytes, "\xff\xff\xff");
}

}  // namespace
}  // namespace loom::parquet::write
