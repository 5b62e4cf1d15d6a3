#include "column/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "column/calendar_text.h"
#include "column/column.h"

namespace loom::column {

namespace {

std::string number(double value) {
    std::string text;
    append_float(value, text);
    return text;
}

std::string timestamp(int64_t value, TimeUnit unit, bool zone = false) {
    std::string text;
    append_timestamp(value, unit, zone, text);
    return text;
}

std::string interval(int32_t months, int32_t days, int64_t nanoseconds) {
    std::string text;
    append_interval(months, days, nanoseconds, text);
    return text;
}

Field member(const char* name, TypePtr type) {
    Field field;
    field.name = name;
    field.type = std::move(type);
    return field;
}

TEST(Text, Floats) {
    EXPECT_EQ(number(1), "1.0");
    EXPECT_EQ(number(-0.0), "-0.0");
    EXPECT_EQ(number(0.1), "0.1");
    EXPECT_EQ(number(1e15), "1000000000000000.0");
    EXPECT_EQ(number(1e16), "1e+16");
    EXPECT_EQ(number(1e-5), "1e-05");
    EXPECT_EQ(number(INFINITY), "inf");
    EXPECT_EQ(number(-INFINITY), "-inf");
    EXPECT_EQ(number(NAN), "nan");
    EXPECT_EQ(half_to_float(0x3C00), 1.0F);
    EXPECT_EQ(half_to_float(0x8001), -std::ldexp(1.0F, -24));
    EXPECT_EQ(half_to_float(0x7C00), INFINITY);
    EXPECT_TRUE(std::isnan(half_to_float(0x7E00)));
}

TEST(Text, Timestamps) {
    EXPECT_EQ(timestamp(0, TimeUnit::kSecond), "1970-01-01 00:00:00");
    EXPECT_EQ(timestamp(-1, TimeUnit::kMicro, true), "1969-12-31 23:59:59.999999+00");
    EXPECT_EQ(timestamp(951'827'696'789, TimeUnit::kMilli), "2000-02-29 12:34:56.789");
    EXPECT_EQ(timestamp(-62'135'596'801, TimeUnit::kSecond), "0001-12-31 (BC) 23:59:59");
    for (TimeUnit unit : {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
        // No overflow at the ends (checked by the sanitizers).
        timestamp(std::numeric_limits<int64_t>::min(), unit);
        timestamp(std::numeric_limits<int64_t>::max(), unit);
    }
    EXPECT_EQ(timestamp(std::numeric_limits<int64_t>::min(), TimeUnit::kNano),
              "1677-09-21 00:12:43.145224192");
}

TEST(Text, Intervals) {
    EXPECT_EQ(interval(0, 0, 0), "00:00:00");
    EXPECT_EQ(interval(14, 3, 14'706'789'000'000), "1 year 2 months 3 days 04:05:06.789");
    EXPECT_EQ(interval(-1, -1, -1'000'000'000), "-1 month -1 day -00:00:01");
}

TEST(Text, DecimalsOfEveryWidth) {
    auto decimal = [](int precision, int scale, auto value) {
        ColumnBuilder builder(make_decimal(precision, scale, sizeof value));
        builder.append(value);
        Column column = builder.finish();
        std::string text;
        append_text(column.view(), 0, {}, text);
        return text;
    };
    EXPECT_EQ(decimal(9, 2, int32_t{-5}), "-0.05");
    EXPECT_EQ(decimal(18, 0, int64_t{12}), "12");
    EXPECT_EQ(decimal(2, 2, int32_t{25}), ".25");
    EXPECT_EQ(decimal(38, 3, -(__int128{1} << 126)), "-85070591730234615865843651857942052.864");
    struct Wide {
        uint64_t words[4];
    };
    EXPECT_EQ(decimal(76, 1, Wide{{0, 0, 1, 0}}), "34028236692093846346337460743176821145.6");
    EXPECT_EQ(decimal(76, 0, Wide{{~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}}}), "-1");
}

TEST(Text, NestedValues) {
    const TypePtr text = make_type(TypeId::kUtf8);
    ColumnBuilder builder(make_struct(
        {member("a", make_list(member("item", text))),
         member("b", make_map(member("key", text), member("value", make_type(TypeId::kInt32))))}));
    for (const char* value : {"x", "", "null", "a,b", "it's", " y", "\\N"})
        builder.child(0).child(0).append_bytes(value);
    builder.child(0).child(0).append_null();
    builder.child(0).append_nested();
    builder.child(1).child(0).child(0).append_bytes("k");
    builder.child(1).child(0).child(1).append(int32_t{7});
    builder.child(1).child(0).append_nested();
    builder.child(1).append_nested();
    builder.append_nested();
    Column column = builder.finish();
    std::string out;
    append_text(column.view(), 0, {}, out);
    EXPECT_EQ(out, R"({'a': [x, '', 'null', 'a,b', 'it\'s', ' y', \N, NULL], 'b': {k=7}})");
    out.clear();
    append_json(column.view(), 0, {}, out);
    EXPECT_EQ(out, R"({"a":["x","","null","a,b","it's"," y","\\N",null],"b":[["k",7]]})");
}

TEST(Text, JsonReplacesWhatIsNoUtf8) {
    std::string out;
    append_json_string("a\"\n\xC3\xA4\xFF\xED\xA0\x80", out);
    EXPECT_EQ(out, "\"a\\\"\\u000a\xC3\xA4\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(Text, BinaryForms) {
    ColumnBuilder builder(make_type(TypeId::kBinary));
    builder.append_bytes(std::string("a\x01\\", 3));
    Column column = builder.finish();
    std::string plain, hex;
    append_text(column.view(), 0, {}, plain);
    append_text(column.view(), 0, {.hex_binary = true}, hex);
    EXPECT_EQ(plain, R"(a\x01\x5C)");
    EXPECT_EQ(hex, "61015C");
}

}  // namespace

}  // namespace loom::column
