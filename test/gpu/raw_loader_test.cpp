// Columns that kernels encode from bytes of Arrow files: the same layout, bases and bytes as those
// that the host encodes, and left to the host where that raises.

#include "gpu/memory/raw_loader.h"

#include <string>

#include <gtest/gtest.h>

#include "gpu/memory/column_store.h"
#include "load_both_ways.h"

namespace loom::gpu {

namespace {

using F = column::TypeId;

class RawLoaderTest : public LoadBothWays {
  protected:
    std::string random_file(const Case& of, int64_t rows, int nulls, int64_t low, int64_t high,
                            int64_t batch, int index_width = 0) {
        column::Column column = random_column(of, rows, nulls, low, high);
        return arrow_file(of, column, batch, index_width);
    }
};

TEST(RawKernels, CompileForADevice) {
    expect_compiles(raw_kernels_text());
}

constexpr int64_t kRowCounts[] = {1, 7, 511, 512, 513, 1024, 3000};

TEST_F(RawLoaderTest, AllTypes) {
    for (const Case& of : cases()) {
        SCOPED_TRACE(column::to_string(*of.file) + " as " + plan::to_string(of.type));
        int raw = 0;
        int count = 0;
        for (const int64_t rows : kRowCounts)
            for (const int nulls : {0, 30, 100}) {
                SCOPED_TRACE(testing::Message() << rows << " rows, " << nulls << " NULL");
                const auto [low, high] = random_bounds(of);
                const int64_t batch = 1 + static_cast<int64_t>(maker_.pick(1200));
                raw += compare_files({random_file(of, rows, nulls, low, high, batch)}, of.type);
                ++count;
                if (HasFailure()) return;
            }
        // Timestamps of microseconds go beyond the calendar.
        EXPECT_GE(raw, count / 2);
        if (of.file->id != F::kTimestamp) {
            EXPECT_EQ(raw, count);
        }
    }
}

TEST_F(RawLoaderTest, EmptyFilesAndSeveral) {
    const Case of = cases()[6];
    EXPECT_FALSE(compare_files({}, of.type));
    compare_files({random_file(of, 0, 0, 0, 0, 100)}, of.type);
    EXPECT_TRUE(compare_files({random_file(of, 600, 0, 0, 9, 100), random_file(of, 0, 0, 0, 0, 100),
                               random_file(of, 2000, 10, -50'000, 70'000, 333)},
                              of.type));
    // Files that hold the same column in other ways.
    const Case narrow = cases()[8];
    const Case wide = cases()[9];
    EXPECT_TRUE(compare_files({random_file(narrow, 700, 10, -5, 300, 200),
                               random_file(wide, 900, 0, int64_t{1} << 20, int64_t{1} << 40, 500)},
                              wide.type));
}

TEST_F(RawLoaderTest, Texts) {
    const Case of{column::make_type(F::kUtf8), kText, 0, 0};
    for (const int width : {1, 2, 4, 8})
        for (const int nulls : {0, 25, 100})
            EXPECT_TRUE(compare_files({random_file(of, 2500, nulls, 0, 100, 700, width)}, kText))
                << width << " " << nulls;
    // Not in dictionaries.
    EXPECT_FALSE(compare_files({random_file(of, 100, 10, 0, 20, 70)}, kText));
}

TEST_F(RawLoaderTest, ValuesThatTheEngineDoesNotHave) {
    for (const Case& of : cases()) {
        if (of.file->id == F::kBool || column::is_integer(of.file->id)) continue;
        SCOPED_TRACE(column::to_string(*of.file));
        for (column::Column& column : columns_with_ends(of, INT64_MAX))
            compare_files({arrow_file(of, column, 500)}, of.type);
    }
}

// The same, or the same error, whatever a file says.
TEST_F(RawLoaderTest, DamagedFiles) {
    int raw = 0;
    int opened = 0;
    for (int round = 0; round < 400; ++round) {
        SCOPED_TRACE(round);
        const bool text = round % 3 == 0;
        const std::vector<Case> all = cases();
        const Case of =
            text ? Case{column::make_type(F::kUtf8), kText, 0, 40} : all[maker_.pick(all.size())];
        std::string file = random_file(of, 300, 20, std::max<int64_t>(of.low, -1'000'000),
                                       std::min<int64_t>(of.high, 1'000'000), 130, text ? 1 : 0);
        damage(file, file.size(), 8);
        try {
            table_of({file});
        } catch (const base::Error&) {
            continue;
        }
        ++opened;
        raw += compare_files({file}, of.type);
        if (HasFailure()) return;
    }
    EXPECT_GT(opened, 100);
    EXPECT_GT(raw, opened / 4);
}

TEST_F(RawLoaderTest, LargeBlocks) {
    const Case of = cases()[6];
    const int64_t rows = (int64_t{1} << 20) + 5;
    EXPECT_TRUE(compare_files({random_file(of, rows, 5, 0, 200'000, 100'001)}, of.type, 3));
}

// Many columns at once, with memory for the bytes of few.
TEST_F(RawLoaderTest, SeveralColumnsOfOneRequest) {
    const Case of = cases()[9];
    std::vector<exec::TableSource> tables;
    for (int i = 0; i < 12; ++i)
        tables.push_back(table_of({random_file(of, 4000, 10, 0, int64_t{1} << (3 * i + 4), 900),
                                   random_file(of, 1000, 0, -9, 9, 1000)}));
    for (const uint64_t most : {uint64_t{45'000}, uint64_t{100'000}, uint64_t{10'000'000}}) {
        SCOPED_TRACE(most);
        UploadRings rings(*opened_.device);
        std::vector<RawRequest> requests;
        for (const exec::TableSource& table : tables)
            requests.push_back({&table, 0, of.type, {0, 1}, nullptr, {}});
        std::vector<int> made(tables.size());
        RawLoader::Hooks hooks;
        hooks.check = [] {};
        hooks.choose = [](size_t, const ColumnShape& shape) { return shape.layout(); };
        hooks.make_room = [](uint64_t) {};
        hooks.made = [&](size_t request) { ++made[request]; };
        {
            RawLoader loader(*opened_.device, *modules_, rings, 4, most, hooks);
            loader.load(requests);
        }
        for (size_t i = 0; i < tables.size(); ++i) {
            EXPECT_EQ(made[i], 1);
            ASSERT_EQ(requests[i].made.size(), 2U);
            ColumnStore store(*opened_.device, 1);
            tiles_ = {8, 2};
            same(*store.get(tables[i], 0, of.type), *make_column(of.type, requests[i].made));
        }
    }
    // What throws in the middle ends all of it.
    struct Enough {};
    UploadRings rings(*opened_.device);
    std::vector<RawRequest> requests;
    for (const exec::TableSource& table : tables)
        requests.push_back({&table, 0, of.type, {0, 1}, nullptr, {}});
    std::atomic<int> looks = 0;
    RawLoader::Hooks hooks;
    hooks.check = [&] {
        if (++looks == 9) throw Enough{};
    };
    hooks.choose = [](size_t, const ColumnShape& shape) { return shape.layout(); };
    hooks.make_room = [](uint64_t) {};
    hooks.made = [](size_t) {};
    RawLoader loader(*opened_.device, *modules_, rings, 4, 45'000, hooks);
    EXPECT_THROW(loader.load(requests), Enough);
}

}  // namespace

}  // namespace loom::gpu
