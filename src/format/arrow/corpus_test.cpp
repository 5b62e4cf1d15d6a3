// Reads every Arrow file of the corpus in full: valid ones must give their rows, damaged ones an
// error or rows. What the values are is compared by scripts/corpus-check. Skipped where the corpus
// is not there; LOOM_CORPUS names its place.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "format/arrow/reader.h"
#include "format/arrow/test_columns.h"
#include "format/test_corpus.h"

namespace loom::arrow {

namespace {

namespace fs = std::filesystem;

using format::test_corpus;

// Calls `body` with name and row count (-1: unknown) of each file below `prefix`.
template <typename Body>
void for_each_file(const std::string& prefix, Body&& body) {
    constexpr size_t kRowsField = 9;
    std::ifstream manifest(test_corpus() / "MANIFEST.tsv");
    for (std::string line; std::getline(manifest, line);) {
        if (!line.starts_with(prefix)) continue;
        std::vector<std::string> fields;
        std::istringstream parts(line);
        for (std::string part; std::getline(parts, part, '\t');) fields.push_back(part);
        const bool counted = fields.size() > kRowsField && !fields[kRowsField].empty();
        body(fields[0], counted ? std::stoll(fields[kRowsField]) : -1);
    }
}

int64_t read_all(const std::string& file, const format::OpenOptions& options) {
    auto table = open(io::open_local_file((test_corpus() / file).string()), options);
    std::vector<std::string> rows;
    for (int64_t group = 0; group < table->row_group_count(); ++group) {
        const int64_t count = table->row_group_rows(group);
        table->chunks(group);
        for (size_t i = 0; i < table->schema().fields.size(); ++i) {
            table->statistics(group, static_cast<int>(i));
            auto reader = table->open_column(group, static_cast<int>(i), {});
            rows.clear();
            for (int64_t row = 0; row < count; row += column::kBatchRows)
                testing::append_rows(reader->read(row, std::min(column::kBatchRows, count - row)),
                                     rows);
            EXPECT_EQ(static_cast<int64_t>(rows.size()), count) << file;
        }
    }
    return table->row_count();
}

TEST(Corpus, ValidFilesAreReadInFull) {
    if (!fs::exists(test_corpus())) GTEST_SKIP() << "no corpus at " << test_corpus();
    int files = 0;
    for_each_file("arrow/", [&](const std::string& file, int64_t rows) {
        ++files;
        try {
            const int64_t got = read_all(file, {});
            EXPECT_TRUE(rows < 0 || got == rows) << file << " has " << got << " rows";
        } catch (const base::Error& error) {
            ADD_FAILURE() << error.what();
        }
    });
    EXPECT_GT(files, 100);
}

TEST(Corpus, DamagedFilesAreSurvived) {
    if (!fs::exists(test_corpus())) GTEST_SKIP() << "no corpus at " << test_corpus();
    for_each_file("bad/apache-arrow-testing/arrow-ipc", [&](const std::string& file, int64_t) {
        base::MemoryBudget budget(256 << 20);
        try {
            read_all(file, {.budget = &budget});
        } catch (const base::Error& error) {
            EXPECT_NE(error.kind(), base::ErrorKind::kBug) << error.what();
        }
        EXPECT_EQ(budget.used(), 0U) << file;
    });
}

}  // namespace

}  // namespace loom::arrow
