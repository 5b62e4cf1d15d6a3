// Columns of files that stay on a device: what tables share, what makes room, and that answers are
// right whatever was loaded and dropped before.

#include "gpu/memory/column_store.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "compare.h"
#include "plan_device.h"
#include "random_plans.h"

namespace loom::gpu {

namespace {

namespace fs = std::filesystem;

constexpr int kFiles = 6;
constexpr int64_t kRows = 5000;

// Files of one table whose values need more and more room, and whose texts differ in part.
std::vector<ColumnPlan> columns_of_file(int file) {
    constexpr int64_t kHigh[] = {3, 3, 200, 40'000, int64_t{1} << 24, int64_t{1} << 40};
    const int64_t high = kHigh[file];
    return {{kText, file, file + 8, file == 1 ? 30 : 0},
            {kInt8, file == 4 ? -5 : 0, high, file % 2 == 0 ? 0 : 10},
            {kInt4, file == 2 ? 100 : file, 100 + file}};
}

class ColumnStoreTest : public testing::Test {
  protected:
    void SetUp() override {
        opened_ = open_plan_device();
        directory_ = fs::temp_directory_path() / ("loom-gpu-store-" + std::to_string(getpid()));
        fs::remove_all(directory_);
        fs::create_directories(directory_);
        Maker maker(7);
        for (int i = 0; i < kFiles; ++i) {
            const std::string path = (directory_ / (std::to_string(i) + ".parquet")).string();
            files_.push_back(maker.make_table(columns_of_file(i), kRows, path).files[0]);
        }
    }
    void TearDown() override { fs::remove_all(directory_); }

    exec::TableSource table(const std::vector<int>& files) const {
        exec::TableSource source;
        for (const int file : files) source.files.push_back(files_[static_cast<size_t>(file)]);
        return source;
    }
    std::string path(int file) const {
        return files_[static_cast<size_t>(file)].reader->file().path();
    }

    // Groups by the text; the other columns are added up and compared.
    static plan::Operator aggregate() {
        plan::Operator op;
        op.kind = plan::OperatorKind::kAggregate;
        op.grouped = true;
        op.rows = 20;
        op.inputs.push_back(scan(0, columns_of_file(0), kRows));
        op.group_keys = {plan::make_column(0, kText)};
        op.aggregates = {aggregate_call(2803, {}),
                         aggregate_call(2131, {plan::make_column(1, kInt8)}),
                         aggregate_call(2115, {plan::make_column(1, kInt8)}),
                         aggregate_call(2147, {plan::make_column(1, kInt8)}),
                         aggregate_call(2108, {plan::make_column(2, kInt4)})};
        op.output = {kText};
        for (const plan::Aggregate& call : op.aggregates) op.output.push_back(call.type);
        return op;
    }

    PlanDevice opened_;
    fs::path directory_;
    std::vector<exec::ScanFile> files_;
};

TEST_F(ColumnStoreTest, TablesShareTheirFiles) {
    ColumnStore store(*opened_.device, 2);
    EXPECT_EQ(store.find(table({0, 1}), 1, kInt8), nullptr);
    const auto both = store.get(table({0, 1}), 1, kInt8);
    const uint64_t bytes = store.bytes();
    EXPECT_GT(bytes, 0U);
    EXPECT_EQ(both->facts.min, 0);
    EXPECT_EQ(both->facts.max, 3);
    EXPECT_TRUE(both->facts.layout.nullable);
    const auto one = store.find(table({1}), 1, kInt8);
    ASSERT_NE(one, nullptr);
    EXPECT_EQ(one->files[0], both->files[1]);
    EXPECT_FALSE(store.get(table({0}), 1, kInt8)->facts.layout.nullable);
    EXPECT_EQ(store.bytes(), bytes);
    // A file more that needs more room: the first ones are encoded anew, and stay so.
    const auto three = store.get(table({0, 1, 3}), 1, kInt8);
    EXPECT_NE(three->files[0], both->files[0]);
    EXPECT_EQ(store.get(table({0, 1}), 1, kInt8)->files[0], three->files[0]);
    EXPECT_EQ(store.get(table({}), 1, kInt8)->views.size(), 0U);
    EXPECT_EQ(store.list().size(), 3U);
}

TEST_F(ColumnStoreTest, WhatIsUsedStays) {
    ColumnStore store(*opened_.device, 2);
    for (const int file : {0, 1, 2}) store.get(table({file}), 1, kInt8);
    store.get(table({0}), 1, kInt8);
    auto used = store.get(table({1}), 2, kInt4);
    // Those used once go first, the oldest before the others.
    EXPECT_GT(store.drop(1), 0U);
    EXPECT_EQ(store.find(table({1}), 1, kInt8), nullptr);
    EXPECT_NE(store.find(table({2}), 1, kInt8), nullptr);
    store.drop(UINT64_MAX);
    EXPECT_NE(store.find(table({1}), 2, kInt4), nullptr);
    EXPECT_EQ(store.find(table({0}), 1, kInt8), nullptr);
    EXPECT_EQ(store.list().size(), 1U);
    EXPECT_TRUE(store.list()[0].in_use);
    used = nullptr;
    EXPECT_EQ(store.drop_files({path(0)}), 0U);
    EXPECT_GT(store.drop_files({path(1)}), 0U);
    EXPECT_EQ(store.bytes(), 0U);
}

TEST_F(ColumnStoreTest, LimitsAreKept) {
    ColumnStore all(*opened_.device, 2);
    all.get(table({5}), 1, kInt8);
    // Room for two such columns, by the estimate.
    ColumnStore store(*opened_.device, 2, all.bytes() * 5 / 2);
    for (const int file : {0, 1, 2, 3, 4, 5, 0, 5}) {
        store.get(table({file}), 1, kInt8);
        EXPECT_LE(store.bytes(), all.bytes() * 5 / 2);
    }
    try {
        store.get(table({0, 1, 2, 3, 4, 5}), 1, kInt8);
        FAIL();
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.kind(), DeviceError::Kind::kMemory);
    }
    EXPECT_NE(store.get(table({3}), 1, kInt8), nullptr);
}

TEST_F(ColumnStoreTest, WhoGivesUpLeavesNothing) {
    struct Enough {};
    ColumnStore store(*opened_.device, 2);
    std::atomic<int> looks = 0;
    EXPECT_THROW(store.get(table({0, 1, 2}), 1, kInt8,
                           [&] {
                               if (++looks == 2) throw Enough{};
                           }),
                 Enough);
    EXPECT_EQ(store.bytes(), 0U);
    EXPECT_NE(store.get(table({0, 1, 2}), 1, kInt8), nullptr);
}

TEST_F(ColumnStoreTest, AnswersAreRightWhateverWasThere) {
    if (opened_.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened_.reason;
    ModuleCache modules(*opened_.device, *opened_.compiler, {});
    ColumnStore all(*opened_.device, 2);
    all.get(table({0, 1, 2, 3, 4, 5}), 1, kInt8);
    ColumnStore store(*opened_.device, 2, all.bytes() * 2);
    DevicePool pool(*opened_.device);
    DeviceContext context{*opened_.device, modules, store};
    context.pool = &pool;
    std::mt19937 random(3);
    const plan::Operator op = aggregate();
    for (int round = 0; round < 40; ++round) {
        std::vector<int> files;
        for (int file = 0; file < kFiles; ++file)
            if (random() % 2 == 0) files.push_back(file);
        std::shuffle(files.begin(), files.end(), random);
        exec::Inputs inputs;
        inputs.tables.push_back(table(files));
        if (random() % 8 == 0) store.drop(random() % (all.bytes() + 1));
        const auto rows = run_aggregate(context, op, inputs);
        ASSERT_EQ(rows_of(*rows, op.output.size()), rows_on_cpu(op, inputs)) << "round " << round;
    }
}

}  // namespace

}  // namespace loom::gpu
