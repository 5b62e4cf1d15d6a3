#include "column/column.h"

#include <limits>

#include <gtest/gtest.h>

#include "column/scalar.h"

namespace loom::column {
namespace {

TEST(DataType, PrintsAndCompares) {
    TypePtr map = make_map({"key", make_type(TypeId::kUtf8)}, {"value", make_decimal(12, 2)});
    EXPECT_EQ(to_string(*map), "map<key: utf8, value: decimal(12,2)>");
    EXPECT_TRUE(
        equal(*map, *make_map({"k", make_type(TypeId::kUtf8)}, {"v", make_decimal(12, 2)})) ==
        false);  // struct member names count, inside a map too
    EXPECT_EQ(make_decimal(39, 0)->byte_width8, 32);
    EXPECT_EQ(to_string(*with_annotation(*make_fixed_binary(16), Annotation::kUuid)),
              "uuid:fixed_binary(16)");
}

TEST(ColumnBuilder, BuildsListsOfText) {
    ColumnBuilder builder(make_list({"element", make_type(TypeId::kUtf8)}));
    builder.child(0).append_bytes("a");
    builder.child(0).append_null();
    builder.append_nested();
    builder.append_null();
    builder.append_nested();
    Column column = builder.finish();
    ColumnView view = column.view();
    ASSERT_EQ(view.length, 3);
    EXPECT_EQ(view.null_count, 1);
    EXPECT_TRUE(view.is_null(1));
    EXPECT_EQ(view.offsets[1], 2);
    EXPECT_EQ(view.offsets[3], 2);
    EXPECT_EQ(view.children[0].as<BytesView>()[0].text(), "a");
    EXPECT_TRUE(view.children[0].is_null(1));
}

TEST(ToPlain, DecodesDictionaryAndRuns) {
    ColumnBuilder words(make_type(TypeId::kUtf8));
    words.append_bytes("x");
    words.append_null();
    words.append_bytes("yy");
    Column entries = words.finish();
    Dictionary dictionary{next_dictionary_version(), entries.view()};

    const uint8_t codes[] = {2, 0, 1, 2};
    const uint8_t valid[] = {0b0111};
    ColumnView view;
    view.type = entries.type.get();
    view.encoding = Encoding::kDictionary;
    view.code_width = 1;
    view.length = 4;
    view.values = codes;
    view.validity = valid;
    view.dictionary = &dictionary;
    Column scratch;
    ColumnView plain = to_plain(view, scratch);
    EXPECT_EQ(plain.null_count, 2);
    EXPECT_EQ(plain.as<BytesView>()[0].text(), "yy");
    EXPECT_EQ(plain.as<BytesView>()[1].text(), "x");
    EXPECT_TRUE(plain.is_null(2));
    EXPECT_TRUE(plain.is_null(3));

    const int32_t ends[] = {3, 5};
    const uint8_t run_codes[] = {0, 2};
    view.encoding = Encoding::kRuns;
    view.values = run_codes;
    view.validity = nullptr;
    view.length = 5;
    view.run_count = 2;
    view.run_ends = ends;
    plain = to_plain(view, scratch);
    EXPECT_EQ(plain.as<BytesView>()[2].text(), "x");
    EXPECT_EQ(plain.as<BytesView>()[4].text(), "yy");
}

TEST(Scalar, OrdersAsPostgres) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(compare(Scalar::of_float(0.0), Scalar::of_float(-0.0)), 0);
    EXPECT_GT(compare(Scalar::of_float(nan), Scalar::of_float(1e308)), 0);
    EXPECT_EQ(compare(Scalar::of_float(nan), Scalar::of_float(-nan)), 0);
    EXPECT_LT(compare(Scalar::of_bytes("a"), Scalar::of_bytes("\xff")), 0);
    Int128 big = (Int128{1} << 126) + 12345;
    EXPECT_EQ(parse_int128(to_string(-big)), -big);
    EXPECT_FALSE(parse_int128("12x"));
    EXPECT_FALSE(parse_int128("999999999999999999999999999999999999999999"));
}

}  // namespace
}  // namespace loom::column
