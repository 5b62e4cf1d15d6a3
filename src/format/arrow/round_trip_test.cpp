// What the writer writes, the reader reads, for every type and layout.

#include <cstring>

#include <gtest/gtest.h>

#include "base/bitmap.h"
#include "format/arrow/reader.h"
#include "format/arrow/test_columns.h"
#include "format/arrow/writer.h"

namespace loom::arrow {

using column::Column;
using column::ColumnView;
using column::Encoding;
using column::Field;
using column::make_type;
using column::Storage;
using column::TimeUnit;
using column::TypeId;
using column::TypePtr;

namespace {

Field field(std::string name, TypePtr type, Storage storage = Storage::kDefault, int width = 0) {
    Field result;
    result.name = std::move(name);
    result.type = std::move(type);
    result.storage = storage;
    result.dictionary_index_width = static_cast<uint8_t>(width);
    return result;
}

TypePtr make_union(TypeId id) {
    auto type = std::make_shared<column::DataType>();
    type->id = id;
    type->children = {field("i", make_type(TypeId::kInt32)), field("s", make_type(TypeId::kUtf8)),
                      field("l", column::make_list(field("item", make_type(TypeId::kInt16))))};
    type->type_codes = {5, 0, 127};
    return type;
}

std::vector<TypePtr> flat_types() {
    std::vector<TypePtr> types;
    for (int id = static_cast<int>(TypeId::kBool); id <= static_cast<int>(TypeId::kFloat64); ++id)
        types.push_back(make_type(static_cast<TypeId>(id)));
    for (int digits : {9, 18, 38, 76}) types.push_back(column::make_decimal(digits, 2));
    for (TimeUnit unit : {TimeUnit::kSecond, TimeUnit::kMilli, TimeUnit::kMicro, TimeUnit::kNano}) {
        types.push_back(column::make_time(unit));
        types.push_back(column::make_timestamp(unit));
        types.push_back(column::make_timestamp(unit, "Europe/Berlin"));
        types.push_back(column::make_duration(unit));
    }
    for (TypeId id :
         {TypeId::kDate32, TypeId::kDate64, TypeId::kIntervalMonths, TypeId::kIntervalDayTime,
          TypeId::kIntervalMonthDayNano, TypeId::kUtf8, TypeId::kBinary})
        types.push_back(make_type(id));
    for (int width : {0, 1, 5, 16}) types.push_back(column::make_fixed_binary(width));
    return types;
}

column::Schema every_layout() {
    column::Schema schema;
    auto add = [&](TypePtr type, Storage storage = Storage::kDefault, int width = 0) {
        std::string name = fmt::format("{} {} {} {}", schema.fields.size(),
                                       column::to_string(*type), static_cast<int>(storage), width);
        schema.fields.push_back(field(std::move(name), std::move(type), storage, width));
    };
    add(make_type(TypeId::kNull));
    for (const TypePtr& type : flat_types()) add(type);
    for (TypeId id : {TypeId::kUtf8, TypeId::kBinary})
        for (Storage storage : {Storage::kLarge, Storage::kView, Storage::kRunEnd})
            add(make_type(id), storage);
    const TypePtr text = make_type(TypeId::kUtf8);
    for (int width : {1, 2, 4, 8}) {
        // Three letters, up to 40 long: too many for one byte.
        if (width > 1) add(text, Storage::kDefault, width);
        add(make_type(TypeId::kBool), Storage::kDefault, width);
    }
    add(text, Storage::kView, 4);
    add(text, Storage::kRunEnd, 4);
    add(make_type(TypeId::kInt64), Storage::kRunEnd);
    add(make_type(TypeId::kBool), Storage::kRunEnd);
    const Field item = field("item", make_type(TypeId::kInt32));
    const Field coded = field("item", text, Storage::kDefault, 4);
    for (Storage storage : {Storage::kDefault, Storage::kLarge, Storage::kView}) {
        add(column::make_list(item), storage);
        add(column::make_list(coded), storage);
    }
    add(column::make_list(field("item", make_type(TypeId::kNull))));
    add(column::make_list(field("item", text, Storage::kRunEnd)));
    add(column::make_fixed_list(item, 3));
    add(column::make_fixed_list(item, 0));
    add(column::make_struct({item, coded, field("b", make_type(TypeId::kBool))}));
    add(column::make_struct({}));
    add(column::make_map(field("key", text), field("value", make_type(TypeId::kInt32))));
    add(column::make_map(coded, field("value", column::make_list(coded), Storage::kLarge)));
    add(make_union(TypeId::kSparseUnion));
    add(make_union(TypeId::kDenseUnion));
    add(column::make_list(
        field("item", column::make_struct({field("u", make_union(TypeId::kDenseUnion))}))));
    add(column::make_list(item), Storage::kDefault, 4);
    add(column::make_struct({coded, item}), Storage::kDefault, 4);
    return schema;
}

struct Case {
    int64_t rows;
    double nulls;
    bool stream;
    codec::Codec codec;
};

std::string write_file(const column::Schema& schema, std::vector<Column>& columns, const Case& c,
                       int64_t batch_rows) {
    std::string bytes;
    WriterOptions options;
    options.stream = c.stream;
    options.codec = c.codec;
    options.record_batch_rows = batch_rows;
    Writer writer(schema, options, io::memory_sink(&bytes));
    std::vector<ColumnView> views;
    for (Column& column : columns) views.push_back(column.view());
    writer.write(views, c.rows);
    writer.finish();
    return bytes;
}

std::vector<std::string> read_column(const format::TableReader& table, int column,
                                     const format::ReadOptions& options, int64_t step) {
    std::vector<std::string> rows;
    for (int64_t group = 0; group < table.row_group_count(); ++group) {
        auto reader = table.open_column(group, column, options);
        const int64_t count = table.row_group_rows(group);
        for (int64_t row = 0; row < count; row += step)
            testing::append_rows(reader->read(row, std::min(step, count - row)), rows);
    }
    return rows;
}

class RoundTrip : public ::testing::TestWithParam<Case> {};

TEST_P(RoundTrip, KeepsEveryValue) {
    const Case c = GetParam();
    const column::Schema schema = every_layout();
    std::vector<Column> columns;
    for (size_t i = 0; i < schema.fields.size(); ++i)
        columns.push_back(testing::random_column(schema.fields[i].type, c.rows, c.nulls, i + 1));
    const std::string bytes = write_file(schema, columns, c, 2500);
    auto table = open(io::memory_file("test", bytes), {});
    ASSERT_EQ(table->row_count(), c.rows);
    for (size_t i = 0; i < columns.size(); ++i) {
        SCOPED_TRACE(schema.fields[i].name);
        const Field& read = table->schema().fields[i];
        EXPECT_EQ(read.name, schema.fields[i].name);
        EXPECT_TRUE(column::equal(*read.type, *schema.fields[i].type));
        EXPECT_EQ(read.storage, schema.fields[i].storage);
        EXPECT_EQ(read.dictionary_index_width, schema.fields[i].dictionary_index_width);
        std::vector<std::string> expected;
        testing::append_rows(columns[i].view(), expected);
        const int index = static_cast<int>(i);
        EXPECT_EQ(read_column(*table, index, {}, 1000), expected);
        EXPECT_EQ(read_column(*table, index, {.rows = {}, .keep_runs = true}, 777), expected);
        EXPECT_EQ(read_column(*table, index, {.rows = {}, .decode_dictionary = true}, 4096),
                  expected);
    }
}

std::vector<Case> cases() {
    std::vector<Case> result;
    for (int64_t rows : {0, 1, 4095, 4096, 4097})
        for (double nulls : {0.0, 0.3})
            for (bool stream : {false, true})
                for (codec::Codec codec :
                     {codec::Codec::kNone, codec::Codec::kLz4Frame, codec::Codec::kZstd})
                    result.push_back({rows, nulls, stream, codec});
    result.push_back({600, 1.0, false, codec::Codec::kNone});
    return result;
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip, ::testing::ValuesIn(cases()));

// One column written from the encodings of another file, and rows picked out.
TEST(RoundTrip, TakesOverEncodings) {
    column::Schema schema;
    schema.fields = {field("d", make_type(TypeId::kUtf8), Storage::kDefault, 2),
                     field("r", make_type(TypeId::kInt32), Storage::kRunEnd),
                     field("rd", make_type(TypeId::kUtf8), Storage::kRunEnd, 4)};
    std::vector<Column> columns;
    for (const Field& f : schema.fields)
        columns.push_back(testing::random_column(f.type, 5000, 0.2, 7));
    const Case plain{5000, 0, false, codec::Codec::kNone};
    auto table = open(io::memory_file("test", write_file(schema, columns, plain, 2000)), {});
    std::string copy;
    WriterOptions options;
    options.record_batch_rows = 1234;
    Writer writer(schema, options, io::memory_sink(&copy));
    for (int64_t group = 0; group < table->row_group_count(); ++group) {
        std::vector<std::unique_ptr<format::ColumnReader>> readers;
        for (int i = 0; i < 3; ++i)
            readers.push_back(table->open_column(group, i, {.rows = {}, .keep_runs = true}));
        const int64_t rows = table->row_group_rows(group);
        for (int64_t row = 0; row < rows; row += 700) {
            const int64_t count = std::min<int64_t>(700, rows - row);
            std::vector<ColumnView> views;
            for (auto& reader : readers) views.push_back(reader->read(row, count));
            EXPECT_EQ(views[0].encoding, Encoding::kDictionary);
            EXPECT_EQ(views[1].encoding, Encoding::kRuns);
            EXPECT_EQ(views[2].encoding, Encoding::kRuns);
            EXPECT_NE(views[2].dictionary, nullptr);
            writer.write(views, count);
        }
    }
    writer.finish();
    auto again = open(io::memory_file("copy", copy), {});
    for (size_t i = 0; i < columns.size(); ++i) {
        std::vector<std::string> expected;
        testing::append_rows(columns[i].view(), expected);
        EXPECT_EQ(read_column(*again, static_cast<int>(i), {}, 4096), expected);
    }
}

TEST(RoundTrip, GathersRows) {
    const column::Schema schema = every_layout();
    std::vector<Column> columns;
    for (size_t i = 0; i < schema.fields.size(); ++i)
        columns.push_back(testing::random_column(schema.fields[i].type, 3000, 0.2, i + 5));
    const Case c{3000, 0, false, codec::Codec::kNone};
    auto table = open(io::memory_file("test", write_file(schema, columns, c, 3000)), {});
    std::vector<uint16_t> selection;
    for (uint16_t i = 0; i < 1500; i = static_cast<uint16_t>(i + 1 + i % 7)) selection.push_back(i);
    for (size_t i = 0; i < columns.size(); ++i) {
        SCOPED_TRACE(schema.fields[i].name);
        std::vector<std::string> all, got, expected;
        testing::append_rows(columns[i].view(), all);
        for (uint16_t row : selection) expected.push_back(all[501U + row]);
        for (bool keep_runs : {false, true}) {
            auto reader =
                table->open_column(0, static_cast<int>(i), {.rows = {}, .keep_runs = keep_runs});
            got.clear();
            testing::append_rows(reader->gather(501, 1500, selection), got);
            EXPECT_EQ(got, expected);
        }
    }
}

TEST(Writer, KeepsMetadataAndExtensions) {
    column::Schema schema;
    Field f = field(
        "u", column::with_annotation(*column::make_fixed_binary(16), column::Annotation::kUuid));
    f.nullable = false;
    f.metadata = {{"k", "v"}, {"min_values", "1"}};
    schema.fields.push_back(f);
    schema.metadata = {{"a", "b"}};
    std::string bytes;
    WriterOptions options;
    options.metadata = {{"c", "d"}};
    Writer writer(schema, options, io::memory_sink(&bytes));
    writer.finish();
    auto table = open(io::memory_file("test", bytes), {});
    const Field& read = table->schema().fields[0];
    EXPECT_EQ(read.type->annotation, column::Annotation::kUuid);
    EXPECT_FALSE(read.nullable);
    EXPECT_EQ(*read.find_metadata("k"), "v");
    EXPECT_EQ(read.find_metadata("min_values"), nullptr);
    EXPECT_EQ(table->schema().metadata[0], (column::KeyValue{"a", "b"}));
    EXPECT_EQ(table->schema().metadata[1], (column::KeyValue{"c", "d"}));
}

// Bytes of a file are what readers hand out, for all that is held as fixed widths.
TEST(RawColumns, AreWhatIsRead) {
    const column::Schema schema = every_layout();
    std::vector<Column> columns;
    for (const Field& f : schema.fields)
        columns.push_back(testing::random_column(f.type, 300, 0.2, 9));
    for (const bool stream : {false, true}) {
        const Case c{300, 0.2, stream, codec::Codec::kNone};
        const std::string bytes = write_file(schema, columns, c, 130);
        const auto table = open(io::memory_file("test", bytes), {});
        const auto* file = reinterpret_cast<const uint8_t*>(bytes.data());
        int found = 0;
        for (int64_t group = 0; group < table->row_group_count(); ++group)
            for (int i = 0; i < static_cast<int>(schema.fields.size()); ++i) {
                const auto raw = table->raw_column(group, i);
                if (!raw) continue;
                SCOPED_TRACE(schema.fields[static_cast<size_t>(i)].name);
                ++found;
                const int64_t rows = table->row_group_rows(group);
                const auto reader = table->open_column(group, i, {});
                const ColumnView view = reader->read(0, rows);
                const uint8_t* values = file + raw->values.offset;
                const bool codes = raw->shape == format::RawColumn::Shape::kCodes;
                EXPECT_EQ(codes, view.encoding == Encoding::kDictionary);
                for (int64_t row = 0; row < rows; ++row) {
                    const bool null = raw->validity.length != 0 &&
                                      !base::bit_at(file + raw->validity.offset, row);
                    ASSERT_EQ(null, view.is_null(row));
                    if (null) continue;
                    if (raw->shape == format::RawColumn::Shape::kBits) {
                        EXPECT_EQ(base::bit_at(values, row), base::bit_at(view.as<uint8_t>(), row));
                    } else if (codes) {
                        uint64_t code = 0;
                        std::memcpy(&code, values + row * raw->width,
                                    static_cast<size_t>(raw->width));
                        EXPECT_EQ(code, view.code(row));
                    } else {
                        EXPECT_EQ(std::memcmp(values + row * raw->width,
                                              view.as<uint8_t>() + row * raw->width,
                                              static_cast<size_t>(raw->width)),
                                  0);
                    }
                }
            }
        EXPECT_GT(found, 3 * 30);
    }
    const Case packed{300, 0.2, false, codec::Codec::kZstd};
    const auto table = open(io::memory_file("test", write_file(schema, columns, packed, 130)), {});
    for (int i = 0; i < static_cast<int>(schema.fields.size()); ++i)
        EXPECT_FALSE(table->raw_column(0, i).has_value());
}

TEST(Writer, RefusesNarrowDictionaries) {
    column::Schema schema;
    schema.fields = {field("d", make_type(TypeId::kInt32), Storage::kDefault, 1)};
    column::ColumnBuilder builder(schema.fields[0].type);
    for (int32_t i = 0; i < 129; ++i) builder.append(i);
    Column column = builder.finish();
    std::string bytes;
    Writer writer(schema, {}, io::memory_sink(&bytes));
    const ColumnView view = column.view();
    EXPECT_THROW(writer.write({&view, 1}, 129), base::Error);
}

TEST(Writer, AlignsBuffersInTheFile) {
    column::Schema schema;
    schema.fields = {field("i", make_type(TypeId::kInt32)), field("s", make_type(TypeId::kUtf8))};
    std::vector<Column> columns;
    for (const Field& f : schema.fields)
        columns.push_back(testing::random_column(f.type, 100, 0.1, 3));
    const Case c{100, 0, false, codec::Codec::kNone};
    auto table = open(io::memory_file("test", write_file(schema, columns, c, 40)), {});
    EXPECT_EQ(table->row_group_count(), 3);
    for (int64_t group = 0; group < 3; ++group)
        for (const format::ChunkInfo& chunk : table->chunks(group))
            EXPECT_EQ(chunk.offset % 64, 0U);
}

}  // namespace

}  // namespace loom::arrow
