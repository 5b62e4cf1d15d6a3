#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "generate.h"
#include "options.h"
#include "partition.h"
#include "text_format.h"

namespace loom::datagen {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Table> table_of(const Request& request, const std::string& name) {
    for (auto& table : make_tables(request))
        if (table->name() == name) return std::move(table);
    ADD_FAILURE() << "no table " << name;
    return nullptr;
}

Request request_of(const std::string& kind, int64_t rows, uint64_t seed = 1) {
    Request request;
    request.kind = kind;
    request.rows = rows;
    request.seed = seed;
    return request;
}

std::string csv_of(Block block) {
    std::string text;
    const auto views = block.views();
    for (int64_t row = 0; row < block.rows; ++row) {
        for (const column::ColumnView& view : views) {
            append_csv_field(view, row, text);
            text += ',';
        }
        text += '\n';
    }
    return text;
}

/// A directory that goes away with the test.
struct ScratchDirectory {
    ScratchDirectory()
        : path(fs::temp_directory_path() / fmt::format("loom-datagen-test-{}", getpid())) {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~ScratchDirectory() { fs::remove_all(path); }
    fs::path path;
};

std::string read_file(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

TEST(Datagen, MakesChunksInAnyOrderAndBySeed) {
    for (const KindInfo& kind : kinds()) {
        if (kind.name == "wide") continue;
        SCOPED_TRACE(kind.name);
        auto first = make_tables(request_of(kind.name, 200'000));
        auto again = make_tables(request_of(kind.name, 200'000));
        auto other = make_tables(request_of(kind.name, 200'000, 2));
        const size_t last = first.size() - 1;
        const int64_t chunk = first[last]->chunk_count() - 1;
        ASSERT_GT(chunk, 0);
        first[last]->make_chunk(0);
        const std::string text = csv_of(first[last]->make_chunk(chunk));
        EXPECT_EQ(text, csv_of(again[last]->make_chunk(chunk)));
        EXPECT_NE(text, csv_of(other[last]->make_chunk(chunk)));
        EXPECT_NE(text, csv_of(first[last]->make_chunk(chunk - 1)));
    }
}

TEST(Datagen, HasExactlyTheRowsAskedFor) {
    for (const char* kind : {"accesslog", "sensors", "devices", "areas"}) {
        const auto table = table_of(request_of(kind, 70'001), kind);
        int64_t rows = 0;
        for (int64_t chunk = 0; chunk < table->chunk_count(); ++chunk)
            rows += table->make_chunk(chunk).rows;
        EXPECT_EQ(rows, 70'001) << kind;
    }
}

// Column `name` of all rows, as text.
std::vector<std::string> values_of(const Table& table, const std::string& name) {
    std::vector<std::string> values;
    const int column = table.schema().find(name);
    for (int64_t chunk = 0; chunk < table.chunk_count(); ++chunk) {
        Block block = table.make_chunk(chunk);
        const column::ColumnView view = block.columns[column].view();
        for (int64_t row = 0; row < block.rows; ++row)
            append_text(view, row, values.emplace_back());
    }
    return values;
}

TEST(Ssb, HasTheSizesOfThePaper) {
    Request request;
    request.kind = "ssb";
    request.scale = 1;
    EXPECT_EQ(values_of(*table_of(request, "customer"), "c_custkey").size(), 30'000);
    EXPECT_EQ(values_of(*table_of(request, "supplier"), "s_suppkey").size(), 2'000);
    EXPECT_EQ(values_of(*table_of(request, "part"), "p_partkey").size(), 200'000);
    const auto dates = values_of(*table_of(request, "date"), "d_datekey");
    EXPECT_EQ(dates.size(), 2'557);
    EXPECT_EQ(dates.front(), "19920101");
    EXPECT_EQ(dates.back(), "19981231");
    request.scale = 4;
    EXPECT_EQ(values_of(*table_of(request, "part"), "p_partkey").size(), 600'000);
}

TEST(Ssb, HasTheShapeOfThePaper) {
    const Request request = request_of("ssb", 400'000);
    const auto part = table_of(request, "part");
    const auto category = values_of(*part, "p_category");
    const auto brand = values_of(*part, "p_brand1");
    for (size_t i = 0; i < brand.size(); ++i) ASSERT_TRUE(brand[i].starts_with(category[i]));
    EXPECT_EQ(std::set(category.begin(), category.end()).size(), 25);
    EXPECT_EQ(std::set(brand.begin(), brand.end()).size(), 1'000);
    const auto customer = table_of(request, "customer");
    const auto city = values_of(*customer, "c_city");
    EXPECT_TRUE(std::set(city.begin(), city.end()).contains("UNITED KI1"));
    for (const std::string& name : city) ASSERT_EQ(name.size(), 10) << name;

    const auto lineorder = table_of(request, "lineorder");
    ASSERT_EQ(lineorder->schema().fields.size(), 17);
    const auto date = values_of(*lineorder, "lo_orderdate");
    const auto discount = values_of(*lineorder, "lo_discount");
    const auto quantity = values_of(*lineorder, "lo_quantity");
    int64_t hits = 0;
    for (size_t i = 0; i < date.size(); ++i)
        hits += date[i].starts_with("1993") && std::stoi(discount[i]) >= 1 &&
                std::stoi(discount[i]) <= 3 && std::stoi(quantity[i]) < 25;
    // The paper's filter factor of Q1.1: 1/7 * 3/11 * 1/2.
    EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(date.size()), 0.0194, 0.002);
    EXPECT_EQ(*std::max_element(date.begin(), date.end()), "19980802");
}

TEST(Ssb, KeepsTheSumsOfAnOrder) {
    const auto table = table_of(request_of("ssb", 60'000), "lineorder");
    Block block = table->make_chunk(0);
    auto number = [&](const char* name, int64_t row) {
        return int64_t{block.columns[table->schema().find(name)].values.as<int32_t>()[row]};
    };
    std::map<int64_t, std::pair<int64_t, int64_t>> orders;  // sum and stated total
    for (int64_t row = 0; row < block.rows; ++row) {
        const int64_t price = number("lo_extendedprice", row);
        EXPECT_EQ(number("lo_revenue", row), price * (100 - number("lo_discount", row)) / 100);
        auto& [sum, total] = orders[number("lo_orderkey", row)];
        sum += price * (100 - number("lo_discount", row)) * (100 + number("lo_tax", row)) / 10'000;
        total = number("lo_ordertotalprice", row);
    }
    for (const auto& [order, sums] : orders) ASSERT_EQ(sums.first, sums.second) << order;
}

TEST(Datagen, DoesNotDependOnThreads) {
    const ScratchDirectory scratch;
    const auto table = table_of(request_of("accesslog", 300'000), "accesslog");
    std::vector<std::string> files;
    for (const int threads : {1, 3}) {
        OutputOptions options;
        options.directory = scratch.path / std::to_string(threads);
        options.threads = threads;
        Progress progress;
        const Written written = generate(*table, options, progress);
        EXPECT_EQ(written.rows, 300'000);
        files.push_back(read_file(fs::path(options.directory) / "accesslog.parquet"));
        EXPECT_EQ(files.back().size(), written.bytes);
    }
    EXPECT_TRUE(files[0] == files[1]);
}

TEST(Datagen, SplitsIntoFilesAndPartitions) {
    const ScratchDirectory scratch;
    const auto table = table_of(request_of("ssb", 200'000), "lineorder");
    OutputOptions options;
    options.directory = scratch.path;
    options.format = FileFormat::kCsv;
    options.files = 2;
    options.partition = "lo_year";
    options.threads = 2;
    Progress progress;
    const Written written = generate(*table, options, progress);
    EXPECT_EQ(written.files, 14);
    int64_t lines = 0;
    for (const int file : {0, 1}) {
        std::ifstream part(scratch.path /
                           fmt::format("lineorder/lo_year=1995/part-{:04}.csv", file));
        std::string line;
        std::getline(part, line);  // the header
        for (; std::getline(part, line); ++lines)
            ASSERT_NE(line.find(",1995"), std::string::npos) << line;
    }
    int64_t expected = 0;
    for (const std::string& date : values_of(*table, "lo_orderdate"))
        expected += date.starts_with("1995");
    EXPECT_EQ(lines, expected);
    EXPECT_THROW(generate(*table, options, progress),
                 base::Error);  // the directory is not empty now
}

TEST(Datagen, NamesPartitionsAsHiveDoes) {
    const auto table = table_of(request_of("accesslog", 5'000), "accesslog");
    const PartitionKey by_agent(*table, "user_agent");
    EXPECT_EQ(by_agent.schema().find("user_agent"), -1);
    Block block = table->make_chunk(0);
    const auto parts = by_agent.split(block);
    EXPECT_TRUE(parts.contains("user_agent=curl%2F8.11.0"));
    Block again = table->make_chunk(0);
    EXPECT_TRUE(PartitionKey(*table, "referrer")
                    .split(again)
                    .contains("referrer=__HIVE_DEFAULT_PARTITION__"));
    EXPECT_THROW(PartitionKey(*table, "nothing"), base::Error);
}

TEST(TextFormat, QuotesWhatCsvNeedsQuoted) {
    column::ColumnBuilder builder(column::make_type(column::TypeId::kUtf8));
    for (const char* text : {"plain", "a,b", "say \"hi\"", "two\nlines", ""})
        builder.append_bytes(text);
    builder.append_null();
    column::Column column = builder.finish();
    std::string out;
    for (int64_t row = 0; row < column.length; ++row) {
        append_csv_field(column.view(), row, out);
        out += '|';
    }
    EXPECT_EQ(out, "plain|\"a,b\"|\"say \"\"hi\"\"\"|\"two\nlines\"|\"\"||");
}

std::optional<CommandLine> parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "loom-datagen");
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    optind = 0;  // getopt starts afresh
    return parse_command_line(static_cast<int>(arguments.size()), argv.data());
}

TEST(Options, ParsesAndRefuses) {
    const auto line = parse(
        {"ssb", "-s", "0.5", "--format=csv", "-n", "3", "--partition=lo_year", "--seed", "7"});
    ASSERT_TRUE(line.has_value());
    EXPECT_EQ(line->request.scale, 0.5);
    EXPECT_EQ(line->request.seed, 7);
    EXPECT_EQ(line->output.format, FileFormat::kCsv);
    EXPECT_EQ(line->output.files, 3);
    for (const std::vector<std::string>& bad :
         std::vector<std::vector<std::string>>{{},
                                               {"ssb", "more"},
                                               {"ssb", "--scale=0"},
                                               {"ssb", "--scale=x"},
                                               {"ssb", "-n", "0"},
                                               {"ssb", "--format=xls"},
                                               {"ssb", "--codec=rar"},
                                               {"ssb", "--rows=-1"}})
        EXPECT_THROW(parse(bad), base::Error);
    EXPECT_THROW(make_tables(request_of("nothing", 1)), base::Error);
}

}  // namespace
}  // namespace loom::datagen
