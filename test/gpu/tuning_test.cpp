// Other ways to write the last kernel give the same groups, and the best of them is remembered.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "compare.h"
#include "gpu/run/tuning.h"
#include "made_tables.h"
#include "plan_device.h"
#include "random_plans.h"

namespace loom::gpu {
namespace {

namespace fs = std::filesystem;

TEST(Tuning, IsTimeForOthersOnceAShape) {
    Tuning tuning;
    for (int run = 0; run < 10; ++run) {
        EXPECT_FALSE(tuning.note(1, 0.01)) << "too short to matter";
        EXPECT_EQ(tuning.note(2, 1), run == 2);
    }
    EXPECT_FALSE(tuning.find(2));
    KernelChoices choices;
    choices.blocks = 2;
    tuning.choose(2, choices);
    ASSERT_TRUE(tuning.find(2));
    EXPECT_EQ(tuning.find(2)->blocks, 2);
    EXPECT_FALSE(tuning.find(1));
}

TEST(Tuning, AllWaysGiveTheSameGroups) {
    const PlanDevice opened = open_plan_device();
    if (opened.compiler == nullptr) GTEST_SKIP() << "skipped: " << opened.reason;
    ModuleCache modules(*opened.device, *opened.compiler, {});
    ColumnStore columns(*opened.device, 1);
    const fs::path folder = fs::temp_directory_path() / ("loom-tuning-" + std::to_string(getpid()));
    fs::create_directories(folder);
    Maker maker(5);
    const std::vector<ColumnPlan> plans = {
        {kInt4, 1, 2'000}, {kInt4, 0, 40}, {kInt4, 0, 9, 10}, {kDate, 0, 50}};
    exec::Inputs inputs;
    inputs.tables.push_back(maker.make_table(plans, 20'000, folder / "facts.parquet"));
    plan::Operator filter;
    filter.kind = plan::OperatorKind::kFilter;
    filter.inputs = {scan(0, plans, 20'000)};
    filter.output = filter.inputs[0].output;
    filter.rows = 7'000;
    filter.predicates = {function_call(66, {plan::make_column(0, kInt4), constant(kInt4, 1'000)}),
                         function_call(147, {plan::make_column(1, kInt4), constant(kInt4, 12)})};
    plan::Operator query;
    query.kind = plan::OperatorKind::kAggregate;
    query.group_keys = {plan::make_column(2, kInt4)};
    query.aggregates = {aggregate_call(2108, {plan::make_column(0, kInt4)}),
                        aggregate_call(2138, {plan::make_column(3, kDate)})};
    query.output = {kInt4, query.aggregates[0].type, query.aggregates[1].type};
    query.inputs = {filter};
    const std::vector<std::string> expected = rows_on_cpu(query, inputs);

    Tuning tuning;
    DeviceContext context{*opened.device, modules, columns};
    std::set<std::string> texts;
    for (const KernelChoices& choices : other_choices()) {
        context.choices = choices;
        RunTimes times;
        const auto rows = run_aggregate(context, query, inputs, &times);
        EXPECT_EQ(rows_of(*rows, query.output.size()), expected) << describe(choices);
        texts.insert(times.texts.back());
    }
    EXPECT_GT(texts.size(), 5U);

    context.choices = {};
    Trial trial;
    size_t steps = 1;
    while (trial.step(context, query, inputs, tuning)) ++steps;
    EXPECT_EQ(steps, other_choices().size() + 1);
    // What a trial finds is taken; whether anything is better differs from time to time.
    RunTimes own;
    run_aggregate(context, query, inputs, &own);
    tuning.choose(own.shape, other_choices()[0]);
    context.tuning = &tuning;
    RunTimes better;
    const auto rows = run_aggregate(context, query, inputs, &better);
    EXPECT_EQ(rows_of(*rows, query.output.size()), expected);
    EXPECT_EQ(better.shape, own.shape);
    EXPECT_NE(better.texts.back(), own.texts.back());
    fs::remove_all(folder);
}

}  // namespace
}  // namespace loom::gpu
