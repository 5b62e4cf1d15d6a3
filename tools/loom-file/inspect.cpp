// schema, meta and row-groups.

#include <algorithm>

#include <fmt/format.h>

#include "column/scalar.h"
#include "column/text.h"
#include "commands.h"

namespace loom::file_tool {

using column::Field;
using column::Scalar;
using column::TypeId;

namespace {

const char* storage_name(column::Storage storage) {
    switch (storage) {
        case column::Storage::kDefault:
            return "";
        case column::Storage::kLarge:
            return ", large offsets";
        case column::Storage::kView:
            return ", views";
        case column::Storage::kRunEnd:
            return ", run-end encoded";
    }
    return "";
}

void print_field(const Field& field, int depth) {
    fmt::print("{:{}}{}  {}{}{}", "", depth * 2, field.name, column::to_string(*field.type),
               field.nullable ? "" : " not null", storage_name(field.storage));
    if (field.dictionary_index_width != 0)
        fmt::print(", dictionary with {}-byte indices", field.dictionary_index_width);
    fmt::print("\n");
    for (const column::KeyValue& entry : field.metadata)
        fmt::print("{:{}}  {} = {}\n", "", depth * 2, entry.key, entry.value);
    for (const Field& child : field.type->children) print_field(child, depth + 1);
}

std::string shown(const column::DataType& type, const Scalar& value) {
    std::string text;
    switch (value.kind) {
        case Scalar::Kind::kNone:
            return "?";
        case Scalar::Kind::kFloat:
            column::append_float(value.number, text);
            return text;
        case Scalar::Kind::kBytes:
            if (type.id == TypeId::kUtf8) {
                column::append_json_string(value.bytes, text);
                return text;
            }
            for (char c : value.bytes)
                fmt::format_to(std::back_inserter(text), "{:02X}", static_cast<uint8_t>(c));
            return text;
        case Scalar::Kind::kInt:
            break;
    }
    // Integers in the column's own unit: print them through a view of one row of its type.
    if (type.id == TypeId::kBool) return value.integer != 0 ? "true" : "false";
    const int32_t width = column::byte_width(type);
    uint8_t bytes[32] = {};
    base::store(bytes, value.integer);
    if (width == 32 && value.integer < 0) std::fill(bytes + 16, bytes + 32, uint8_t{0xFF});
    column::ColumnView view;
    view.type = &type;
    view.length = 1;
    view.values = bytes;
    column::append_text(view, 0, {}, text);
    return text;
}

std::string shown_count(int64_t count) {
    return count < 0 ? "?" : fmt::format("{}", count);
}

void print_statistics(const format::TableReader& table, int64_t row_group) {
    const std::vector<Field>& fields = table.schema().fields;
    for (size_t i = 0; i < fields.size(); ++i) {
        const format::ColumnStatistics s = table.statistics(row_group, static_cast<int>(i));
        if (!s.min.known() && !s.max.known() && s.null_count < 0) continue;
        fmt::print("  {}: min {}{}, max {}{}, nulls {}", fields[i].name,
                   shown(*fields[i].type, s.min), s.min.known() && !s.min_exact ? " or more" : "",
                   shown(*fields[i].type, s.max), s.max.known() && !s.max_exact ? " or less" : "",
                   shown_count(s.null_count));
        if (s.nan_count >= 0) fmt::print(", NaNs {}", s.nan_count);
        if (s.distinct_count >= 0) fmt::print(", distinct {}", s.distinct_count);
        fmt::print("\n");
    }
}

}  // namespace

void print_schema(const format::TableReader& table) {
    for (const Field& field : table.schema().fields) print_field(field, 0);
}

void print_metadata(const format::TableReader& table) {
    fmt::print("format: {}\nbytes: {}\nrows: {}\nrow groups: {}\ncolumns: {}\n",
               table.format_name(), table.file().size(), table.row_count(), table.row_group_count(),
               table.schema().fields.size());
    for (const column::KeyValue& entry : table.schema().metadata)
        fmt::print("{} = {}\n", entry.key, entry.value);
}

void print_row_groups(const format::TableReader& table) {
    for (int64_t group = 0; group < table.row_group_count(); ++group) {
        fmt::print("row group {}: {} rows\n", group, table.row_group_rows(group));
        for (const column::KeyValue& entry : table.row_group_metadata(group))
            fmt::print("  {} = {}\n", entry.key, entry.value);
        for (const format::ChunkInfo& chunk : table.chunks(group)) {
            fmt::print("  {}  {}, {}, {}: {} bytes at {}", chunk.path, chunk.type, chunk.encodings,
                       chunk.codec, chunk.compressed_bytes, chunk.offset);
            if (chunk.uncompressed_bytes != chunk.compressed_bytes)
                fmt::print(" ({} uncompressed)", chunk.uncompressed_bytes);
            fmt::print(", {} values{}{}{}\n", chunk.values,
                       chunk.has_dictionary ? ", dictionary" : "",
                       chunk.has_page_index ? ", page index" : "",
                       chunk.has_bloom_filter ? ", Bloom filter" : "");
        }
        print_statistics(table, group);
    }
}

}  // namespace loom::file_tool
