// loom-roundtrip DIRECTORY: writes each case as CASE.parquet or CASE.arrow with its expected rows
// in CASE.jsonl, and the list of all in cases.json.

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cases.h"
#include "format/arrow/writer.h"
#include "format/parquet/write/writer.h"
#include "values.h"

namespace loom::roundtrip {
namespace {

namespace fs = std::filesystem;

/// Rows of a case in batches, with the JSON lines that describe them.
struct Rows {
    std::vector<std::vector<column::Column>> batches;
    std::string json;
};

Rows make_rows(const Case& test) {
    Rows rows;
    Source source;
    source.nulls = test.nulls;
    source.variety = test.variety;
    for (int64_t begin = 0; begin < test.rows; begin += test.batch_rows) {
        std::vector<column::ColumnBuilder> builders;
        for (const column::Field& field : test.schema.fields) builders.emplace_back(field.type);
        for (int64_t row = begin; row < std::min(test.rows, begin + test.batch_rows); ++row) {
            rows.json += '[';
            for (size_t i = 0; i < builders.size(); ++i) {
                if (i != 0) rows.json += ',';
                append_random(test.schema.fields[i], builders[i], source, rows.json);
            }
            rows.json += "]\n";
        }
        auto& batch = rows.batches.emplace_back();
        for (column::ColumnBuilder& builder : builders) batch.push_back(builder.finish());
    }
    return rows;
}

int32_t slot_width(const column::DataType& type) {
    return column::is_bytes(type.id) ? static_cast<int32_t>(sizeof(column::BytesView))
                                     : byte_width(type);
}

/// Encodes a flat column with a dictionary that has an entry for each row, plus one that is NULL;
/// so codes repeat values, and some rows are NULL through their entry.
column::Column with_dictionary(column::Column plain) {
    if (slot_width(*plain.type) == 0) return plain;
    column::Column coded(plain.type);
    coded.encoding = column::Encoding::kDictionary;
    coded.code_width = 2;
    coded.length = plain.length;
    coded.values.resize(2 * plain.length);
    for (int64_t row = 0; row < plain.length; ++row)
        coded.values.as<uint16_t>()[row] = static_cast<uint16_t>(row);
    auto entries = std::make_shared<column::Column>(std::move(plain));
    coded.dictionary.values = entries->view();
    coded.dictionary.version = column::next_dictionary_version();
    coded.dictionary_column = std::move(entries);
    return coded;
}

template <typename Writer>
void write_rows(const Case& test, Rows& rows, Writer&& writer) {
    for (auto& batch : rows.batches) {
        std::vector<column::ColumnView> views;
        for (column::Column& column : batch) {
            if (test.dictionary_views) column = with_dictionary(std::move(column));
            views.push_back(column.view());
        }
        writer.write(views, views[0].length);
    }
    writer.finish();
}

void write_case(const Case& test, const fs::path& directory) {
    Rows rows = make_rows(test);
    const std::string path = directory / test.name;
    if (test.format == Format::kParquet)
        write_rows(
            test, rows,
            parquet::Writer(test.schema, test.parquet, io::create_local_file(path + ".parquet")));
    else
        write_rows(test, rows,
                   arrow::Writer(test.schema, test.arrow, io::create_local_file(path + ".arrow")));
    std::ofstream(path + ".jsonl") << rows.json;
}

void append_case(const Case& test, std::string& json) {
    json += json.empty() ? "[\n" : ",\n";
    json += fmt::format(R"( {{"name":"{}","format":"{}","rows":{},"columns":[)", test.name,
                        test.format == Format::kParquet ? "parquet" : "arrow", test.rows);
    for (size_t i = 0; i < test.schema.fields.size(); ++i) {
        const column::Field& field = test.schema.fields[i];
        json += fmt::format(R"({}{{"name":"{}","type":"{}"}})", i == 0 ? "" : ",", field.name,
                            column::to_string(*field.type));
    }
    json += "]}";
}

/// Writes prune.parquet: ten row groups of 1,000 rows with bounds and Bloom filters to skip them
/// by. Row r has id r, name "name<r * 7919 % 10007>", number r or NaN for each third row, and a
/// title whose first 70 bytes are equal in all rows of a row group.
void write_prune_file(const fs::path& path) {
    using column::TypeId;
    column::Schema schema;
    const std::pair<const char*, TypeId> columns[] = {{"id", TypeId::kInt64},
                                                      {"name", TypeId::kUtf8},
                                                      {"number", TypeId::kFloat64},
                                                      {"title", TypeId::kUtf8}};
    std::vector<column::ColumnBuilder> builders;
    for (const auto& [name, id] : columns) {
        column::Field field;
        field.name = name;
        field.type = column::make_type(id);
        builders.emplace_back(field.type);
        schema.fields.push_back(std::move(field));
    }
    for (int64_t row = 0; row < 10'000; ++row) {
        builders[0].append(row);
        builders[1].append_bytes(fmt::format("name{}", row * 7919 % 10'007));
        builders[2].append(row % 3 == 0 ? std::nan("") : static_cast<double>(row));
        builders[3].append_bytes(
            fmt::format("{}{:04}", std::string(70, static_cast<char>('a' + row / 1000)), row));
    }
    parquet::WriterOptions options;
    options.row_group_rows = 1'000;
    options.page_rows = 100;
    options.columns["name"].bloom_filter = true;
    options.columns["id"].bloom_filter = true;
    options.sorting = {{"id"}};
    options.metadata = {{"made", "for skipping"}};
    parquet::Writer writer(schema, options, io::create_local_file(path.string()));
    std::vector<column::Column> built;
    std::vector<column::ColumnView> views;
    built.reserve(builders.size());
    views.reserve(builders.size());
    for (column::ColumnBuilder& builder : builders) built.push_back(builder.finish());
    for (column::Column& column : built) views.push_back(column.view());
    writer.write(views, 10'000);
    writer.finish();
}

void run(const fs::path& directory) {
    fs::create_directories(directory);
    write_prune_file(directory / "prune.parquet");
    std::string list;
    std::vector<Case> cases = parquet_cases();
    for (Case& test : arrow_cases()) cases.push_back(std::move(test));
    for (const Case& test : cases) {
        base::with_where([&] { return "case " + test.name; }, [&] { write_case(test, directory); });
        append_case(test, list);
    }
    std::ofstream(directory / "cases.json") << list << "\n]\n";
}

}  // namespace
}  // namespace loom::roundtrip

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: loom-roundtrip DIRECTORY\n");
        return 2;
    }
    try {
        loom::roundtrip::run(argv[1]);
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "loom-roundtrip: error: {}\n", error.what());
        return 1;
    }
}
