// Columns of variants in files, as the reader hands them out: JSON texts.

#include <functional>

#include <gtest/gtest.h>

#include "column/column.h"
#include "column/text.h"
#include "format/parquet/reader.h"
#include "format/parquet/write/writer.h"

namespace loom::parquet {
namespace {

using column::ColumnBuilder;
using column::Field;
using column::TypeId;
using column::TypePtr;
using namespace std::string_literals;

const std::string kMetadata = "\x01\x02\x00\x01\x02"s + "ab";  // the names a and b
const std::string kNull("\0", 1);
const std::string kSeven = "\x0C\x07";
const std::string kText = "\x09hi";
const std::string kObjectWithB = "\x02\x01\x01\x00\x02\x0C\x05"s;  // {"b": 5}

Field field(std::string name, TypePtr type, bool nullable = true) {
    Field result;
    result.name = std::move(name);
    result.type = std::move(type);
    result.nullable = nullable;
    return result;
}

TypePtr variant_of(std::vector<Field> parts) {
    return with_annotation(*column::make_struct(std::move(parts)), column::Annotation::kVariant);
}

TypePtr plain_variant() {
    return variant_of({field("metadata", column::make_type(TypeId::kBinary), false),
                       field("value", column::make_type(TypeId::kBinary))});
}

// An object whose field a is shredded as int32.
TypePtr shredded_variant() {
    const TypePtr a =
        column::make_struct({field("value", column::make_type(TypeId::kBinary)),
                             field("typed_value", column::make_type(TypeId::kInt32))});
    return variant_of({field("metadata", column::make_type(TypeId::kBinary), false),
                       field("value", column::make_type(TypeId::kBinary)),
                       field("typed_value", column::make_struct({field("a", a, false)}))});
}

void add_plain(ColumnBuilder& variant, std::string_view value) {
    variant.child(0).append_bytes(kMetadata);
    variant.child(1).append_bytes(value);
    variant.append_nested();
}

void add_null(ColumnBuilder& variant) {
    variant.append_null();
}

// Writes one column and opens the file.
std::unique_ptr<format::TableReader> file_of(const TypePtr& type,
                                             const std::function<void(ColumnBuilder&)>& fill) {
    ColumnBuilder builder(type);
    fill(builder);
    column::Column built = builder.finish();
    column::Schema schema;
    schema.fields.push_back(field("v", type));
    std::string bytes;
    Writer writer(schema, {}, io::memory_sink(&bytes));
    const column::ColumnView view = built.view();
    writer.write({&view, 1}, built.length);
    writer.finish();
    return open(io::memory_file("variants.parquet", std::move(bytes)), {});
}

std::string json_of(const column::ColumnView& view) {
    std::string text;
    for (int64_t row = 0; row < view.length; ++row) {
        if (row != 0) text += '|';
        if (view.type->id == TypeId::kUtf8 && view.is_null(row))
            text += "NULL";
        else
            column::append_json(view, row, {}, text);
    }
    return text;
}

std::string all_rows(const format::TableReader& file) {
    return json_of(file.open_column(0, 0, {})->read(0, file.row_count()));
}

TEST(VariantColumn, IsText) {
    const auto file = file_of(plain_variant(), [](ColumnBuilder& rows) {
        add_plain(rows, kSeven);
        add_null(rows);
        add_plain(rows, kNull);
        add_plain(rows, kText);
    });
    const column::DataType& type = *file->schema().fields[0].type;
    EXPECT_EQ(type.id, TypeId::kUtf8);
    EXPECT_EQ(type.annotation, column::Annotation::kVariant);
    EXPECT_TRUE(file->schema().fields[0].nullable);
    EXPECT_EQ(all_rows(*file), "7|NULL|null|\"hi\"");
    EXPECT_EQ(file->statistics(0, 0).null_count, -1);
    EXPECT_GT(file->column_bytes(0, 0), 0U);
    const uint16_t selection[] = {1, 3};
    EXPECT_EQ(json_of(file->open_column(0, 0, {})->gather(0, 4, selection)), "NULL|\"hi\"");
}

TEST(VariantColumn, Shredded) {
    const auto file = file_of(shredded_variant(), [](ColumnBuilder& rows) {
        auto add = [&](bool has_a, bool has_rest) {
            rows.child(0).append_bytes(kMetadata);
            if (has_rest)
                rows.child(1).append_bytes(kObjectWithB);
            else
                rows.child(1).append_null();
            ColumnBuilder& a = rows.child(2).child(0);
            a.child(0).append_null();
            if (has_a)
                a.child(1).append(int32_t{3});
            else
                a.child(1).append_null();
            a.append_nested();
            rows.child(2).append_nested();
            rows.append_nested();
        };
        add(true, true);
        add(true, false);
        add(false, true);
        add_null(rows);
    });
    EXPECT_EQ(all_rows(*file), "{\"a\":3,\"b\":5}|{\"a\":3}|{\"b\":5}|NULL");
}

TEST(VariantColumn, InsideOthers) {
    const auto lists =
        file_of(column::make_list(field("element", plain_variant())), [](ColumnBuilder& rows) {
            add_plain(rows.child(0), kSeven);
            add_null(rows.child(0));
            add_plain(rows.child(0), kNull);
            rows.append_nested();
            rows.append_null();
            rows.append_nested();
            add_plain(rows.child(0), kText);
            rows.append_nested();
        });
    EXPECT_EQ(all_rows(*lists), "[7,null,null]|null|[]|[\"hi\"]");
    const TypePtr member = column::make_struct(
        {field("n", column::make_type(TypeId::kInt32)), field("v", plain_variant())});
    const auto structs = file_of(member, [](ColumnBuilder& rows) {
        rows.child(0).append(int32_t{1});
        add_plain(rows.child(1), kObjectWithB);
        rows.append_nested();
        rows.append_null();
        rows.child(0).append(int32_t{2});
        add_null(rows.child(1));
        rows.append_nested();
    });
    EXPECT_EQ(all_rows(*structs), "{\"n\":1,\"v\":{\"b\":5}}|null|{\"n\":2,\"v\":null}");
}

TEST(VariantColumn, ErrorsNameThePlace) {
    const auto file =
        file_of(plain_variant(), [](ColumnBuilder& rows) { add_plain(rows, "\x0C"); });
    try {
        all_rows(*file);
        FAIL();
    } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::ErrorKind::kCorrupt);
        EXPECT_EQ(error.where(), "file \"variants.parquet\", row group 0, column \"v\"");
    }
}

TEST(VariantColumn, GroupWithoutMetadataIsAStruct) {
    const auto file = file_of(variant_of({field("x", column::make_type(TypeId::kInt32))}),
                              [](ColumnBuilder& rows) {
                                  rows.child(0).append(int32_t{1});
                                  rows.append_nested();
                              });
    EXPECT_EQ(column::to_string(*file->schema().fields[0].type), "struct<x: int32>");
}

}  // namespace
}  // namespace loom::parquet
