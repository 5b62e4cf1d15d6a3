// Reads every file of the corpus: valid ones must give the rows and sums that other readers saw,
// bad ones an error or rows, never anything worse. Skipped where the corpus is not there.
//
// LOOM_CORPUS names another place, LOOM_CORPUS_FILE one file to look at, LOOM_CORPUS_VERBOSE lists
// all refusals.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "format/parquet/reader.h"
#include "format/parquet/test/value_text.h"
#include "format/test_corpus.h"

namespace loom::parquet::test {
namespace {

namespace fs = std::filesystem;

using format::test_corpus;

std::vector<std::string> split_line(const std::string& line, char separator) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"' && separator == ',')
            quoted = !quoted;
        else if (c == separator && !quoted)
            fields.emplace_back();
        else
            fields.back() += c;
    }
    return fields;
}

struct ManifestEntry {
    std::string file;
    int64_t rows = -1;
};

std::vector<ManifestEntry> manifest(std::string_view prefix) {
    std::vector<ManifestEntry> entries;
    std::ifstream in(test_corpus() / "MANIFEST.tsv");
    const char* only = std::getenv("LOOM_CORPUS_FILE");
    for (std::string line; std::getline(in, line);) {
        const auto fields = split_line(line, '\t');
        if (fields.size() < 10 || !fields[0].starts_with(prefix)) continue;
        if (only != nullptr && fields[0].find(only) == std::string::npos) continue;
        entries.push_back({fields[0], fields[9].empty() ? -1 : std::stoll(fields[9])});
    }
    return entries;
}

struct Expected {
    std::string name, type;
    std::string non_null, sum, min, max, note;
};

// file -> column number (from 0) -> what DuckDB saw
std::map<std::string, std::map<int, Expected>> expected_columns() {
    std::map<std::string, std::map<int, Expected>> result;
    for (const auto& entry : fs::directory_iterator(test_corpus() / "expected")) {
        const std::string name = entry.path().filename();
        if (!name.starts_with("duckdb-") || name == "duckdb-datasets.csv") continue;
        std::ifstream in(entry.path());
        std::string line, more;
        while (std::getline(in, line)) {
            while (std::count(line.begin(), line.end(), '"') % 2 == 1 && std::getline(in, more))
                line += "\n" + more;
            const auto f = split_line(line, ',');
            if (f.size() < 11 || f[2].empty() || !std::isdigit(f[2][0])) continue;
            result[f[0]][std::stoi(f[2]) - 1] = {f[3], f[4], f[5], f[6], f[7], f[8], f[10]};
        }
    }
    return result;
}

// Reads a column in full, in batches of `batch` rows.
template <typename Each>
void read_column(const format::TableReader& table, int column, int64_t batch,
                 const format::ReadOptions& options, Each&& each) {
    for (int64_t group = 0; group < table.row_group_count(); ++group) {
        auto reader = table.open_column(group, column, options);
        const int64_t rows = table.row_group_rows(group);
        for (int64_t row = 0; row < rows; row += batch)
            each(reader->read(row, std::min(batch, rows - row)));
    }
}

std::string column_text(const format::TableReader& table, int column, int64_t batch,
                        const format::ReadOptions& options = {}) {
    std::string text;
    read_column(table, column, batch, options, [&](const column::ColumnView& view) {
        for (int64_t i = 0; i < view.length; ++i) append_value(view, i, text);
    });
    return text;
}

// Every third row of each batch of 100 by gather(), every 7th, and all of them.
std::string gathered_text(const format::TableReader& table, int column, int step, bool by_gather) {
    std::string text;
    for (int64_t group = 0; group < table.row_group_count(); ++group) {
        auto reader = table.open_column(group, column, {});
        const int64_t rows = table.row_group_rows(group);
        for (int64_t row = 0; row < rows; row += 100) {
            const int64_t count = std::min<int64_t>(100, rows - row);
            std::vector<uint16_t> selection;
            for (int64_t i = step / 2; i < count; i += step)
                selection.push_back(static_cast<uint16_t>(i));
            const auto view =
                by_gather ? reader->gather(row, count, selection) : reader->read(row, count);
            if (by_gather) {
                EXPECT_EQ(view.length, static_cast<int64_t>(selection.size()));
                for (int64_t i = 0; i < view.length; ++i) append_value(view, i, text);
            } else {
                for (const uint16_t i : selection) append_value(view, i, text);
            }
        }
    }
    return text;
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

std::string decimal_text(__int128 value, int scale) {
    std::string digits = column::to_string(value < 0 ? -value : value);
    const std::string_view sign = value < 0 ? "-" : "";
    if (scale <= 0) return fmt::format("{}{}", sign, digits);
    const size_t fraction = static_cast<size_t>(scale);
    if (digits.size() <= fraction) digits = fmt::format("{:0>{}}", digits, fraction + 1);
    const size_t whole = digits.size() - fraction;
    return fmt::format("{}{}.{}", sign, digits.substr(0, whole), digits.substr(whole));
}

// Compares with what DuckDB saw, where the two mean the same. Returns what differs.
std::string compare(const Summary& seen, const Expected& expected) {
    if (contains(expected.note, "ERROR") || contains(expected.note, "error") ||
        expected.non_null.empty())
        return {};
    // DuckDB takes a variant's null for NULL, and shows no interval of these files.
    if (contains(expected.type, "VARIANT") || seen.type.id == column::TypeId::kIntervalMonthDayNano)
        return {};
    if (std::to_string(seen.non_null) != expected.non_null)
        return fmt::format("{} non-null, expected {}", seen.non_null, expected.non_null);
    if (seen.non_null == 0 || expected.sum.empty()) return {};
    const column::TypeId id = seen.type.id;
    const bool integer = column::is_integer(id) || id == column::TypeId::kDecimal;
    if (contains(expected.type, "DOUBLE") || contains(expected.type, "FLOAT")) {
        if (integer) return {};  // decimals beyond 38 digits
        const double sum = std::stod(expected.sum);
        if (std::abs(static_cast<double>(seen.float_sum) - sum) >
            1e-6 * std::max(1.0, std::abs(sum)))
            return fmt::format("float sum {} expected {}", static_cast<double>(seen.float_sum),
                               expected.sum);
        return {};
    }
    if (seen.type.id == column::TypeId::kFixedBinary) return {};
    const std::string sum = decimal_text(
        seen.integer_sum, integer && id == column::TypeId::kDecimal ? seen.type.scale : 0);
    auto same_number = [](const std::string& ours, const std::string& text) {
        return ours == text || (ours.starts_with("0.") && ours.substr(1) == text) ||
               (ours.starts_with("-0.") && ours.substr(2) == text.substr(1));
    };
    if (!same_number(sum, expected.sum))
        return fmt::format("sum {} expected {}", sum, expected.sum);
    if (integer) {
        const int scale = id == column::TypeId::kDecimal ? seen.type.scale : 0;
        if (!same_number(decimal_text(seen.integer_min, scale), expected.min) ||
            !same_number(decimal_text(seen.integer_max, scale), expected.max))
            return fmt::format("bounds {} {} expected {} {}", decimal_text(seen.integer_min, scale),
                               decimal_text(seen.integer_max, scale), expected.min, expected.max);
    }
    if (id == column::TypeId::kUtf8 && expected.type == "VARCHAR" &&
        !contains(expected.min, "chars, md5") && !contains(expected.max, "chars, md5") &&
        !contains(expected.min, "\\0") && !contains(seen.bytes_min + seen.bytes_max, "\"") &&
        (seen.bytes_min != expected.min || seen.bytes_max != expected.max))
        return fmt::format("bounds {} {} expected {} {}", seen.bytes_min, seen.bytes_max,
                           expected.min, expected.max);
    return {};
}

struct Outcome {
    std::string refusal;  // why the file or a column could not be read
    std::string mistake;
};

void check_ways_of_reading(const format::TableReader& table, int column, Outcome& outcome) {
    const std::string text = column_text(table, column, column::kBatchRows);
    const std::string name = table.schema().fields[static_cast<size_t>(column)].name;
    auto differ = [&](std::string_view how, bool equal) {
        if (!equal) outcome.mistake += fmt::format("column \"{}\" differs {}; ", name, how);
    };
    differ("in batches of 13", text == column_text(table, column, 13));
    format::ReadOptions plain;
    plain.decode_dictionary = true;
    differ("without dictionary", text == column_text(table, column, 1000, plain));
    format::ReadOptions runs;
    runs.keep_runs = true;
    differ("with runs", text == column_text(table, column, 64, runs));
    for (const int step : {2, 7, 33})
        differ(fmt::format("gathered by {}", step), gathered_text(table, column, step, true) ==
                                                        gathered_text(table, column, step, false));
}

Outcome read_file(const std::string& file, int64_t rows, const std::map<int, Expected>* expected) {
    Outcome outcome;
    base::MemoryBudget budget(uint64_t{512} << 20);
    format::OpenOptions options;
    options.budget = &budget;
    try {
        auto table = open(io::open_local_file(test_corpus() / file), options);
        if (rows >= 0 && table->row_count() != rows)
            outcome.mistake += fmt::format("{} rows, expected {}; ", table->row_count(), rows);
        for (size_t c = 0; c < table->schema().fields.size(); ++c) {
            const int column = static_cast<int>(c);
            try {
                Summary summary;
                read_column(*table, column, column::kBatchRows, {},
                            [&](const column::ColumnView& view) { summary.add(view); });
                if (expected != nullptr && expected->contains(column)) {
                    const std::string difference = compare(summary, expected->at(column));
                    if (!difference.empty())
                        outcome.mistake += fmt::format("column \"{}\": {}; ",
                                                       table->schema().fields[c].name, difference);
                }
                if (table->row_count() < 20000) check_ways_of_reading(*table, column, outcome);
            } catch (const base::Error& error) {
                if (error.kind() == base::ErrorKind::kBug) outcome.mistake += error.what();
                if (outcome.refusal.empty()) outcome.refusal = error.what();
            }
        }
    } catch (const base::Error& error) {
        if (error.kind() == base::ErrorKind::kBug) outcome.mistake += error.what();
        outcome.refusal = error.what();
    }
    return outcome;
}

TEST(Corpus, ValidFiles) {
    const auto files = manifest("parquet/");
    if (files.empty()) GTEST_SKIP() << "no corpus at " << test_corpus();
    const auto expected = expected_columns();
    int64_t in_full = 0;
    for (const ManifestEntry& entry : files) {
        auto found = expected.find(entry.file);
        // DuckDB believes the wrong is_compressed flag of this file's pages.
        if (contains(entry.file, "ARROW-17100")) found = expected.end();
        const Outcome outcome =
            read_file(entry.file, entry.rows, found == expected.end() ? nullptr : &found->second);
        EXPECT_EQ(outcome.mistake, "") << entry.file;
        if (outcome.refusal.empty())
            ++in_full;
        else if (std::getenv("LOOM_CORPUS_VERBOSE") != nullptr)
            std::cout << "refused " << entry.file << ": " << outcome.refusal << "\n";
    }
    std::cout << in_full << " of " << files.size() << " valid files read in full\n";
    if (files.size() > 900) {
        EXPECT_GE(in_full * 100, static_cast<int64_t>(files.size()) * 97);
    }
}

TEST(Corpus, BadFiles) {
    const auto files = manifest("bad/");
    if (files.empty()) GTEST_SKIP() << "no corpus at " << test_corpus();
    int64_t refused = 0;
    for (const ManifestEntry& entry : files) {
        const Outcome outcome = read_file(entry.file, -1, nullptr);
        EXPECT_EQ(outcome.mistake, "") << entry.file;
        refused += outcome.refusal.empty() ? 0 : 1;
        if (!outcome.refusal.empty() && std::getenv("LOOM_CORPUS_VERBOSE") != nullptr)
            std::cout << "refused " << entry.file << ": " << outcome.refusal << "\n";
    }
    std::cout << refused << " of " << files.size() << " bad files refused\n";
}

}  // namespace
}  // namespace loom::parquet::test
