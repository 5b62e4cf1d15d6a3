// Tables that the device cannot hold at once: parts of them one after the other.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compare.h"
#include "exec/fault.h"
#include "gpu/codegen/expression_text.h"
#include "gpu/run/partial_groups.h"
#include "plan_device.h"
#include "random_plans.h"

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;

const plan::Type kNumeric = plan::make_numeric(12, 2);

class Parts : public testing::Test {
  protected:
    void SetUp() override {
        opened_ = open_plan_device();
        if (opened_.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened_.reason;
        modules_ =
            std::make_unique<ModuleCache>(*opened_.device, *opened_.compiler, ModuleCacheOptions());
        folder_ = fs::temp_directory_path() / ("loom-parts-" + std::to_string(getpid()));
        fs::create_directories(folder_);
        inputs_.tables.resize(2);
        // Files whose values have little in common: each part has encodings of its own.
        const std::vector<std::vector<ColumnPlan>> files = {
            plans(0, 5), plans(-40'000, 8), plans(3, 3), plans(1'000'000, 40), plans(0, 5)};
        const int64_t rows[] = {5'000, 3'000, 0, 1, 4'096};
        for (size_t i = 0; i < files.size(); ++i) {
            const std::string path = folder_ / ("facts" + std::to_string(i) + ".parquet");
            inputs_.tables[0].files.push_back(maker_.make_table(files[i], rows[i], path).files[0]);
            rows_ += rows[i];
        }
        const std::vector<ColumnPlan> dimension = {{kInt4, 0, 9, 0, true}, {kText, 0, 3}};
        inputs_.tables[1] = maker_.make_table(dimension, 10, folder_ / "dimension.parquet");
    }
    void TearDown() override { fs::remove_all(folder_); }

    // A key, a measure, a text, a numeric, a foreign key.
    static std::vector<ColumnPlan> plans(int64_t low, int64_t reach) {
        return {{kInt4, low, low + reach, 5},
                {kInt8, -low * 1'000'000'007, low * 3 + (int64_t{1} << 40)},
                {kText, reach / 2, reach + 3, 10},
                {kNumeric, low - 100, low + 1'000'000},
                {kInt4, 0, 12}};
    }

    plan::Operator aggregate(std::vector<plan::Expr> keys, std::vector<plan::Aggregate> calls) {
        plan::Operator query;
        query.kind = plan::OperatorKind::kAggregate;
        query.grouped = !keys.empty();
        for (const plan::Expr& key : keys) query.output.push_back(key.type);
        for (const plan::Aggregate& call : calls) query.output.push_back(call.type);
        query.group_keys = std::move(keys);
        query.aggregates = std::move(calls);
        query.inputs = {scan(0, plans(0, 1), static_cast<double>(rows_))};
        query.rows = 100;
        return query;
    }
    // sum(int4), sum and avg(int8), sum and avg(numeric), least and greatest, two counts.
    static std::vector<plan::Aggregate> all_calls() {
        std::vector<plan::Aggregate> calls;
        const auto add = [&](uint32_t function, int column, plan::Type type) {
            calls.push_back(aggregate_call(function, {plan::make_column(column, type)}));
        };
        add(2108, 0, kInt4);
        add(2107, 1, kInt8);
        add(2100, 1, kInt8);
        add(2114, 3, kNumeric);
        add(2103, 3, kNumeric);
        add(2132, 0, kInt4);
        add(2116, 0, kInt4);
        add(2147, 2, kText);
        calls.push_back(aggregate_call(2803, {}));
        return calls;
    }

    // Runs with room for one file at once; returns the parts.
    size_t check(const plan::Operator& query) {
        ColumnStore columns(*opened_.device, 2);
        DeviceContext context{*opened_.device, *modules_, columns};
        context.most_bytes = 1;
        RunTimes times;
        const auto rows = run_aggregate(context, query, inputs_, &times);
        EXPECT_EQ(rows_of(*rows, query.output.size()), rows_on_cpu(query, inputs_));
        return times.parts;
    }

    PlanDevice opened_;
    std::unique_ptr<ModuleCache> modules_;
    fs::path folder_;
    Maker maker_{11};
    exec::Inputs inputs_;
    int64_t rows_ = 0;
};

}  // namespace

TEST_F(Parts, GroupsAddUp) {
    EXPECT_EQ(
        check(aggregate({plan::make_column(0, kInt4), plan::make_column(2, kText)}, all_calls())),
        5U);
    EXPECT_EQ(check(aggregate({plan::make_column(2, kText)}, all_calls())), 5U);
}

TEST_F(Parts, OneGroupWithoutKeys) {
    EXPECT_EQ(check(aggregate({}, all_calls())), 5U);
    // No row at all.
    plan::Operator none = aggregate({}, all_calls());
    plan::Operator filter;
    filter.kind = plan::OperatorKind::kFilter;
    filter.inputs = std::move(none.inputs);
    filter.output = filter.inputs[0].output;
    filter.predicates = {
        function_call(66, {plan::make_column(0, kInt4),
                           plan::make_constant(kInt4, column::Scalar::of_int(-2'000'000'000))})};
    none.inputs = {filter};
    EXPECT_EQ(check(none), 5U);
}

TEST_F(Parts, BuildSidesAreThereForEachPart) {
    plan::Operator query = aggregate({plan::make_column(6, kText)}, all_calls());
    plan::Operator join;
    join.kind = plan::OperatorKind::kJoin;
    join.join = plan::JoinType::kLeft;
    join.probe_keys = {plan::make_column(4, kInt4)};
    join.build_keys = {plan::make_column(0, kInt4)};
    const std::vector<ColumnPlan> dimension = {{kInt4, 0, 9}, {kText, 0, 3}};
    join.inputs = {query.inputs[0], scan(1, dimension, 10)};
    join.output = query.inputs[0].output;
    join.output.insert(join.output.end(), {kInt4, kText});
    query.inputs = {join};
    EXPECT_EQ(check(query), 5U);
}

TEST_F(Parts, WhatTheStoreHoldsIsTheLimit) {
    const plan::Operator query = aggregate({plan::make_column(2, kText)}, all_calls());
    const auto expected = rows_on_cpu(query, inputs_);
    ColumnStore large(*opened_.device, 2);
    DeviceContext context{*opened_.device, *modules_, large};
    RunTimes times;
    run_aggregate(context, query, inputs_, &times);
    EXPECT_EQ(times.parts, 1U);
    // All of a column, but not all columns, at 4 and 8 bytes a value.
    ColumnStore small(*opened_.device, 2, 150'000);
    DeviceContext narrow{*opened_.device, *modules_, small};
    for (int round = 0; round < 2; ++round) {
        const auto rows = run_aggregate(narrow, query, inputs_, &times);
        EXPECT_EQ(rows_of(*rows, query.output.size()), expected);
        EXPECT_LE(small.bytes(), 150'000U);
        if (round == 0) {
            EXPECT_GT(times.parts, 1U);
        }
    }
    // By now it is known how much that is: never ready, or ready at once.
    narrow.only_prepared = true;
    EXPECT_THROW(run_aggregate(narrow, query, inputs_, &times), NotInKernels);
    context.only_prepared = true;
    EXPECT_EQ(rows_of(*run_aggregate(context, query, inputs_, &times), query.output.size()),
              expected);
}

TEST_F(Parts, WhatFitsAfterAllIsReadyOnceItHasBeenThere) {
    const plan::Operator query =
        aggregate({plan::make_column(2, kText)}, {aggregate_call(2803, {})});
    // A byte a value, where the planner of parts has to think of four.
    ColumnStore columns(*opened_.device, 2, 30'000);
    DeviceContext context{*opened_.device, *modules_, columns};
    context.only_prepared = true;
    RunTimes times;
    EXPECT_THROW(run_aggregate(context, query, inputs_, &times), NotPrepared);
    context.only_prepared = false;
    run_aggregate(context, query, inputs_, &times);
    EXPECT_GT(times.parts, 1U);
    context.only_prepared = true;
    const auto rows = run_aggregate(context, query, inputs_, &times);
    EXPECT_EQ(rows_of(*rows, query.output.size()), rows_on_cpu(query, inputs_));
    EXPECT_EQ(times.parts, 1U);
    // And what does not fit by far is not even tried.
    ColumnStore none(*opened_.device, 2, 3'000);
    DeviceContext narrow{*opened_.device, *modules_, none};
    narrow.only_prepared = true;
    EXPECT_THROW(run_aggregate(narrow, query, inputs_, &times), NotInKernels);
}

TEST_F(Parts, SeveralDevicesTakeFilesEach) {
    constexpr size_t kDevices = 3;
    struct One {
        explicit One(PlanDevice made)
            : opened(std::move(made)),
              modules(*opened.device, *opened.compiler, ModuleCacheOptions()),
              columns(*opened.device, 2) {}
        PlanDevice opened;
        ModuleCache modules;
        ColumnStore columns;
        Turns turns{1};
    };
    std::vector<std::unique_ptr<One>> ones;
    for (size_t i = 0; i < kDevices; ++i) ones.push_back(std::make_unique<One>(open_plan_device()));
    const plan::Operator query =
        aggregate({plan::make_column(0, kInt4), plan::make_column(2, kText)}, all_calls());
    const auto expected = rows_on_cpu(query, inputs_);
    std::vector<uint64_t> held;
    RunWatch watch;
    for (size_t first = 0; first < kDevices; ++first) {
        std::vector<DeviceContext> devices;
        std::vector<uint32_t> duplicates;
        for (size_t i = 0; i < kDevices; ++i) {
            One& one = *ones[(first + i) % kDevices];
            DeviceContext& device =
                devices.emplace_back(DeviceContext{*one.opened.device, one.modules, one.columns});
            device.number = (first + i) % kDevices;
            device.spread_bytes = 1;
            device.turns = &one.turns;
            device.watch = &watch;
            device.duplicates = &duplicates;
            // What is there once stays where it is, whoever is first.
            device.only_prepared = first > 0;
        }
        RunTimes times;
        const auto rows = run_aggregate(devices, query, inputs_, &times);
        EXPECT_EQ(rows_of(*rows, query.output.size()), expected);
        EXPECT_EQ(times.parts, kDevices);
        std::vector<uint64_t> now;
        for (const auto& one : ones) {
            now.push_back(one->columns.bytes());
            EXPECT_GT(now.back(), 0U);
            EXPECT_EQ(one->turns.busy(), 0);
        }
        if (first == 0) held = now;
        EXPECT_EQ(now, held);
        // No file is on two of them.
        std::set<std::string> files;
        for (const auto& one : ones) {
            std::set<std::string> of;
            for (const ColumnStore::Held& column : one->columns.list()) of.insert(column.path);
            for (const std::string& path : of) EXPECT_TRUE(files.insert(path).second) << path;
        }
        for (const auto& launched : watch.launched) EXPECT_EQ(launched, 0);
    }
    // What one device does alone, it does.
    std::vector<DeviceContext> devices;
    for (const auto& one : ones)
        devices.push_back({*one->opened.device, one->modules, one->columns});
    RunTimes times;
    const auto rows = run_aggregate(devices, query, inputs_, &times);
    EXPECT_EQ(rows_of(*rows, query.output.size()), expected);
    EXPECT_EQ(times.parts, 1U);
}

TEST_F(Parts, SumsOfPartsMayNeedMoreThanPartsDo) {
    GroupMerger merger({plan::make_numeric(38, 0)}, 0);
    PartialGroups part({});
    part.results = {{exec::AggregateKind::kSum, false, false}};
    part.keys.end_row();
    const __int128 large = (__int128{1} << 126) - 1;
    part.states = {{1, large, 0, 0}};
    merger.add(part);
    EXPECT_THROW(for (int i = 0; i < 3; ++i) merger.add(part), NotInKernels);
}

}  // namespace loom::gpu
