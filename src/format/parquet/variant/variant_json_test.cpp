#include "format/parquet/variant/variant_json.h"

#include <cmath>

#include <gtest/gtest.h>

#include "format/parquet/test/bytes.h"
#include "format/parquet/variant/variant_value.h"

namespace loom::parquet {
namespace {

using test::Bytes;

// Metadata with the names a, bc.
Bytes names() {
    return Bytes{0x01, 2, 0, 1, 3, 'a', 'b', 'c'};
}

std::string json(Bytes value) {
    Bytes metadata = names();
    const VariantMetadata parsed(metadata.span());
    JsonText out;
    append_variant(parsed, value.span(), 0, out);
    return out.take();
}

TEST(Variant, Primitives) {
    EXPECT_EQ(json({0x00}), "null");
    EXPECT_EQ(json({0x04}), "true");
    EXPECT_EQ(json({0x0C, 0xDE}), "-34");
    EXPECT_EQ(json(Bytes{0x1C}.raw(14.3)), "14.3");
    EXPECT_EQ(json(Bytes{0x1C}.raw(-HUGE_VAL)), "\"-Infinity\"");
    EXPECT_EQ(json(Bytes{0x20, 4}.raw(int32_t{-123456789})), "-12345.6789");
    EXPECT_EQ(json(Bytes{0x20, 4}.raw(int32_t{5})), "0.0005");
    EXPECT_EQ(json(Bytes{0x2C}.raw(int32_t{-4438})), "\"1957-11-07\"");
    EXPECT_EQ(json(Bytes{0x30}.raw(int64_t{-1})), "\"1969-12-31T23:59:59.999999+00:00\"");
    EXPECT_EQ(json(Bytes{0x3C}.raw(4U).text("abcd")), "\"YWJjZA==\"");
    EXPECT_EQ(json({0x0D, 'a', '"', '\n'}), "\"a\\\"\\u000a\"");
}

TEST(Variant, Containers) {
    // [true, null] and {"bc": [1], "a": "x"}
    EXPECT_EQ(json({0x03, 2, 0, 1, 2, 0x04, 0x00}), "[true,null]");
    EXPECT_EQ(json({0x02, 2, 1, 0, 0, 6, 8, 0x03, 1, 0, 2, 0x0C, 1, 0x05, 'x'}),
              "{\"bc\":[1],\"a\":\"x\"}");
    EXPECT_EQ(json({0x02, 0, 0}), "{}");
}

TEST(Variant, RefusesDamage) {
    for (const Bytes& value :
         {Bytes{}, Bytes{0x0C}, Bytes{0x0D, 'a'}, Bytes{0x03, 200, 0}, Bytes{0x03, 1, 5, 1, 0},
          Bytes{0x02, 1, 7, 0, 1, 0}, Bytes{0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0}})
        EXPECT_THROW(json(value), base::Error);
    Bytes metadata{0x02, 0, 0};
    EXPECT_THROW(VariantMetadata(metadata.span()), base::Error);
}

TEST(Variant, SharedPartsCantExplode) {
    // Arrays of 200 elements that are all the same, nested: 200^n values in n * 200 bytes.
    std::string value(1, '\0');
    for (int level = 0; level < 5; ++level) {
        Bytes outer{0x03 | 1 << 2, 200};
        for (int i = 0; i < 200; ++i) outer.raw(uint16_t{0});
        outer.raw(static_cast<uint16_t>(value.size())).text(value);
        value = base::as_text(outer.span());
    }
    EXPECT_THROW(json(Bytes{}.text(value)), base::Error);
}

}  // namespace
}  // namespace loom::parquet
