#include "tables.h"

#include <filesystem>
#include <functional>

#include <fmt/core.h>

#include "data/text_table.h"
#include "random.h"

namespace loom::test {

using column::make_decimal;
using column::make_time;
using column::make_timestamp;
using column::make_type;
using column::TimeUnit;
using plan::TypeId;

namespace {

using FileType = column::TypeId;
using Values = std::vector<std::string>;

// Makes the value of a row, in PostgreSQL's spelling; nothing is NULL.
using Maker = std::function<Cell(Random&, int64_t row, int64_t rows)>;

struct Definition {
    ColumnInfo info;
    column::TypePtr file_type;
    Maker make;
};

// NULL in `percent` of the rows, else one of a list.
Maker one_of(int percent, const Values& values) {
    return [=](Random& random, int64_t, int64_t) {
        return random.chance(percent) ? Cell() : Cell(random.pick(values));
    };
}

Maker number(int percent, int low, int high) {
    return [=](Random& random, int64_t, int64_t) {
        return random.chance(percent) ? Cell() : Cell(std::to_string(random.between(low, high)));
    };
}

std::string decimal_text(Random& random, int digits, int scale) {
    std::string text;
    for (int i = random.between(1, digits); i > 0; --i)
        text += static_cast<char>('0' + random.below(10));
    while (static_cast<int>(text.size()) <= scale) text.insert(0, "0");
    if (scale > 0) text.insert(text.size() - static_cast<size_t>(scale), ".");
    return (random.chance(50) ? "-" : "") + text;
}

Maker decimal(int digits, int scale) {
    return [=](Random& random, int64_t, int64_t) -> Cell {
        if (random.chance(12)) return {};
        if (random.chance(10)) return "0";
        if (random.chance(3)) {
            std::string nines(static_cast<size_t>(digits), '9');
            if (scale > 0) nines.insert(nines.size() - static_cast<size_t>(scale), ".");
            return (scale == digits ? "0" : "") + nines;
        }
        return decimal_text(random, digits, scale);
    };
}

std::string date_text(Random& random) {
    if (random.chance(6))
        return random.pick({"0001-01-01", "1600-02-29", "1969-12-31", "1970-01-01", "2000-02-29",
                            "1999-12-31", "9999-12-31"});
    return fmt::format("{:04}-{:02}-{:02}", random.between(1995, 2030), random.between(1, 12),
                       random.between(1, 28));
}

std::string time_text(Random& random) {
    if (random.chance(10))
        return random.pick({"00:00:00", "23:59:59.999999", "12:00:00", "00:00:00.000001"});
    return fmt::format("{:02}:{:02}:{:02}.{:06}", random.between(0, 23), random.between(0, 59),
                       random.between(0, 59), random.between(0, 999'999));
}

Maker moment(const char* zone) {
    return [=](Random& random, int64_t, int64_t) {
        return random.chance(12) ? Cell()
                                 : Cell(date_text(random) + " " + time_text(random) + zone);
    };
}

Maker float_number(const Values& edges) {
    return [=](Random& random, int64_t, int64_t) -> Cell {
        if (random.chance(12)) return {};
        if (random.chance(25)) return random.pick(edges);
        return fmt::format("{}.{}", random.between(-1000, 1000), random.between(0, 7) * 125);
    };
}

const Values kWords = {"",    "a",    "ab",    "ä",       "日本", "🙂x", "a\\b", "a%", "a_b",
                       "zz",  "Zz",   "Äpfel", "\"q\"",   "x,y",  "'",     " b ",  "0",  "abc",
                       "abd", "aaaa", "NULL",  "a\nline", "ÄB",   "12.5",  "\\%"};

Cell long_text(Random& random, int64_t row, int64_t) {
    if (random.chance(10)) return {};
    return fmt::format("row {}{}{}", row % 977, std::string(random.below(40), 'x'),
                       row % 5 == 0 ? "é" : "");
}

Cell hex_bytes(Random& random, int64_t, int64_t) {
    if (random.chance(12)) return {};
    std::string text = "\\x";
    for (uint64_t i = random.below(5); i > 0; --i)
        text += random.pick({"00", "01", "41", "7f", "80", "ff"});
    return text;
}

Cell uuid_text(Random& random, int64_t, int64_t rows) {
    if (random.chance(10)) return {};
    const uint64_t low = random.below(static_cast<uint64_t>(rows) + 1);
    return fmt::format("{}-0000-4000-8000-{:012x}",
                       random.pick({"00000000", "7fffffff", "ffffffff"}), low);
}

Cell array_text(Random& random, int64_t, int64_t) {
    if (random.chance(12)) return {};
    std::string text;
    for (uint64_t i = random.below(6); i > 0; --i)
        text += (text.empty() ? "" : ",") +
                (random.chance(15) ? "NULL" : std::to_string(random.between(-2, 9)));
    return "{" + text + "}";
}

// A key that finds a few partners in other tables.
Maker key(int percent, int64_t offset) {
    return [=](Random& random, int64_t, int64_t rows) -> Cell {
        if (random.chance(percent)) return {};
        if (random.chance(2)) return "-1";
        return std::to_string(offset + random.between(0, static_cast<int>(rows / 2)));
    };
}

std::vector<Definition> make_definitions() {
    std::vector<Definition> all;
    auto add = [&](ColumnInfo info, column::TypePtr type, Maker make) {
        all.push_back({std::move(info), std::move(type), std::move(make)});
    };
    auto plain = [](FileType type) { return make_type(type); };
    add({"id", TypeId::kInt4, "int"}, plain(FileType::kInt32),
        [](Random&, int64_t row, int64_t) { return std::to_string(row + 1); });
    add({"k2", TypeId::kInt2, "smallint", true, true, 12}, plain(FileType::kInt16),
        number(11, -3, 8));
    add({"k4", TypeId::kInt4, "int"}, plain(FileType::kInt32), key(12, 1));
    add({"k8", TypeId::kInt8, "bigint"}, plain(FileType::kInt64), key(5, 1));
    add({"far", TypeId::kInt8, "bigint", true, false}, plain(FileType::kInt64),
        key(10, 4'000'000'000));
    add({"b", TypeId::kBool, "boolean", true, true, 2}, plain(FileType::kBool),
        one_of(15, {"t", "f"}));
    add({"x2", TypeId::kInt2, "smallint", true, false, 8}, plain(FileType::kInt16),
        one_of(10, {"-32768", "-32767", "-1", "0", "1", "2", "181", "32767"}));
    add({"x4", TypeId::kInt4, "int", true, false, 9}, plain(FileType::kInt32),
        one_of(10, {"-2147483648", "-46341", "-1", "0", "1", "7", "46341", "2147483646",
                    "2147483647"}));
    add({"x8", TypeId::kInt8, "bigint", true, false, 9}, plain(FileType::kInt64),
        one_of(10, {"-9223372036854775808", "-3037000500", "-1", "0", "1", "65536", "3037000500",
                    "9223372036854775806", "9223372036854775807"}));
    add({"f4", TypeId::kFloat4, "real", false, false}, plain(FileType::kFloat32),
        float_number({"NaN", "Infinity", "-Infinity", "0", "-0", "1e-45", "3.4e38", "0.1"}));
    add({"f8", TypeId::kFloat8, "double precision", false, false}, plain(FileType::kFloat64),
        float_number({"NaN", "Infinity", "-Infinity", "0", "-0", "5e-324", "1.7e308", "0.1"}));
    add({"g8", TypeId::kFloat8, "double precision", true, true, 40}, plain(FileType::kFloat64),
        number(10, 1, 40));
    add({"n5", TypeId::kNumeric, "numeric(5,2)"}, make_decimal(5, 2), decimal(5, 2));
    add({"n18", TypeId::kNumeric, "numeric(18,4)"}, make_decimal(18, 4), decimal(12, 4));
    add({"n20", TypeId::kNumeric, "numeric(20,0)"}, make_decimal(20, 0), decimal(20, 0));
    add({"n38", TypeId::kNumeric, "numeric(38,10)", true, false}, make_decimal(38, 10),
        decimal(38, 10));
    add({"d", TypeId::kDate, "date"}, plain(FileType::kDate32),
        [](Random& random, int64_t, int64_t) {
            return random.chance(10) ? Cell() : Cell(date_text(random));
        });
    add({"tm", TypeId::kTime, "time"}, make_time(TimeUnit::kMicro),
        [](Random& random, int64_t, int64_t) {
            return random.chance(10) ? Cell() : Cell(time_text(random));
        });
    add({"ts", TypeId::kTimestamp, "timestamp"}, make_timestamp(TimeUnit::kMicro), moment(""));
    add({"tz", TypeId::kTimestampTz, "timestamptz"}, make_timestamp(TimeUnit::kMicro, "UTC"),
        moment("+00"));
    add({"w", TypeId::kText, "text", true, true, 25}, plain(FileType::kUtf8), one_of(14, kWords));
    add({"v", TypeId::kText, "varchar(40)", true, true, 25}, plain(FileType::kUtf8),
        one_of(14, kWords));
    add({"s", TypeId::kText, "text"}, plain(FileType::kUtf8), long_text);
    add({"c", TypeId::kBpchar, "char(6)", true, true, 6}, plain(FileType::kUtf8),
        one_of(12, {"", "a", "ab", "日本", "abcdef", "b c"}));
    add({"y", TypeId::kBytea, "bytea"}, plain(FileType::kBinary), hex_bytes);
    add({"u", TypeId::kUuid, "uuid"},
        column::with_annotation(*column::make_fixed_binary(16), column::Annotation::kUuid),
        uuid_text);
    add({"arr", TypeId::kOpaque, "integer[]"},
        column::make_list({"element", plain(FileType::kInt32)}), array_text);
    add({"nul", TypeId::kInt4, "int", true, true, 1}, plain(FileType::kInt32),
        [](Random&, int64_t, int64_t) { return Cell(); });
    return all;
}

const std::vector<Definition>& definitions() {
    static const std::vector<Definition> all = make_definitions();
    return all;
}

TextTable make_rows(const TableInfo& info, uint64_t seed) {
    Random random(seed);
    TextTable table;
    for (const Definition& definition : definitions()) {
        TextColumn& column = table.add(definition.info.name, definition.file_type);
        for (int64_t row = 0; row < info.rows; ++row)
            column.cells.push_back(definition.make(random, row, info.rows));
    }
    return table;
}

std::string column_list() {
    std::string list;
    for (const ColumnInfo& column : table_columns())
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", column.name, column.sql_type);
    return list;
}

}  // namespace

const std::vector<ColumnInfo>& table_columns() {
    static const std::vector<ColumnInfo> columns = [] {
        std::vector<ColumnInfo> infos;
        for (const Definition& definition : definitions()) infos.push_back(definition.info);
        return infos;
    }();
    return columns;
}

// Sizes below and above batches of 1,024 and 4,096 rows; `many` spans several row groups.
const std::vector<TableInfo>& tables() {
    static const std::vector<TableInfo> all = {{"none", 0},   {"one", 1},      {"few", 29},
                                               {"some", 700}, {"batch", 1025}, {"many", 4500}};
    return all;
}

void write_tables(const std::string& dir) {
    std::filesystem::create_directories(dir);
    uint64_t seed = 7;
    for (const TableInfo& info : tables()) {
        const TextTable rows = make_rows(info, seed++);
        parquet::WriterOptions parquet;
        parquet.row_group_rows = info.rows > 2000 ? 2049 : 300;
        parquet.page_rows = 200;
        arrow::WriterOptions arrow;
        arrow.record_batch_rows = info.rows > 2000 ? 4097 : 100;
        const std::string path = dir + "/" + info.name;
        write_csv(rows, path + ".csv");
        write_parquet(rows, path + ".parquet", parquet);
        write_arrow(rows, path + ".arrow", arrow);
    }
}

std::vector<std::string> table_statements(const std::string& dir) {
    std::vector<std::string> statements = {"SET client_min_messages = warning",
                                           "CREATE EXTENSION IF NOT EXISTS pg_loom"};
    for (const char* schema : {"parquet", "arrow", "heap"}) {
        statements.push_back(fmt::format("DROP SCHEMA IF EXISTS {} CASCADE", schema));
        statements.push_back(fmt::format("CREATE SCHEMA {}", schema));
    }
    for (const TableInfo& info : tables()) {
        for (const char* format : {"parquet", "arrow"})
            statements.push_back(
                fmt::format("CREATE FOREIGN TABLE {0}.{1} ({2}) SERVER arrow_fdw "
                            "OPTIONS (file '{3}/{1}.{0}')",
                            format, info.name, column_list(), dir));
        statements.push_back(fmt::format("CREATE TABLE heap.{} ({})", info.name, column_list()));
        statements.push_back(fmt::format(
            "COPY heap.{0} FROM '{1}/{0}.csv' (FORMAT csv, NULL '\\N')", info.name, dir));
        for (const char* schema : {"parquet", "arrow", "heap"})
            statements.push_back(fmt::format("ANALYZE {}.{}", schema, info.name));
    }
    return statements;
}

}  // namespace loom::test
