// loom-test-files DIR: writes the files that the SQL tests read. Everything is made from text by
// text_table.cpp; the same text goes to CSV files, from which the tests load ordinary tables.

#include <cstdio>
#include <filesystem>
#include <random>

#include "fault_files.h"
#include "nested_files.h"
#include "text_table.h"

namespace loom::test {
namespace {

using column::make_decimal;
using column::make_time;
using column::make_timestamp;
using column::make_type;
using column::TimeUnit;
using column::TypeId;

std::string g_dir;

parquet::WriterOptions parquet_options(int64_t row_group_rows, int64_t page_rows = 1024) {
    parquet::WriterOptions options;
    options.row_group_rows = row_group_rows;
    options.page_rows = page_rows;
    return options;
}

arrow::WriterOptions arrow_options(int64_t record_batch_rows) {
    arrow::WriterOptions options;
    options.record_batch_rows = record_batch_rows;
    return options;
}

void write_all(const TextTable& table, const std::string& name, int64_t group_rows) {
    write_csv(table, g_dir + "/" + name + ".csv");
    write_parquet(table, g_dir + "/" + name + ".parquet", parquet_options(group_rows));
    write_arrow(table, g_dir + "/" + name + ".arrow", arrow_options(group_rows));
}

// Fills a column with `make(row)`, every `null_every`th row NULL.
template <typename Make>
void fill(TextColumn& column, size_t rows, int null_every, Make make) {
    for (size_t row = 0; row < rows; ++row)
        column.cells.push_back(null_every > 0 && row % null_every == 3 ? Cell() : Cell(make(row)));
}

std::string padded(int value, int width) {
    std::string text = std::to_string(value);
    return std::string(width - std::min<size_t>(width, text.size()), '0') + text;
}

std::string date_of(size_t row) {
    return padded(static_cast<int>(1900 + row * 7 % 250), 4) + "-" +
           padded(static_cast<int>(1 + row * 5 % 12), 2) + "-" +
           padded(static_cast<int>(1 + row * 3 % 28), 2);
}

std::string time_of(size_t row, int digits) {
    std::string text = padded(static_cast<int>(row * 11 % 24), 2) + ":" +
                       padded(static_cast<int>(row * 17 % 60), 2) + ":" +
                       padded(static_cast<int>(row * 23 % 60), 2);
    if (digits > 0)
        text += "." + padded(static_cast<int>(row * 7919 % 1'000'000'000), 9).substr(0, digits);
    return text;
}

// Every type with NULLs; row groups end one row around the batch size.
TextTable all_types(size_t rows) {
    TextTable table;
    std::mt19937_64 random(42);
    auto any = [&](uint64_t limit) { return random() % limit; };
    fill(table.add("id", make_type(TypeId::kInt32)), rows, 0,
         [](size_t row) { return std::to_string(row); });
    fill(table.add("b", make_type(TypeId::kBool)), rows, 7,
         [&](size_t) { return any(2) != 0 ? "t" : "f"; });
    auto integer = [&](const char* name, TypeId type, int64_t low, uint64_t span) {
        fill(table.add(name, make_type(type)), rows, 11, [&](size_t row) {
            if (row % 50 == 0) return std::to_string(low);
            return std::to_string(static_cast<int64_t>(low + static_cast<int64_t>(any(span))));
        });
    };
    integer("i1", TypeId::kInt8, -128, 256);
    integer("i2", TypeId::kInt16, -32768, 65536);
    integer("i4", TypeId::kInt32, -2147483648LL, 4294967296ULL);
    integer("i8", TypeId::kInt64, -4'000'000'000'000'000'000LL, 8'000'000'000'000'000'000ULL);
    integer("u1", TypeId::kUInt8, 0, 256);
    integer("u2", TypeId::kUInt16, 0, 65536);
    integer("u4", TypeId::kUInt32, 0, 4294967296ULL);
    fill(table.add("u8", make_type(TypeId::kUInt64)), rows, 13, [&](size_t row) {
        return row % 3 == 0 ? std::to_string(UINT64_MAX - any(9)) : std::to_string(any(1000));
    });
    fill(table.add("f4", make_type(TypeId::kFloat32)), rows, 5, [&](size_t row) -> std::string {
        if (row % 97 == 1) return "NaN";
        if (row % 97 == 2) return "-Infinity";
        return std::to_string(static_cast<int>(any(2000)) - 1000) + "." +
               std::to_string(any(8) * 125);
    });
    fill(table.add("f8", make_type(TypeId::kFloat64)), rows, 6, [&](size_t row) -> std::string {
        if (row % 101 == 1) return "NaN";
        if (row % 101 == 2) return "Infinity";
        if (row % 101 == 4) return "-0";
        return std::to_string(static_cast<int>(any(2'000'000)) - 1'000'000) + "e" +
               std::to_string(static_cast<int>(any(40)) - 20);
    });
    auto decimal = [&](const char* name, int precision, int scale) {
        fill(table.add(name, make_decimal(precision, scale)), rows, 9,
             [&, precision, scale](size_t row) {
                 std::string digits;
                 const int count = 1 + static_cast<int>(any(precision));
                 for (int i = 0; i < count; ++i) digits += static_cast<char>('0' + any(10));
                 if (row % 50 == 0) digits = std::string(precision, '9');
                 while (static_cast<int>(digits.size()) <= scale) digits.insert(0, "0");
                 if (scale > 0) digits.insert(digits.size() - scale, ".");
                 return (any(2) != 0 ? "-" : "") + digits;
             });
    };
    decimal("d9", 9, 2);
    decimal("d18", 18, 4);
    decimal("d38", 38, 10);
    decimal("d76", 76, 30);
    fill(table.add("dt", make_type(TypeId::kDate32)), rows, 8, date_of);
    auto time = [&](const char* name, TimeUnit unit, int digits) {
        fill(table.add(name, make_time(unit)), rows, 10,
             [digits](size_t row) { return time_of(row, digits); });
    };
    time("tm_ms", TimeUnit::kMilli, 3);
    time("tm_us", TimeUnit::kMicro, 6);
    auto timestamp = [&](const char* name, TimeUnit unit, int digits, const char* zone) {
        fill(table.add(name, make_timestamp(unit, zone)), rows, 12, [=](size_t row) {
            return date_of(row) + " " + time_of(row, digits) + (*zone != '\0' ? "+00" : "");
        });
    };
    timestamp("ts_ms", TimeUnit::kMilli, 3, "");
    timestamp("ts_us", TimeUnit::kMicro, 6, "");
    timestamp("tz_us", TimeUnit::kMicro, 6, "UTC");
    fill(table.add("word", make_type(TypeId::kUtf8)), rows, 4, [&](size_t) {
        static const char* const kWords[] = {"",   "a",   "ab", "ä",     "日本",  "🙂x", "a\\b",
                                             "a%", "a_b", "zz", "Äpfel", "\"q\"", "x,y",   "'"};
        return kWords[any(std::size(kWords))];
    });
    fill(table.add("txt", make_type(TypeId::kUtf8)), rows, 15, [&](size_t row) {
        return "row " + std::to_string(row) + std::string(any(40), 'x') + (row % 5 == 0 ? "é" : "");
    });
    fill(table.add("bin", make_type(TypeId::kBinary)), rows, 16, [&](size_t) {
        std::string text = "\\x";
        for (uint64_t i = any(12); i > 0; --i) text += padded(static_cast<int>(any(100)), 2);
        return text;
    });
    fill(table.add("uid", column::with_annotation(*column::make_fixed_binary(16),
                                                  column::Annotation::kUuid)),
         rows, 17, [&](size_t) {
             std::string text;
             for (int i = 0; i < 32; ++i) {
                 if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
                 text += "0123456789abcdef"[any(16)];
             }
             return text;
         });
    fill(table.add("arr", column::make_list({"element", make_type(TypeId::kInt32)})), rows, 18,
         [&](size_t row) {
             std::string text = "{";
             for (uint64_t i = 0, n = any(5); i < n; ++i)
                 text += (i == 0 ? "" : ",") +
                         (row % 3 == 0 && i == 1 ? "NULL" : std::to_string(any(100)));
             return text + "}";
         });
    fill(table.add("nul", make_type(TypeId::kInt32)), rows, 1, [](size_t) { return "0"; });
    for (Cell& cell : table.columns.back().cells) cell.reset();
    return table;
}

void floats() {
    TextTable table;
    const std::vector<Cell> cells = {"3", "NaN", "3", "NaN", "NaN", {},         {},         "NaN",
                                     {},  "-0",  "0", "-0",  "1",   "Infinity", "-Infinity"};
    table.add("f4", make_type(TypeId::kFloat32)).cells = cells;
    table.add("f8", make_type(TypeId::kFloat64)).cells = cells;
    write_all(table, "floats", 3);
}

void unsigned_integers() {
    TextTable table;
    table.add("u1", make_type(TypeId::kUInt8)).cells = {"255", "1", "0", "200"};
    table.add("u2", make_type(TypeId::kUInt16)).cells = {"65535", "1", "0", "40000"};
    table.add("u4", make_type(TypeId::kUInt32)).cells = {"4294967295", "1", "0", "3000000000"};
    table.add("u8", make_type(TypeId::kUInt64)).cells = {"18446744073709551615", "1", "0",
                                                         "9223372036854775808"};
    write_all(table, "unsigned", 1);
}

void timestamps() {
    TextTable table;
    const std::vector<std::string> moments = {"1969-12-31 23:59:59.999999", "1970-01-01 00:00:00",
                                              "2000-01-01 00:00:00",        "2038-01-19 03:14:08",
                                              "2262-04-11 23:47:16.854775", "1677-09-21 00:12:44"};
    auto add = [&](const std::string& name, TimeUnit unit, int digits, const char* zone) {
        TextColumn& column = table.add(name, make_timestamp(unit, zone));
        for (const std::string& moment : moments) {
            std::string text = moment.substr(0, 19);
            if (digits > 0 && moment.size() > 19) text = moment.substr(0, 20 + digits);
            column.cells.emplace_back(text + (*zone != '\0' ? "+00" : ""));
        }
    };
    for (const char* zone : {"", "UTC"}) {
        const std::string prefix = *zone == '\0' ? "ts" : "tz";
        add(prefix + "_ms", TimeUnit::kMilli, 3, zone);
        add(prefix + "_us", TimeUnit::kMicro, 6, zone);
        add(prefix + "_ns", TimeUnit::kNano, 6, zone);
    }
    write_all(table, "timestamps", 1);
    // Nanoseconds that do not fit PostgreSQL, with what they become.
    TextTable nanos;
    nanos.add("ns", make_timestamp(TimeUnit::kNano)).cells = {"1969-12-31 23:59:59.999999999",
                                                              "1970-01-01 00:00:00.000000001",
                                                              "2000-01-01 00:00:00.123456789"};
    write_parquet(nanos, g_dir + "/nanos.parquet", parquet_options(1));
    write_arrow(nanos, g_dir + "/nanos.arrow", arrow_options(1));
}

void texts() {
    TextTable table;
    const std::string long_text(64, 'k');
    table.add("t", make_type(TypeId::kUtf8)).cells = {"a\\",
                                                      "a%",
                                                      "ab",
                                                      "a_b",
                                                      "axb",
                                                      "a\\%",
                                                      "",
                                                      {},
                                                      "ä",
                                                      "日本",
                                                      "🙂x",
                                                      "日本語",
                                                      long_text + "a",
                                                      long_text + "b",
                                                      long_text + "é",
                                                      long_text,
                                                      "A123456789"};
    TextColumn& binary = table.add("b", make_type(TypeId::kBinary));
    for (size_t i = 0; i < table.rows(); ++i) {
        std::string text = "\\x";
        for (size_t k = 0; k < i * 6; ++k) text += "ff";
        binary.cells.emplace_back(text);
    }
    write_all(table, "texts", 1);
    parquet::WriterOptions options = parquet_options(1);
    options.columns["t"].bloom_filter = true;
    write_parquet(table, g_dir + "/texts_bloom.parquet", options);
}

void small_groups() {
    TextTable table;
    TextColumn& id = table.add("id", make_type(TypeId::kInt32));
    for (int i = 1; i <= 6; ++i) id.cells.emplace_back(std::to_string(i));
    write_all(table, "six", 2);
    TextTable big;
    TextColumn& key = big.add("k", make_type(TypeId::kInt64));
    TextColumn& value = big.add("v", make_type(TypeId::kInt32));
    for (int i = 0; i < 50'000; ++i) {
        key.cells.emplace_back(std::to_string(i));
        value.cells.emplace_back(std::to_string(i * 7 % 1000));
    }
    write_all(big, "sorted", 10'000);
    TextTable eight;  // another version of the same table
    TextColumn& eight_key = eight.add("k", make_type(TypeId::kInt64));
    TextColumn& eight_value = eight.add("v", make_type(TypeId::kInt32));
    for (int i = 0; i < 8; ++i) {
        eight_key.cells.emplace_back(std::to_string(i));
        eight_value.cells.emplace_back("0");
    }
    write_all(eight, "eight", 3);
}

// Around every batch and block size, one file each.
void sizes() {
    std::filesystem::create_directories(g_dir + "/sizes");
    for (int rows : {0, 1, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097, 8193}) {
        TextTable table;
        TextColumn& id = table.add("id", make_type(TypeId::kInt32));
        TextColumn& text = table.add("t", make_type(TypeId::kUtf8));
        TextColumn& none = table.add("n", make_type(TypeId::kInt64));
        for (int i = 0; i < rows; ++i) {
            id.cells.emplace_back(std::to_string(i));
            text.cells.emplace_back(i % 3 == 0 ? Cell() : Cell("t" + std::to_string(i % 17)));
            none.cells.emplace_back();
        }
        const std::string path = g_dir + "/sizes/s" + padded(rows, 5);
        write_parquet(table, path + ".parquet", parquet_options(100'000, 1000));
        write_arrow(table, path + ".arrow", arrow_options(100'000));
    }
}

void folders() {
    namespace fs = std::filesystem;
    auto one = [](const std::string& path,
                  const std::vector<std::pair<column::Field, std::vector<Cell>>>& columns) {
        fs::create_directories(fs::path(path).parent_path());
        TextTable table;
        for (auto& [field, cells] : columns) table.add(field.name, field.type).cells = cells;
        if (path.ends_with(".arrow"))
            write_arrow(table, path, arrow_options(1000));
        else
            write_parquet(table, path, parquet_options(1000));
    };
    const column::Field a32{"a", make_type(TypeId::kInt32)};
    const column::Field a64{"a", make_type(TypeId::kInt64)};
    const column::Field b{"b", make_type(TypeId::kUtf8)};
    const column::Field c{"c", make_type(TypeId::kFloat64)};
    one(g_dir + "/drift/1.parquet", {{a32, {"1", "2"}}, {b, {"x", {}}}});
    one(g_dir + "/drift/2.arrow", {{b, {"y"}}, {c, {"2.5"}}, {a64, {"30000000000"}}});
    const column::Field v{"v", make_type(TypeId::kInt32)};
    int n = 0;
    for (const char* key :
         {"k=1", "k=__HIVE_DEFAULT_PARTITION__", "k=", "k=a%2Fb", "k=2024-01-01", "k=01"})
        one(g_dir + "/hive/" + key + "/part.parquet", {{v, {std::to_string(++n)}}});
    for (const char* day : {"2024-01-30", "2024-01-31", "2024-02-01"})
        for (const char* place : {"1", "2"})
            one(g_dir + "/days/day=" + day + "/place=" + place + "/x.parquet",
                {{v, {std::to_string(++n), std::to_string(n * 10)}}});
    for (const char* name : {"f_202408_tokyo", "f_202409_osaka", "f_202409_tokyo"})
        one(g_dir + "/pattern/" + name + ".arrow", {{v, {std::to_string(++n)}}});
    // Names that need care.
    const auto int4 = make_type(TypeId::kInt32);
    const std::string long_name(70, 'n');
    one(g_dir + "/names.parquet", {{{"a", int4}, {"1"}},
                                   {{"A", int4}, {"2"}},
                                   {{"select", int4}, {"3"}},
                                   {{"a b", int4}, {"4"}},
                                   {{"x\"y", int4}, {"5"}},
                                   {{"ü", int4}, {"6"}},
                                   {{"", int4}, {"7"}},
                                   {{long_name, int4}, {"8"}}});
    one(g_dir + "/twice.arrow", {{{"a", int4}, {"1"}}, {{"a", int4}, {"2"}}, {{"b", int4}, {"3"}}});
}

// What the talks that made Arrow_Fdw known show on their slides.
void talks() {
    std::filesystem::create_directories(g_dir + "/mydata");
    TextTable mytest;
    fill(mytest.add("id", make_type(TypeId::kInt32)), 25, 0,
         [](size_t row) { return std::to_string(row + 1); });
    fill(mytest.add("ts", make_timestamp(TimeUnit::kMicro)), 25, 0,
         [](size_t row) { return date_of(row) + " " + time_of(row, 6); });
    fill(mytest.add("x", make_type(TypeId::kFloat64)), 25, 0,
         [](size_t row) { return std::to_string(row * 3) + ".25"; });
    fill(mytest.add("y", make_type(TypeId::kUtf8)), 25, 0,
         [](size_t row) { return "65ac" + std::to_string(row); });
    fill(mytest.add("z", make_decimal(30, 8)), 25, 0,
         [](size_t row) { return std::to_string(row * 7) + ".62180000"; });
    write_csv(mytest, g_dir + "/mytest.csv");
    write_arrow(mytest, g_dir + "/mytest.arrow", arrow_options(10));
    TextTable packets;
    fill(packets.add("timestamp", make_timestamp(TimeUnit::kMicro)), 4, 0,
         [](size_t row) { return "2021-10-12 13:18:2" + std::to_string(row) + ".684989"; });
    column::KeyValue hint{"pg_type", "pg_catalog.inet"};
    for (const char* name : {"src_addr", "dst_addr"}) {
        TextColumn& column = packets.add(name, column::make_fixed_binary(4));
        column.field.metadata.push_back(hint);
        fill(column, 4, 0, [](size_t row) { return "c0a84d" + std::to_string(64 + row); });
    }
    fill(packets.add("protocol", make_type(TypeId::kUInt8)), 4, 0, [](size_t) { return "6"; });
    fill(packets.add("payload", make_type(TypeId::kBinary)), 4, 0,
         [](size_t row) { return "\\x" + std::string(2 * row, '0'); });
    write_arrow(packets, g_dir + "/my_packets.arrow", arrow_options(10));
    for (int year = 1993; year <= 1997; ++year) {
        TextTable orders;
        fill(orders.add("lo_orderdate", make_type(TypeId::kInt32)), 360, 0, [year](size_t row) {
            return std::to_string(year) + padded(1 + static_cast<int>(row) / 30, 2) +
                   padded(1 + static_cast<int>(row) % 28, 2);
        });
        fill(orders.add("lo_revenue", make_type(TypeId::kInt32)), 360, 0,
             [year](size_t row) { return std::to_string(year * 10 + row); });
        fill(orders.add("lo_shipmode", make_type(TypeId::kUtf8)), 360, 0, [](size_t row) {
            static const char* const kModes[] = {"SHIP", "REG AIR", "FOB", "RAIL",
                                                 "AIR",  "TRUCK",   "MAIL"};
            return kModes[row % 7];
        });
        write_parquet(orders,
                      g_dir + "/mydata/small_lineorder_" + std::to_string(year) + ".parquet",
                      parquet_options(1000));
        if (year == 1993) write_arrow(orders, g_dir + "/flineorder.arrow", arrow_options(40));
    }
    // More columns than a heap table may have.
    TextTable wide;
    for (int i = 0; i < 2000; ++i)
        fill(wide.add("c" + std::to_string(i), make_type(TypeId::kFloat64)), 3, 0,
             [i](size_t row) { return std::to_string(i + 10'000 * row); });
    write_arrow(wide, g_dir + "/mytable.arrow", arrow_options(2));
    write_parquet(wide, g_dir + "/mytable.parquet", parquet_options(2));
}

}  // namespace
}  // namespace loom::test

int main(int argc, char** argv) {
    using namespace loom::test;
    if (argc != 2 || argv[1][0] == '-') {
        std::fprintf(stderr, "usage: loom-test-files DIR\n");
        return 2;
    }
    try {
        g_dir = argv[1];
        std::filesystem::create_directories(g_dir);
        write_all(all_types(10'000), "all_types", 4097);
        floats();
        unsigned_integers();
        timestamps();
        texts();
        small_groups();
        sizes();
        folders();
        talks();
        write_nested_files(g_dir);
        write_fault_files(g_dir);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "loom-test-files: %s\n", error.what());
        return 1;
    }
    return 0;
}
