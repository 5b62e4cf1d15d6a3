#include "format/parquet/stats/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

#include "format/parquet/stats/bloom_filter.h"
#include "format/parquet/stats/xxhash64.h"
#include "format/parquet/test/bytes.h"

namespace loom::parquet {
namespace {

template <typename T>
std::vector<uint8_t> plain(T value) {
    const auto* from = reinterpret_cast<const uint8_t*>(&value);
    return {from, from + sizeof value};
}

Leaf leaf_of(PhysicalType physical, ConvertedType converted = ConvertedType::kNone,
             int length = 0) {
    SchemaElement element;
    element.physical = static_cast<int32_t>(physical);
    element.converted = converted;
    element.type_length = length;
    element.precision = 18;
    Leaf leaf;
    leaf.type = make_leaf_type(element);
    return leaf;
}

struct Stated {
    std::vector<uint8_t> min, max;
    bool deprecated = false;
    std::optional<bool> exact;
};

format::ColumnStatistics use(const Leaf& leaf, const Stated& stated,
                             Footer::Order order = Footer::Order::kType) {
    ColumnChunk chunk;
    chunk.value_count = 100;
    (stated.deprecated ? chunk.statistics.min : chunk.statistics.min_value) = stated.min;
    (stated.deprecated ? chunk.statistics.max : chunk.statistics.max_value) = stated.max;
    chunk.statistics.min_exact = chunk.statistics.max_exact = stated.exact;
    return usable_statistics(leaf, order, chunk);
}

TEST(Statistics, Integers) {
    const auto bounds = use(leaf_of(PhysicalType::kInt32), {plain(-5), plain(7)});
    EXPECT_TRUE(bounds.min.integer == -5 && bounds.max.integer == 7);
    EXPECT_TRUE(bounds.min_exact && bounds.max_exact);
    EXPECT_EQ(bounds.null_count, -1);
    EXPECT_TRUE(use(leaf_of(PhysicalType::kInt64), {plain(int64_t{1}), plain(int64_t{2}), true})
                    .min.known());
    EXPECT_FALSE(
        use(leaf_of(PhysicalType::kInt32), {plain(int64_t{1}), plain(int64_t{2})}).min.known());
}

TEST(Statistics, Unsigned) {
    const Leaf leaf = leaf_of(PhysicalType::kInt32, ConvertedType::kUint32);
    EXPECT_TRUE(use(leaf, {plain(1U), plain(4000000000U)}).max.integer == 4000000000);
    // Written in signed order: min above max.
    EXPECT_FALSE(use(leaf, {plain(4000000000U), plain(1U)}).max.known());
    EXPECT_FALSE(use(leaf, {plain(1U), plain(2U), true}).max.known());
    EXPECT_FALSE(use(leaf, {plain(1U), plain(2U)}, Footer::Order::kUnstated).max.known());
}

TEST(Statistics, Floats) {
    const Leaf leaf = leaf_of(PhysicalType::kDouble);
    EXPECT_FALSE(use(leaf, {plain(NAN * 1.0), plain(1.0)}).min.known());
    const auto zero = use(leaf, {plain(0.0), plain(1.0)});
    EXPECT_EQ(zero.min.number, 0);
    EXPECT_FALSE(zero.min_exact);
    EXPECT_TRUE(zero.max_exact);
    EXPECT_EQ(zero.nan_count, -1);
}

TEST(Statistics, Bytes) {
    const Leaf text = leaf_of(PhysicalType::kByteArray, ConvertedType::kUtf8);
    EXPECT_FALSE(use(text, {{'a'}, {'b'}}).min_exact);
    EXPECT_TRUE(use(text, {{'a'}, {'b'}, false, true}).min_exact);
    EXPECT_FALSE(use(text, {{'a'}, {'b'}, true}).min.known());
    EXPECT_FALSE(use(text, {{'a'}, {'b'}}, Footer::Order::kUnstated).min.known());
    const Leaf decimal = leaf_of(PhysicalType::kFixedLenByteArray, ConvertedType::kDecimal, 3);
    const auto bounds = use(decimal, {{0xFF, 0xFF, 0xFE}, {0, 1, 0}});
    EXPECT_TRUE(bounds.min.integer == -2 && bounds.max.integer == 256);
    EXPECT_FALSE(use(decimal, {{0xFF, 0xFF, 0xFE}, {0, 1, 0}, true}).min.known());
    EXPECT_FALSE(
        use(leaf_of(PhysicalType::kInt96), {std::vector<uint8_t>(12), std::vector<uint8_t>(12)})
            .min.known());
}

TEST(XxHash64, KnownValues) {
    EXPECT_EQ(xxhash64(base::as_bytes("")), 0xEF46DB3751D8E999U);
    EXPECT_EQ(xxhash64(base::as_bytes("a")), 0xD24EC4F1A98C6E5BU);
    EXPECT_EQ(xxhash64(base::as_bytes("abc")), 0x44BC2CF5AD770999U);
    EXPECT_EQ(xxhash64(base::as_bytes("Nobody inspects the spammish repetition")),
              0xFBCEA83C8A378BF1U);
}

}  // namespace
}  // namespace loom::parquet
