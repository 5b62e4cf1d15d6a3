#include "fault_files.h"

#include <filesystem>

#include "literal_table.h"
#include "text_table.h"

namespace loom::test {

using column::make_decimal;
using column::make_type;
using column::TypeId;

namespace {

namespace fs = std::filesystem;

void write_files(const TextTable& table, const std::string& path, int64_t group_rows) {
    parquet::WriterOptions parquet_options;
    parquet_options.row_group_rows = group_rows;
    write_parquet(table, path + ".parquet", parquet_options);
    arrow::WriterOptions arrow_options;
    arrow_options.record_batch_rows = group_rows;
    write_arrow(table, path + ".arrow", arrow_options);
}

// Ends of ranges, divisors of zero, sums of more than 38 digits.
void limits(const std::string& path) {
    TextTable table;
    const std::string nines(38, '9');
    table.add("id", make_type(TypeId::kInt32)).cells = {"1", "2", "3", "4"};
    table.add("i2", make_type(TypeId::kInt16)).cells = {"-32768", "32767", "0", {}};
    table.add("i4", make_type(TypeId::kInt32)).cells = {
        "2147483647", "2147483647", "-2147483648", {}};
    table.add("i8", make_type(TypeId::kInt64)).cells = {
        "9223372036854775807", "9223372036854775807", "-9223372036854775808", {}};
    table.add("n38", make_decimal(38, 0)).cells = {nines, nines, "1", {}};
    table.add("f38", make_decimal(38, 38)).cells = {"0." + nines, "-0." + nines, "0", {}};
    table.add("d2", make_decimal(10, 2)).cells = {"1.00", "1.01", "-1.00", {}};
    table.add("z", make_type(TypeId::kInt32)).cells = {"0", "2", "-1", {}};
    table.add("f8", make_type(TypeId::kFloat64)).cells = {"0", "0.5", "-0", {}};
    write_csv(table, path + ".csv");
    write_files(table, path, 1);
}

// Zeros of both signs, NaNs with several bit patterns, NULLs, texts that differ in case and blanks.
TextTable keys(const std::vector<Cell>& floats, const std::vector<Cell>& lists) {
    TextTable table;
    table.add("id", make_type(TypeId::kInt32)).cells = {"1", "2", "3", "4", "5", "6", "7", "8"};
    table.add("f8", make_type(TypeId::kFloat64)).cells = floats;
    table.add("f4", make_type(TypeId::kFloat32)).cells = floats;
    table.add("l8", column::make_list(make_field("element", make_type(TypeId::kFloat64)))).cells =
        lists;
    table.add("t", make_type(TypeId::kUtf8)).cells = {"a", "A", "a ", "b", "á", {}, "a  ", "B"};
    return table;
}

void decimals(const std::string& path) {
    LiteralTable table;
    // Unscaled values: 12300 and -100.
    table.add(make_field("hundreds", make_decimal(5, -2)), {"123", "-1", "null"});
    table.add(make_field("d76", make_decimal(76, 10)), {"0.0000000001", "-123456789012345.5", "0"});
    table.write_arrow(path, 10);
}

}  // namespace

void write_fault_files(const std::string& dir) {
    limits(dir + "/limits");
    write_csv(keys({"0", "-0", "NaN", "NaN", "NaN", {}, {}, "1"},
                   {"{0}", "{-0}", "{NaN}", "{NaN}", "{NULL}", {}, "{}", "{1}"}),
              dir + "/keys.csv");
    write_files(keys({"0", "-0", "nan", "nan(0x77)", "-nan", {}, {}, "1"},
                     {"{0}", "{-0}", "{nan(0x77)}", "{-nan}", "{NULL}", {}, "{}", "{1}"}),
                dir + "/keys", 2);
    const auto int4 = make_type(TypeId::kInt32);
    LiteralTable names;
    for (const char* name : {"tableoid", "ctid", "xmin", "v"})
        names.add(make_field(name, int4), {"7"});
    names.write_parquet(dir + "/system_names.parquet", 10);
    decimals(dir + "/decimals.arrow");
    for (const char* key : {"Region=EU", "Region=us"}) {
        const std::string folder = dir + "/upper/" + key;
        fs::create_directories(folder);
        LiteralTable part;
        part.add(make_field("Value", int4), {"1", "2"});
        part.write_parquet(folder + "/part.parquet", 10);
    }
    fs::create_directories(dir + "/links");
    for (const char* format : {".parquet", ".arrow"}) {
        const std::string link = dir + "/links/six" + format;
        fs::remove(link);
        fs::create_symlink("../six" + std::string(format), link);
    }
}

}  // namespace loom::test
