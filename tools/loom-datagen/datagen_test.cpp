#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
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

Request tpch_of(double scale) {
    Request request;
    request.kind = "tpch";
    request.scale = scale;
    return request;
}

TEST(Tpch, HasTheSizesOfTheSpecification) {
    const std::map<std::string, size_t> expected = {
        {"region", 5},   {"nation", 25},       {"supplier", 200}, {"customer", 3'000},
        {"part", 4'000}, {"partsupp", 16'000}, {"orders", 30'000}};
    const auto tables = make_tables(tpch_of(0.02));
    ASSERT_EQ(tables.size(), 8);
    for (const auto& table : tables) {
        const size_t rows = values_of(*table, table->schema().fields[0].name).size();
        if (table->name() == "lineitem")
            EXPECT_NEAR(static_cast<double>(rows), 120'000, 1'000);
        else
            EXPECT_EQ(rows, expected.at(table->name())) << table->name();
    }
    EXPECT_THROW(make_tables(tpch_of(10'001)), base::Error);
}

TEST(Tpch, WidensOrderKeysWhereNeeded) {
    const auto key_type = [](double scale) {
        return table_of(tpch_of(scale), "lineitem")->schema().fields[0].type->id;
    };
    EXPECT_EQ(key_type(357), column::TypeId::kInt32);
    EXPECT_EQ(key_type(358), column::TypeId::kInt64);
}

TEST(Tpch, KeysMeet) {
    // Small scales have few suppliers, and nevertheless four different ones for each part.
    for (const double scale : {0.0002, 0.001, 0.012, 0.02}) {
        SCOPED_TRACE(scale);
        const auto partsupp = table_of(tpch_of(scale), "partsupp");
        const auto ps_part = values_of(*partsupp, "ps_partkey");
        const auto ps_supplier = values_of(*partsupp, "ps_suppkey");
        std::set<std::pair<std::string, std::string>> offers;
        for (size_t i = 0; i < ps_part.size(); ++i) offers.emplace(ps_part[i], ps_supplier[i]);
        EXPECT_EQ(offers.size(), ps_part.size());
        const auto lineitem = table_of(tpch_of(scale), "lineitem");
        const auto l_part = values_of(*lineitem, "l_partkey");
        const auto l_supplier = values_of(*lineitem, "l_suppkey");
        for (size_t i = 0; i < l_part.size(); ++i)
            ASSERT_TRUE(offers.contains({l_part[i], l_supplier[i]})) << l_part[i];
        const auto suppliers = values_of(*table_of(tpch_of(scale), "supplier"), "s_suppkey");
        const std::set<std::string> known(suppliers.begin(), suppliers.end());
        for (const std::string& key : ps_supplier) ASSERT_TRUE(known.contains(key)) << key;
    }
    const auto customers = values_of(*table_of(tpch_of(0.02), "customer"), "c_custkey");
    const auto buyers = values_of(*table_of(tpch_of(0.02), "orders"), "o_custkey");
    const std::set<std::string> known(customers.begin(), customers.end());
    for (const std::string& key : buyers) {
        ASSERT_TRUE(known.contains(key)) << key;
        ASSERT_NE(std::stoi(key) % 3, 0) << key;
    }
    EXPECT_NEAR(static_cast<double>(std::set(buyers.begin(), buyers.end()).size()), 2'000, 5);
}

// What is known of an order from its lines.
struct LineSums {
    int64_t charge = 0;  // in units of 1/10,000 cent
    std::set<std::string> statuses;
};

TEST(Tpch, OrdersAgreeWithTheirLines) {
    const auto lineitem = table_of(tpch_of(0.02), "lineitem");
    const auto number = [](const std::string& text) { return std::llround(std::stod(text) * 100); };
    const auto key = values_of(*lineitem, "l_orderkey");
    const auto price = values_of(*lineitem, "l_extendedprice");
    const auto discount = values_of(*lineitem, "l_discount");
    const auto tax = values_of(*lineitem, "l_tax");
    const auto status = values_of(*lineitem, "l_linestatus");
    std::map<std::string, LineSums> sums;
    for (size_t i = 0; i < key.size(); ++i) {
        LineSums& order = sums[key[i]];
        order.charge += number(price[i]) * (100 - number(discount[i])) * (100 + number(tax[i]));
        order.statuses.insert(status[i]);
    }
    const auto orders = table_of(tpch_of(0.02), "orders");
    const auto o_key = values_of(*orders, "o_orderkey");
    const auto o_status = values_of(*orders, "o_orderstatus");
    const auto total = values_of(*orders, "o_totalprice");
    ASSERT_EQ(sums.size(), o_key.size());
    for (size_t i = 0; i < o_key.size(); ++i) {
        const LineSums& order = sums[o_key[i]];
        ASSERT_EQ(number(total[i]), (order.charge + 5'000) / 10'000) << o_key[i];
        ASSERT_EQ(o_status[i], order.statuses.size() == 2 ? "P" : *order.statuses.begin());
        ASSERT_LT((std::stoi(o_key[i]) - 1) % 32, 8);
    }
}

TEST(Tpch, FlagsFollowFromDays) {
    const auto lineitem = table_of(tpch_of(0.01), "lineitem");
    const auto ship = values_of(*lineitem, "l_shipdate");
    const auto receipt = values_of(*lineitem, "l_receiptdate");
    const auto status = values_of(*lineitem, "l_linestatus");
    const auto flag = values_of(*lineitem, "l_returnflag");
    for (size_t i = 0; i < ship.size(); ++i) {
        ASSERT_EQ(status[i], ship[i] > "1995-06-17" ? "O" : "F") << ship[i];
        ASSERT_EQ(flag[i] == "N", receipt[i] > "1995-06-17") << receipt[i];
        ASSERT_LT(ship[i], receipt[i]);
        ASSERT_LE(receipt[i], "1998-12-31");
    }
    const auto ordered = values_of(*table_of(tpch_of(0.01), "orders"), "o_orderdate");
    EXPECT_EQ(*std::min_element(ordered.begin(), ordered.end()), "1992-01-01");
    EXPECT_EQ(*std::max_element(ordered.begin(), ordered.end()), "1998-08-02");
}

// Rows whose text has `first` and, behind it, `second`.
int64_t count_with(const std::vector<std::string>& texts, const char* first, const char* second) {
    return std::count_if(texts.begin(), texts.end(), [&](const std::string& text) {
        const size_t at = text.find(first);
        return at != std::string::npos && text.find(second, at) != std::string::npos;
    });
}

TEST(Tpch, WritesTextsAsSpecified) {
    const auto remarks = values_of(*table_of(tpch_of(1), "supplier"), "s_comment");
    EXPECT_EQ(count_with(remarks, "Customer", "Complaints"), 5);
    EXPECT_EQ(count_with(remarks, "Customer", "Recommends"), 5);
    for (const std::string& text : remarks) {
        ASSERT_GE(text.size(), 25);
        ASSERT_LE(text.size(), 100);
    }
    const auto comments = values_of(*table_of(tpch_of(0.05), "orders"), "o_comment");
    EXPECT_NEAR(static_cast<double>(count_with(comments, "special", "requests")) /
                    static_cast<double>(comments.size()),
                0.011, 0.003);
    const auto part = table_of(tpch_of(0.02), "part");
    for (const std::string& name : values_of(*part, "p_name")) {
        std::istringstream words(name);
        const std::set<std::string> colors{std::istream_iterator<std::string>(words), {}};
        ASSERT_EQ(colors.size(), 5) << name;
    }
    const auto maker = values_of(*part, "p_mfgr");
    const auto brand = values_of(*part, "p_brand");
    for (size_t i = 0; i < maker.size(); ++i) ASSERT_EQ(maker[i].back(), brand[i][6]) << brand[i];
    const auto price = values_of(*part, "p_retailprice");
    EXPECT_EQ(price[0], "901.00");
    EXPECT_EQ(price[1'233], "1135.23");
    const auto customer = table_of(tpch_of(0.02), "customer");
    const auto nation = values_of(*customer, "c_nationkey");
    const auto phone = values_of(*customer, "c_phone");
    for (size_t i = 0; i < nation.size(); ++i)
        ASSERT_EQ(std::stoi(phone[i].substr(0, 2)), std::stoi(nation[i]) + 10) << phone[i];
}

TEST(Tpch, DoesNotDependOnThreads) {
    const ScratchDirectory scratch;
    for (const FileFormat format : {FileFormat::kParquet, FileFormat::kArrow, FileFormat::kCsv}) {
        for (const char* name : {"orders", "lineitem"}) {
            std::vector<std::string> files;
            for (const int threads : {1, 3}) {
                OutputOptions options;
                options.directory = scratch.path / std::to_string(threads);
                options.format = format;
                options.threads = threads;
                Progress progress;
                generate(*table_of(tpch_of(0.025), name), options, progress);
                files.push_back(read_file(fs::path(options.directory) /
                                          fmt::format("{}.{}", name, extension(format))));
            }
            EXPECT_TRUE(files[0] == files[1]) << name << " as " << extension(format);
        }
    }
    const auto lineitem = table_of(tpch_of(0.02), "lineitem");
    Block block = lineitem->make_chunk(0);
    EXPECT_EQ(PartitionKey(*lineitem, "l_year").split(block).size(), 7);
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
