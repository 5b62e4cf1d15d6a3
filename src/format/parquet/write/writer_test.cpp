// Writes files and reads them back with the project's own reader.

#include "format/parquet/write/writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "column/column.h"
#include "format/parquet/reader.h"
#include "format/parquet/test/value_text.h"

namespace loom::parquet {
namespace {

using column::Column;
using column::ColumnBuilder;
using column::ColumnView;
using column::Field;
using column::make_type;
using column::Scalar;
using column::Schema;
using column::TypeId;
using column::TypePtr;

Field field(std::string name, TypePtr type, bool nullable = true) {
    Field result;
    result.name = std::move(name);
    result.type = std::move(type);
    result.nullable = nullable;
    return result;
}

Schema one_column(TypePtr type, bool nullable = true) {
    Schema schema;
    schema.fields = {field("x", std::move(type), nullable)};
    return schema;
}

std::string write_file(const Schema& schema, const WriterOptions& options,
                       std::span<const ColumnView> views, int64_t rows) {
    std::string bytes;
    Writer writer(schema, options, io::memory_sink(&bytes));
    writer.write(views, rows);
    writer.finish();
    return bytes;
}

std::string write_one(Column& values, const WriterOptions& options = {}, bool nullable = true) {
    const ColumnView view = values.view();
    return write_file(one_column(values.type, nullable), options, {&view, 1}, values.length);
}

std::unique_ptr<format::TableReader> open_bytes(std::string bytes) {
    format::OpenOptions options;
    options.verify_checksums = true;
    return open(io::memory_file("test.parquet", std::move(bytes)), options);
}

// All rows of a column as text.
std::string read_back(const format::TableReader& table, int column) {
    std::string text;
    for (int64_t group = 0; group < table.row_group_count(); ++group) {
        const auto reader = table.open_column(group, column, {});
        const int64_t rows = table.row_group_rows(group);
        for (int64_t row = 0; row < rows; row += 1000) {
            const ColumnView view = reader->read(row, std::min<int64_t>(1000, rows - row));
            for (int64_t i = 0; i < view.length; ++i) test::append_value(view, i, text);
        }
    }
    return text;
}

std::string text_of(const ColumnView& view) {
    std::string text;
    for (int64_t i = 0; i < view.length; ++i) test::append_value(view, i, text);
    return text;
}

// Rows of fixed-width or byte values; `distinct` limits their variety.
Column random_column(const TypePtr& type, int64_t rows, uint64_t distinct, double nulls) {
    std::mt19937_64 random(7);
    ColumnBuilder builder(type);
    for (int64_t row = 0; row < rows; ++row) {
        if (static_cast<double>(random() % 1000) < nulls * 1000) {
            builder.append_null();
            continue;
        }
        const uint64_t draw = distinct == 0 ? random() : random() % distinct;
        std::mt19937_64 value(draw);
        if (type->id == TypeId::kBool) {
            builder.append_bool(value() % 2 == 0);
        } else if (column::is_bytes(type->id)) {
            builder.append_bytes(std::to_string(value() >> value() % 64));
        } else {
            std::vector<uint64_t> words(8);
            for (uint64_t& word : words) word = value();
            // Decimals must keep within their digits.
            if (type->id == TypeId::kDecimal) {
                const uint64_t unscaled = value() % 100'000'000;
                const bool negative = value() % 2 == 0;
                words.assign(8, negative ? ~uint64_t{0} : 0);
                words[0] = negative ? ~unscaled : unscaled;
            }
            builder.append_fixed(words.data(), byte_width(*type));
        }
    }
    return builder.finish();
}

std::vector<TypePtr> exact_types() {
    return {make_type(TypeId::kBool),
            make_type(TypeId::kInt8),
            make_type(TypeId::kInt16),
            make_type(TypeId::kInt32),
            make_type(TypeId::kInt64),
            make_type(TypeId::kUInt8),
            make_type(TypeId::kUInt16),
            make_type(TypeId::kUInt32),
            make_type(TypeId::kUInt64),
            make_type(TypeId::kFloat16),
            make_type(TypeId::kFloat32),
            make_type(TypeId::kFloat64),
            column::make_decimal(9, 2),
            column::make_decimal(18, 4),
            column::make_decimal(38, 0),
            column::make_decimal(76, 10),
            column::make_timestamp(column::TimeUnit::kNano, "UTC"),
            make_type(TypeId::kUtf8),
            make_type(TypeId::kBinary),
            column::make_fixed_binary(5),
            column::make_fixed_binary(16)};
}

TEST(ParquetWriter, RoundTripsFlatTypes) {
    for (const TypePtr& type : exact_types())
        for (const uint64_t distinct : {0, 5, 700})
            for (const double nulls : {0.0, 0.3, 1.0})
                for (const int version : {1, 2}) {
                    SCOPED_TRACE(fmt::format("{} distinct {} nulls {} version {}",
                                             column::to_string(*type), distinct, nulls, version));
                    Column values = random_column(type, 7'001, distinct, nulls);
                    WriterOptions options;
                    options.row_group_rows = 3'000;
                    options.page_rows = 700;
                    options.page_version = version;
                    options.checksums = true;
                    const auto table = open_bytes(write_one(values, options));
                    ASSERT_EQ(table->row_count(), values.length);
                    ASSERT_EQ(table->row_group_count(), 3);
                    EXPECT_TRUE(column::equal(*table->schema().fields[0].type, *type));
                    ASSERT_EQ(read_back(*table, 0), text_of(values.view()));
                }
}

TEST(ParquetWriter, RoundTripsEveryEncodingThatATypeAllows) {
    for (const TypePtr& type : exact_types())
        for (const ValueEncoding encoding :
             {ValueEncoding::kPlain, ValueEncoding::kRle, ValueEncoding::kDeltaBinaryPacked,
              ValueEncoding::kDeltaLengthByteArray, ValueEncoding::kDeltaByteArray,
              ValueEncoding::kByteStreamSplit})
            for (const int version : {1, 2})
                for (const int64_t rows : {1, 2, 31, 32, 33, 34, 128, 129, 130, 5'000}) {
                    SCOPED_TRACE(fmt::format("{} encoding {} version {} rows {}",
                                             column::to_string(*type), static_cast<int>(encoding),
                                             version, rows));
                    Column values = random_column(type, rows, 0, 0.1);
                    WriterOptions options;
                    options.page_version = version;
                    options.columns["x"].encoding = encoding;
                    std::string bytes;
                    try {
                        bytes = write_one(values, options);
                    } catch (const base::Error& error) {
                        EXPECT_EQ(error.kind(), base::ErrorKind::kBadOption);
                        continue;
                    }
                    ASSERT_EQ(read_back(*open_bytes(bytes), 0), text_of(values.view()));
                }
}

TEST(ParquetWriter, RoundTripsEveryCodec) {
    for (const char* name : {"none", "snappy", "gzip", "brotli", "zstd", "lz4_raw", "lz4_hadoop"})
        for (const int version : {1, 2}) {
            SCOPED_TRACE(fmt::format("{} version {}", name, version));
            Column values = random_column(make_type(TypeId::kUtf8), 9'000, 0, 0.1);
            WriterOptions options;
            options.codec = codec::parse_codec(name);
            options.page_version = version;
            options.page_rows = 1'000;
            const auto table = open_bytes(write_one(values, options));
            ASSERT_EQ(read_back(*table, 0), text_of(values.view()));
        }
}

// A list of structs of a text and a list; every shape of NULL and empty among the rows.
TEST(ParquetWriter, RoundTripsNestedTypes) {
    const TypePtr inner = column::make_list(field("element", make_type(TypeId::kInt32)));
    const TypePtr pair =
        column::make_struct({field("name", make_type(TypeId::kUtf8)), field("numbers", inner)});
    const TypePtr type = column::make_list(field("element", pair));
    std::mt19937 random(3);
    ColumnBuilder rows(type);
    for (int row = 0; row < 6'000; ++row) {
        if (random() % 7 == 0) {
            rows.append_null();
            continue;
        }
        ColumnBuilder& element = rows.child(0);
        for (uint32_t i = random() % 4; i != 0; --i) {
            if (random() % 7 == 0) {
                element.append_null();
                continue;
            }
            random() % 5 == 0 ? element.child(0).append_null()
                              : element.child(0).append_bytes(std::to_string(random() % 30));
            ColumnBuilder& numbers = element.child(1);
            if (random() % 5 == 0) {
                numbers.append_null();
            } else {
                for (uint32_t k = random() % 3; k != 0; --k)
                    random() % 4 == 0
                        ? numbers.child(0).append_null()
                        : numbers.child(0).append(static_cast<int32_t>(random() % 1000));
                numbers.append_nested();
            }
            element.append_nested();
        }
        rows.append_nested();
    }
    Column values = rows.finish();
    for (const int version : {1, 2}) {
        WriterOptions options;
        options.page_version = version;
        options.row_group_rows = 2'500;
        options.page_rows = 300;
        const auto table = open_bytes(write_one(values, options));
        ASSERT_EQ(read_back(*table, 0), text_of(values.view()));
    }
}

// Batches of any size, cut by row groups, give the same file.
TEST(ParquetWriter, DoesNotDependOnBatchesOrThreads) {
    Column values = random_column(make_type(TypeId::kInt32), 20'000, 300, 0.1);
    const ColumnView whole = values.view();
    WriterOptions options;
    options.row_group_rows = 7'000;
    const std::string once =
        write_file(one_column(values.type), options, {&whole, 1}, whole.length);
    options.threads = 3;
    std::string pieces;
    Writer writer(one_column(values.type), options, io::memory_sink(&pieces));
    for (int64_t begin = 0; begin < whole.length; begin += 1'000) {
        ColumnView piece = whole;
        piece.length = 1'000;
        piece.values = whole.as<int32_t>() + begin;
        piece.validity = whole.validity + begin / 8;  // 1,000 rows are 125 whole bytes
        piece.null_count = -1;
        writer.write({&piece, 1}, piece.length);
    }
    writer.finish();
    EXPECT_EQ(once, pieces);
}

TEST(ParquetWriter, TakesDictionariesAndRuns) {
    Column entries = random_column(make_type(TypeId::kUtf8), 50, 0, 0.1);  // some entries are NULL
    Column coded(entries.type);
    coded.encoding = column::Encoding::kDictionary;
    coded.code_width = 2;
    coded.length = 9'000;
    coded.values.resize(2 * coded.length);
    for (int64_t row = 0; row < coded.length; ++row)
        coded.values.as<uint16_t>()[row] = static_cast<uint16_t>(row * row % 50);
    coded.dictionary.values = entries.view();
    coded.dictionary.version = column::next_dictionary_version();
    for (const bool dictionary : {true, false}) {
        WriterOptions options;
        options.dictionary = dictionary;
        const auto table = open_bytes(write_one(coded, options));
        EXPECT_EQ(table->chunks(0)[0].has_dictionary, dictionary);
        ASSERT_EQ(read_back(*table, 0), text_of(coded.view()));
    }

    Column runs(make_type(TypeId::kInt64));
    runs.encoding = column::Encoding::kRuns;
    runs.length = 300;
    runs.run_count = 3;
    runs.values.resize(3 * sizeof(int64_t));
    runs.run_ends.resize(3 * sizeof(int32_t));
    for (int i = 0; i < 3; ++i) {
        runs.values.as<int64_t>()[i] = 10 * i;
        runs.run_ends.as<int32_t>()[i] = 100 * (i + 1);
    }
    runs.null_count = 0;
    ASSERT_EQ(read_back(*open_bytes(write_one(runs)), 0), text_of(runs.view()));
}

TEST(ParquetWriter, WritesFilesWithoutRows) {
    Column nothing = ColumnBuilder(make_type(TypeId::kInt32)).finish();
    const auto table = open_bytes(write_one(nothing));
    EXPECT_EQ(table->row_count(), 0);
    EXPECT_EQ(table->row_group_count(), 0);
}

template <typename T>
Column column_of(TypeId id, std::initializer_list<T> values) {
    ColumnBuilder builder(make_type(id));
    for (const T value : values) builder.append(value);
    return builder.finish();
}

TEST(ParquetWriter, LeavesNanOutOfBoundsAndSignsZeros) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const bool dictionary : {true, false}) {
        WriterOptions options;
        options.dictionary = dictionary;
        Column mixed = column_of<double>(TypeId::kFloat64, {nan, 3, -2, nan, 1, 3, -2});
        format::ColumnStatistics bounds = open_bytes(write_one(mixed, options))->statistics(0, 0);
        EXPECT_EQ(bounds.min.number, -2);
        EXPECT_EQ(bounds.max.number, 3);
        Column zeros = column_of<double>(TypeId::kFloat64, {0.0, 0.0, -0.0});
        bounds = open_bytes(write_one(zeros, options))->statistics(0, 0);
        EXPECT_TRUE(std::signbit(bounds.min.number));
        EXPECT_FALSE(std::signbit(bounds.max.number));
        Column nans = column_of<double>(TypeId::kFloat64, {nan, nan});
        const auto table = open_bytes(write_one(nans, options));
        EXPECT_FALSE(table->statistics(0, 0).min.known());
        EXPECT_EQ(read_back(*table, 0), text_of(nans.view()));
    }
}

TEST(ParquetWriter, OrdersBoundsByType) {
    auto bounds_of = [](Column column) { return open_bytes(write_one(column))->statistics(0, 0); };
    auto unsigned_bounds = bounds_of(column_of<uint32_t>(TypeId::kUInt32, {1, 0xffffffff, 7}));
    EXPECT_EQ(static_cast<int64_t>(unsigned_bounds.min.integer), 1);
    EXPECT_EQ(static_cast<int64_t>(unsigned_bounds.max.integer), 0xffffffff);
    auto signed_bounds = bounds_of(column_of<int32_t>(TypeId::kInt32, {1, -1, 7}));
    EXPECT_EQ(static_cast<int64_t>(signed_bounds.min.integer), -1);
    ColumnBuilder decimals(column::make_decimal(38, 2));
    for (const column::Int128 value : {5, -700, 300, -2}) decimals.append(value);
    auto decimal_bounds = bounds_of(decimals.finish());
    EXPECT_EQ(static_cast<int64_t>(decimal_bounds.min.integer), -700);
    EXPECT_EQ(static_cast<int64_t>(decimal_bounds.max.integer), 300);
}

TEST(ParquetWriter, CutsLongBounds) {
    ColumnBuilder texts(make_type(TypeId::kUtf8));
    texts.append_bytes(std::string(100, 'a'));
    texts.append_bytes(std::string(63, 'z') + "é" + std::string(50, 'q'));
    Column column = texts.finish();
    const auto bounds = open_bytes(write_one(column))->statistics(0, 0);
    EXPECT_EQ(bounds.min.bytes, std::string(64, 'a'));
    EXPECT_FALSE(bounds.min_exact);
    // The é does not fit; the z before it is raised.
    EXPECT_EQ(bounds.max.bytes, std::string(62, 'z') + "{");
    EXPECT_FALSE(bounds.max_exact);
}

TEST(ParquetWriter, IndexesPages) {
    ColumnBuilder builder(make_type(TypeId::kInt32));
    for (int32_t row = 0; row < 1000; ++row)
        row / 100 == 3 ? builder.append_null() : builder.append(row);
    Column column = builder.finish();
    WriterOptions options;
    options.page_rows = 100;
    const auto pages = open_bytes(write_one(column, options))->page_statistics(0, 0);
    ASSERT_EQ(pages.size(), 10);
    for (int64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(pages[i].first_row, 100 * i);
        EXPECT_EQ(pages[i].row_count, 100);
        EXPECT_EQ(pages[i].statistics.null_count, i == 3 ? 100 : 0);
        if (i != 3) {
            EXPECT_EQ(static_cast<int64_t>(pages[i].statistics.min.integer), 100 * i);
            EXPECT_EQ(static_cast<int64_t>(pages[i].statistics.max.integer), 100 * i + 99);
        }
    }
}

TEST(ParquetWriter, FiltersByBloom) {
    for (const bool dictionary : {true, false}) {
        ColumnBuilder builder(make_type(TypeId::kUtf8));
        for (int row = 0; row < 5000; ++row)
            builder.append_bytes(fmt::format("key{}", row % 1000 * 3));
        Column column = builder.finish();
        WriterOptions options;
        options.columns["x"].bloom_filter = true;
        options.columns["x"].dictionary = dictionary;
        const auto table = open_bytes(write_one(column, options));
        int false_positives = 0;
        for (int key = 0; key < 3000; ++key) {
            const bool found =
                table->may_contain(0, 0, Scalar::of_bytes(fmt::format("key{}", key)));
            if (key % 3 == 0) {
                EXPECT_TRUE(found) << key;
            }
            false_positives += key % 3 != 0 && found;
        }
        EXPECT_LT(false_positives, 60);  // 1% of 2,000 are wanted
    }
}

TEST(ParquetWriter, KeepsMetadata) {
    Column column = column_of<int32_t>(TypeId::kInt32, {1});
    Schema schema = one_column(column.type);
    schema.metadata = {{"from", "schema"}};
    WriterOptions options;
    options.metadata = {{"from", "options"}};
    const ColumnView view = column.view();
    const auto table = open_bytes(write_file(schema, options, {&view, 1}, 1));
    const std::vector<column::KeyValue> expected = {{"from", "schema"}, {"from", "options"}};
    EXPECT_EQ(table->schema().metadata, expected);
}

template <typename Action>
base::Error error_of(Action action) {
    try {
        action();
    } catch (const base::Error& error) {
        return error;
    }
    ADD_FAILURE() << "no error";
    return {base::ErrorKind::kBug, ""};
}

TEST(ParquetWriter, NamesTheColumnThatCannotBeWritten) {
    auto create = [](const Schema& schema, const WriterOptions& options = {}) {
        std::string bytes;
        Writer writer(schema, options, io::memory_sink(&bytes));
    };
    column::DataType unions;
    unions.id = TypeId::kSparseUnion;
    unions.children = {field("a", make_type(TypeId::kInt32))};
    const auto union_type = std::make_shared<const column::DataType>(unions);
    const base::Error error =
        error_of([&] { create(one_column(column::make_list(field("element", union_type)))); });
    EXPECT_EQ(error.kind(), base::ErrorKind::kUnsupported);
    EXPECT_NE(error.message().find("x.list.element"), std::string::npos) << error.message();
    EXPECT_EQ(error_of([&] { create(one_column(column::make_struct({}))); }).kind(),
              base::ErrorKind::kUnsupported);
    EXPECT_EQ(error_of([&] { create(one_column(column::make_decimal(5, -2))); }).kind(),
              base::ErrorKind::kUnsupported);
    WriterOptions unknown;
    unknown.columns["y"].dictionary = false;
    EXPECT_EQ(error_of([&] { create(one_column(make_type(TypeId::kInt32)), unknown); }).kind(),
              base::ErrorKind::kBadName);
}

TEST(ParquetWriter, RefusesColumnsOfAnotherType) {
    Column column = column_of<int64_t>(TypeId::kInt64, {1});
    const ColumnView view = column.view();
    const base::Error error = error_of([&] {
        write_file(one_column(make_type(TypeId::kInt32)), {}, {&view, 1}, 1);
    });
    EXPECT_EQ(error.kind(), base::ErrorKind::kBug);
    // A dictionary of nested values.
    ColumnBuilder lists(column::make_list(field("element", make_type(TypeId::kInt32))));
    lists.append_nested();
    Column entries = lists.finish();
    Column coded(entries.type);
    coded.encoding = column::Encoding::kDictionary;
    coded.code_width = 1;
    coded.length = 1;
    coded.values.resize(1);
    coded.values.data()[0] = 0;
    coded.dictionary.values = entries.view();
    coded.dictionary.version = column::next_dictionary_version();
    EXPECT_EQ(error_of([&] { write_one(coded); }).kind(), base::ErrorKind::kUnsupported);
}

TEST(ParquetWriter, RefusesValuesThatTheFileCannotHold) {
    struct MonthDayNano {
        int32_t months, days;
        int64_t nanos;
    };
    ColumnBuilder builder(make_type(TypeId::kIntervalMonthDayNano));
    builder.append(MonthDayNano{1, 2, 1'500});
    Column interval = builder.finish();
    const base::Error error = error_of([&] { write_one(interval); });
    EXPECT_EQ(error.kind(), base::ErrorKind::kValueRange);
    EXPECT_NE(error.where().find("\"x\""), std::string::npos);
    ColumnBuilder nulls(make_type(TypeId::kInt32));
    nulls.append_null();
    Column column = nulls.finish();
    EXPECT_EQ(error_of([&] { write_one(column, {}, false); }).kind(),
              base::ErrorKind::kTypeMismatch);
}

}  // namespace
}  // namespace loom::parquet
