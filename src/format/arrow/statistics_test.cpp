// Bounds: what foreign files say is widened, what pg_loom wrote is exact, and no value ever lies
// outside.

#include "format/arrow/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "format/arrow/batch_header.h"
#include "format/arrow/container.h"
#include "format/arrow/reader.h"
#include "format/arrow/source.h"
#include "format/arrow/test_columns.h"
#include "format/arrow/writer.h"

namespace loom::arrow {

using column::make_type;
using column::TypeId;
using format::ColumnStatistics;

namespace {

ColumnStatistics parse(std::string_view text, const column::DataType& type,
                       Trust trust = Trust::kForeign) {
    ColumnStatistics result;
    parse_min_max(text, type, trust, result);
    return result;
}

TEST(Statistics, ParsesIntegers) {
    const ColumnStatistics s = parse("-5,70", *make_type(TypeId::kInt32));
    EXPECT_EQ(s.min.integer, -5);
    EXPECT_EQ(s.max.integer, 70);
    EXPECT_FALSE(s.min_exact);
    EXPECT_TRUE(parse("-5,70", *make_type(TypeId::kInt32), Trust::kOwn).max_exact);
    EXPECT_EQ(parse("0,1", *make_type(TypeId::kBool)).max.integer, 1);
    EXPECT_EQ(parse("-5,x", *make_type(TypeId::kInt32)).min.integer, -5);
    EXPECT_FALSE(parse("-5,x", *make_type(TypeId::kInt32)).max.known());
}

TEST(Statistics, IgnoresWhatCannotBeABound) {
    for (const char* text : {"", "5", ",", "a,b", "70,-5", "300,400", "1 ,2 ", "0x1,0x2"}) {
        const ColumnStatistics s = parse(text, *make_type(TypeId::kInt8));
        EXPECT_FALSE(s.min.known() && s.max.known()) << text;
    }
    // PG-Strom takes unsigned for signed: a negative bound of an unsigned column means nothing.
    EXPECT_FALSE(parse("-1,5", *make_type(TypeId::kUInt64)).min.known());
}

TEST(Statistics, WidensFloats) {
    const ColumnStatistics small = parse("0.000000,0.000000", *make_type(TypeId::kFloat64));
    EXPECT_LT(small.min.number, -4e-7);
    EXPECT_GT(small.max.number, 4e-7);
    const ColumnStatistics large = parse("-1e300,1e300", *make_type(TypeId::kFloat64));
    EXPECT_LT(large.min.number, -1e300);
    EXPECT_GT(large.max.number, 1e300);
    EXPECT_FALSE(parse("nan,nan", *make_type(TypeId::kFloat64)).min.known());
    EXPECT_EQ(parse("-inf,inf", *make_type(TypeId::kFloat64)).max.number, INFINITY);
    EXPECT_EQ(parse("0.1,0.1", *make_type(TypeId::kFloat64), Trust::kOwn).min.number, 0.1);
}

TEST(Statistics, ParsesDecimalsByScale) {
    const auto type = column::make_decimal(12, 2);
    EXPECT_EQ(parse("-1.25,3", *type).min.integer, -125);
    EXPECT_EQ(parse("-1.25,3", *type).max.integer, 300);
    // More digits than the scale: outwards.
    EXPECT_EQ(parse("-1.251,1.251", *type).min.integer, -126);
    EXPECT_EQ(parse("-1.251,1.251", *type).max.integer, 126);
    EXPECT_EQ(parse("1.251,1.259", *type).min.integer, 125);
    EXPECT_FALSE(parse("1.2.3,4", *type).min.known());
    EXPECT_FALSE(parse("1e5,4", *type).min.known());
}

TEST(Statistics, TakesTextBoundsForPrefixes) {
    const ColumnStatistics s = parse("aa,bb", *make_type(TypeId::kUtf8));
    EXPECT_EQ(s.min.bytes, "aa");
    EXPECT_EQ(s.max.bytes, "bc");
    EXPECT_LT(std::string("bbzzzz"), s.max.bytes);
    EXPECT_FALSE(parse("a,\xFF\xFF", *make_type(TypeId::kUtf8)).max.known());
    EXPECT_EQ(after_prefix("a\xFF"), "b");
    EXPECT_EQ(after_prefix(""), "");
}

TEST(Statistics, ReadsOldLists) {
    ColumnStatistics s;
    parse_value_lists("1, 2,null", "4,5,null", 1, *make_type(TypeId::kInt32), s);
    EXPECT_EQ(s.min.integer, 2);
    EXPECT_EQ(s.max.integer, 5);
    ColumnStatistics unknown;
    for (int64_t batch : {2, 3, 100})
        parse_value_lists("1, 2,null", "4,5,null", batch, *make_type(TypeId::kInt32), unknown);
    EXPECT_FALSE(unknown.min.known() || unknown.max.known());
    ColumnStatistics unscaled;
    parse_value_lists("-125", "300", 0, *column::make_decimal(38, 2), unscaled);
    EXPECT_EQ(unscaled.min.integer, -125);
}

column::Field named(const char* name, column::TypePtr type, int dictionary = 0) {
    column::Field field;
    field.name = name;
    field.type = std::move(type);
    field.dictionary_index_width = static_cast<uint8_t>(dictionary);
    return field;
}

std::shared_ptr<io::File> written_file(const column::Schema& schema,
                                       std::vector<column::Column>& columns, bool stream = false,
                                       int64_t batch_rows = 1000) {
    std::string bytes;
    WriterOptions options;
    options.stream = stream;
    options.record_batch_rows = batch_rows;
    Writer writer(schema, options, io::memory_sink(&bytes));
    std::vector<column::ColumnView> views;
    for (column::Column& c : columns) views.push_back(c.view());
    writer.write(views, columns[0].length);
    writer.finish();
    return io::memory_file("test", bytes);
}

std::unique_ptr<format::TableReader> written(const column::Schema& schema,
                                             std::vector<column::Column>& columns,
                                             bool stream = false, int64_t batch_rows = 1000) {
    return open(written_file(schema, columns, stream, batch_rows), {});
}

TEST(Statistics, WriterBoundsAreExact) {
    column::Schema schema;
    schema.fields = {
        named("i", make_type(TypeId::kInt64)),   named("u", make_type(TypeId::kUInt64)),
        named("d", column::make_decimal(38, 3)), named("f", make_type(TypeId::kFloat32)),
        named("g", make_type(TypeId::kFloat64)), named("t", make_type(TypeId::kUtf8)),
        named("c", make_type(TypeId::kUtf8), 4)};
    std::vector<column::Column> columns;
    column::ColumnBuilder i(schema.fields[0].type), u(schema.fields[1].type),
        d(schema.fields[2].type), f(schema.fields[3].type), g(schema.fields[4].type),
        t(schema.fields[5].type), c(schema.fields[6].type);
    i.append(INT64_MIN), i.append(INT64_MAX), i.append_null();
    u.append(UINT64_MAX), u.append(uint64_t{1} << 63), u.append_null();
    d.append(column::Int128{-1}), d.append(column::Int128{1} << 120), d.append_null();
    f.append(0.1F), f.append(std::nanf("")), f.append(-3e-39F);
    g.append(1e-300), g.append(2.0 / 3), g.append_null();
    t.append_bytes("b"), t.append_bytes("a"), t.append_null();
    c.append_bytes("y"), c.append_bytes("x"), c.append_bytes("y");
    for (auto* builder : {&i, &u, &d, &f, &g, &t, &c}) columns.push_back(builder->finish());
    for (bool stream : {false, true}) {
        auto table = written(schema, columns, stream);
        EXPECT_EQ(table->statistics(0, 0).min.integer, INT64_MIN);
        EXPECT_EQ(table->statistics(0, 0).max.integer, INT64_MAX);
        EXPECT_EQ(table->statistics(0, 0).null_count, 1);
        EXPECT_EQ(table->statistics(0, 1).min.integer, column::Int128{1} << 63);
        EXPECT_EQ(table->statistics(0, 1).max.integer, UINT64_MAX);
        EXPECT_EQ(table->statistics(0, 2).min.integer, -1);
        EXPECT_EQ(table->statistics(0, 2).max.integer, column::Int128{1} << 120);
        EXPECT_EQ(table->statistics(0, 3).min.number, -3e-39F);
        EXPECT_EQ(table->statistics(0, 3).max.number, 0.1F);
        EXPECT_EQ(table->statistics(0, 3).nan_count, 1);
        EXPECT_EQ(table->statistics(0, 4).min.number, 1e-300);
        EXPECT_EQ(table->statistics(0, 4).max.number, 2.0 / 3);
        EXPECT_EQ(table->statistics(0, 4).nan_count, 0);
        EXPECT_EQ(table->statistics(0, 5).min.bytes, "a");
        EXPECT_EQ(table->statistics(0, 5).max.bytes, "b");
        EXPECT_EQ(table->statistics(0, 6).min.bytes, "x");
        EXPECT_EQ(table->statistics(0, 6).max.bytes, "y");
        for (int column = 0; column < 7; ++column) {
            EXPECT_TRUE(table->statistics(0, column).min_exact) << column;
            EXPECT_TRUE(table->statistics(0, column).max_exact) << column;
        }
        const std::string* list = table->schema().fields[0].find_metadata(kMinValuesKey);
        EXPECT_EQ(list != nullptr, !stream);
    }
}

TEST(Statistics, WriterCutsTextsSoundly) {
    const std::string umlauts = [] {
        std::string text;
        for (int i = 0; i < 40; ++i) text += "\xC3\xA4";
        return text;
    }();
    const std::string cases[] = {std::string(100, 'm'),
                                 "a,b",
                                 ",x",
                                 "+,",
                                 "~~,",
                                 umlauts,
                                 "zz,",
                                 "\x7F,",
                                 "\xED\x9F\xBF,",
                                 "\xF4\x8F\xBF\xBF,",
                                 "\xFF\xFF,",
                                 std::string(60, 'q'),
                                 std::string(59, 'q') + "\xC3\xA4"};
    for (const std::string& value : cases) {
        column::Schema schema;
        schema.fields = {named("t", make_type(TypeId::kUtf8))};
        column::ColumnBuilder builder(schema.fields[0].type);
        builder.append_bytes(value);
        std::vector<column::Column> columns;
        columns.push_back(builder.finish());
        auto table = written(schema, columns);
        const ColumnStatistics s = table->statistics(0, 0);
        if (s.min.known()) {
            EXPECT_LE(s.min.bytes, value);
        }
        if (s.max.known()) {
            EXPECT_GE(s.max.bytes, value);
        }
        EXPECT_EQ(s.min_exact, s.min.bytes == value && s.min.known()) << value;
        EXPECT_EQ(s.max_exact, s.max.bytes == value && s.max.known()) << value;
        EXPECT_LE(s.max.bytes.size(), kMaxTextBound);
    }
}

TEST(Statistics, DuplicateNamesHaveNone) {
    column::Schema schema;
    schema.fields = {named("x", make_type(TypeId::kInt32)), named("x", make_type(TypeId::kInt32))};
    std::vector<column::Column> columns;
    for (uint64_t seed : {1U, 2U})
        columns.push_back(testing::random_column(schema.fields[0].type, 10, 0, seed));
    auto table = written(schema, columns);
    EXPECT_FALSE(table->statistics(0, 0).min.known());
    EXPECT_EQ(table->statistics(0, 0).null_count, 0);
}

// The place of a key in one batch is a guess in the next, which may have other keys.
TEST(Statistics, KeysAreFoundWhateverTheGuess) {
    column::Schema schema;
    std::vector<column::Column> columns;
    for (const char* name : {"a", "b", "c"}) {
        schema.fields.push_back(named(name, make_type(TypeId::kFloat64)));
        columns.push_back(testing::random_column(schema.fields.back().type, 10, 0, columns.size()));
    }
    const Source source(written_file(schema, columns), nullptr);
    const Container container = read_container(source, nullptr);
    const std::vector<column::KeyValue> pairs =
        BatchHeader(source, container.batches[0].place).all_metadata();
    ASSERT_EQ(pairs.size(), 6U);
    for (uint32_t first = 0; first <= pairs.size(); ++first) {
        // The look-ups of one header go from reading in place to a map.
        const BatchHeader header(source, container.batches[0].place);
        for (size_t i = 0; i < 2 * pairs.size(); ++i) {
            const column::KeyValue& pair = pairs[i % pairs.size()];
            uint32_t guess = first;
            EXPECT_EQ(header.metadata(pair.key, &guess), pair.value) << pair.key;
        }
    }
    const BatchHeader header(source, container.batches[0].place);
    uint32_t guess = std::numeric_limits<uint32_t>::max();
    EXPECT_EQ(header.metadata(pairs[3].key, &guess), pairs[3].value);
    EXPECT_EQ(guess, 3U);
    EXPECT_FALSE(header.metadata("min_max_stats.d", &guess));
    EXPECT_EQ(guess, 3U);
}

TEST(Statistics, EveryBatchHasItsOwn) {
    column::Schema schema;
    schema.fields = {named("x", make_type(TypeId::kInt32))};
    column::ColumnBuilder builder(schema.fields[0].type);
    for (int32_t i = 0; i < 100; ++i) i < 20 || i >= 30 ? builder.append(i) : builder.append_null();
    std::vector<column::Column> columns;
    columns.push_back(builder.finish());
    auto table = written(schema, columns, false, 10);
    ASSERT_EQ(table->row_group_count(), 10);
    for (int64_t group = 0; group < 10; ++group) {
        const ColumnStatistics s = table->statistics(group, 0);
        EXPECT_EQ(s.min.known(), group != 2);
        EXPECT_EQ(s.null_count, group == 2 ? 10 : 0);
        if (group != 2) {
            EXPECT_EQ(s.min.integer, group * 10);
        }
        if (group != 2) {
            EXPECT_EQ(s.max.integer, group * 10 + 9);
        }
    }
    EXPECT_EQ(*table->schema().fields[0].find_metadata("min_values"),
              "0,10,null,30,40,50,60,70,80,90");
}

}  // namespace

}  // namespace loom::arrow
