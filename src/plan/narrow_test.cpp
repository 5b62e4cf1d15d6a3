#include "plan/narrow.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace loom::plan {

namespace {

const Type kInt = make_type(TypeId::kInt4);

Operator scan(const char* name, int width) {
    Operator op;
    op.kind = OperatorKind::kScan;
    op.name = name;
    for (int i = 0; i < width; ++i) {
        op.columns.push_back(std::string(name) + std::to_string(i));
        op.host_columns.push_back(i + 1);
        op.output.push_back(kInt);
    }
    return op;
}

Operator over(OperatorKind kind, std::vector<Operator> inputs) {
    Operator op;
    op.kind = kind;
    op.output = inputs[0].output;
    op.inputs = std::move(inputs);
    return op;
}

Operator project(Operator input, const std::vector<int>& columns) {
    Operator op = over(OperatorKind::kProject, {std::move(input)});
    op.output.clear();
    for (const int column : columns) {
        op.expressions.push_back(make_column(column, kInt));
        op.output.push_back(kInt);
    }
    return op;
}

// Function 154, int4div, alone can raise.
bool is_division(const Expr& expr) {
    return (expr.kind == ExprKind::kCall && expr.function == 154) ||
           std::any_of(expr.args.begin(), expr.args.end(), is_division);
}

void drop_unused_columns(Operator& root) {
    plan::drop_unused_columns(root, is_division);
}

Expr division(int a, int b) {
    return make_call(154, kInt, {make_column(a, kInt), make_column(b, kInt)});
}

}  // namespace

TEST(Narrow, ScansKeepWhatIsRead) {
    Operator filter = over(OperatorKind::kFilter, {scan("a", 5)});
    filter.predicates = {
        make_call(65, make_type(TypeId::kBool), {make_column(3, kInt), make_column(1, kInt)})};
    Operator root = project(filter, {4});
    drop_unused_columns(root);
    const Operator& below = root.inputs[0].inputs[0];
    EXPECT_EQ(below.host_columns, (std::vector<int32_t>{2, 4, 5}));
    EXPECT_EQ(root.inputs[0].output.size(), 3U);
    EXPECT_EQ(to_text(root), "project a4\n  filter #65(a3, a1)\n    scan a (a1, a3, a4)\n");
}

TEST(Narrow, JoinsKeepKeysAndResidual) {
    Operator join = over(OperatorKind::kJoin, {scan("a", 4), scan("b", 4)});
    join.output = joined_types(join);
    join.probe_keys = {make_column(3, kInt)};
    join.build_keys = {make_column(2, kInt)};
    join.predicates = {
        make_call(65, make_type(TypeId::kBool), {make_column(1, kInt), make_column(4 + 3, kInt)})};
    Operator root = project(join, {4 + 1, 0});
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root),
              "project b1, a0\n  join on a3 = b2 where #65(a1, b3)\n    scan a (a0, a1, a3)\n"
              "    scan b (b1, b2, b3)\n");
}

TEST(Narrow, SemiJoinsOutputOneSide) {
    for (const JoinType type : {JoinType::kSemi, JoinType::kAnti, JoinType::kRightSemi}) {
        Operator join = over(OperatorKind::kJoin, {scan("a", 3), scan("b", 3)});
        join.join = type;
        join.probe_keys = {make_column(0, kInt)};
        join.build_keys = {make_column(1, kInt)};
        Operator root = project(join, {2});
        drop_unused_columns(root);
        const bool right = type == JoinType::kRightSemi;
        EXPECT_EQ(root.inputs[0].inputs[0].output.size(), right ? 1U : 2U);
        EXPECT_EQ(root.inputs[0].inputs[1].output.size(), right ? 2U : 1U);
        EXPECT_EQ(to_text(root).substr(0, 10), right ? "project b2" : "project a2");
    }
}

TEST(Narrow, AggregatesLoseCallsButNoKeys) {
    Operator aggregate = over(OperatorKind::kAggregate, {scan("a", 4)});
    aggregate.group_keys = {make_column(2, kInt)};
    for (int i = 0; i < 2; ++i) {
        Aggregate call;
        call.function = 2108;
        call.type = kInt;
        call.args = {make_column(i, kInt)};
        aggregate.aggregates.push_back(call);
    }
    aggregate.output = {kInt, kInt, kInt};
    Operator root = project(aggregate, {2});
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root),
              "project #2108(a1)\n  aggregate #2108(a1) by a2\n    scan a (a1, a2)\n");
}

TEST(Narrow, InputsOfAnAppendStayAlike) {
    Operator filtered = over(OperatorKind::kFilter, {scan("a", 3)});
    filtered.predicates = {make_column(0, make_type(TypeId::kBool))};
    Operator root = project(over(OperatorKind::kAppend, {filtered, scan("b", 3)}), {2});
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root),
              "append\n  project a2\n    filter a0\n      scan a (a0, a2)\n  scan b (b2)\n");
    EXPECT_EQ(root.output.size(), 1U);
}

TEST(Narrow, ProjectionsThatOnlyCopyAreLeftOut) {
    Operator filter =
        over(OperatorKind::kFilter, {project(project(scan("a", 4), {3, 1, 2}), {0, 1})});
    filter.predicates = {make_column(1, make_type(TypeId::kBool))};
    drop_unused_columns(filter);
    EXPECT_EQ(to_text(filter), "project a3, a1\n  filter a1\n    scan a (a1, a3)\n");
}

TEST(Narrow, WhatMayRaiseIsComputed) {
    Operator below = over(OperatorKind::kProject, {scan("a", 4)});
    below.expressions = {division(0, 1), make_column(2, kInt), make_column(3, kInt)};
    below.output = {kInt, kInt, kInt};
    Operator root = project(over(OperatorKind::kAppend, {below, scan("b", 3)}), {1});
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root),
              "append\n  project a2\n    project #154(a0, a1), a2\n      scan a (a0, a1, a2)\n"
              "  scan b (b1)\n");
    EXPECT_EQ(root.output.size(), 1U);
}

TEST(Narrow, AggregatesAndWindowsOfWhatMayRaiseStay) {
    Operator aggregate = over(OperatorKind::kAggregate, {scan("a", 4)});
    aggregate.group_keys = {make_column(2, kInt)};
    Operator window = over(OperatorKind::kWindow, {scan("a", 4)});
    for (int i = 0; i < 3; ++i) {
        Aggregate call;
        call.function = 2108;
        call.type = kInt;
        call.args = {i == 1 ? division(0, 1) : make_column(3, kInt)};
        if (i == 2) call.filter = {division(0, 3)};
        aggregate.aggregates.push_back(call);
        WindowCall windowed;
        windowed.function = call.function;
        windowed.type = call.type;
        windowed.args = call.args;
        windowed.filter = call.filter;
        window.windows.push_back(windowed);
        window.output.push_back(kInt);
    }
    aggregate.output = {kInt, kInt, kInt, kInt};
    Operator root = project(aggregate, {0});
    drop_unused_columns(root);
    ASSERT_EQ(root.inputs.size(), 1U);
    EXPECT_EQ(root.inputs[0].aggregates.size(), 2U);
    EXPECT_EQ(root.inputs[0].output.size(), 3U);
    root = project(window, {0});
    drop_unused_columns(root);
    ASSERT_EQ(root.inputs.size(), 1U);
    EXPECT_EQ(root.inputs[0].windows.size(), 2U);
    EXPECT_EQ(root.inputs[0].output.size(), 3U + 2U);
}

TEST(Narrow, SortKeysSurvive) {
    Operator sort = over(OperatorKind::kSort, {scan("a", 4)});
    sort.sort_keys = {{3, true, true}};
    Operator root = project(sort, {1});
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root), "project a1\n  sort a3 desc\n    scan a (a1, a3)\n");
}

TEST(Narrow, MarkJoinsOutputTheProbeSideAndTheMark) {
    Operator join = over(OperatorKind::kJoin, {scan("a", 3), scan("b", 3)});
    join.join = JoinType::kMark;
    join.output = joined_types(join);
    join.probe_keys = {make_column(0, kInt)};
    join.build_keys = {make_column(1, kInt)};
    join.predicates = {
        make_call(65, make_type(TypeId::kBool), {make_column(1, kInt), make_column(3 + 2, kInt)})};
    Operator root = over(OperatorKind::kProject, {join});
    root.expressions = {make_column(3, make_type(TypeId::kBool)), make_column(2, kInt)};
    root.output = {make_type(TypeId::kBool), kInt};
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root),
              "project mark, a2\n  mark join on a0 = b1 where #65(a1, b2)\n"
              "    scan a (a0, a1, a2)\n    scan b (b1, b2)\n");
}

TEST(Narrow, WindowsKeepWhatTheirCallsRead) {
    Operator window = over(OperatorKind::kWindow, {scan("a", 6)});
    window.group_keys = {make_column(1, kInt)};
    window.sort_keys = {{3, false, false}};
    for (const int column : {2, 4}) {
        WindowCall call;
        call.function = 3112;
        call.type = kInt;
        call.args = {make_column(column, kInt)};
        window.windows.push_back(call);
        window.output.push_back(kInt);
    }
    Operator root = project(window, {6 + 1, 0});
    drop_unused_columns(root);
    EXPECT_EQ(to_text(root),
              "project #3112(a4), a0\n"
              "  window #3112(a4) partition by a1 order by a3 range first to current\n"
              "    scan a (a0, a1, a3, a4)\n");
}

TEST(Narrow, SharedRowsKeepAllColumns) {
    Operator below = project(scan("a", 4), {3, 1});
    Operator shared = over(OperatorKind::kShared, {below});
    shared.source = 0;
    Operator append = over(OperatorKind::kAppend, {project(shared, {1}), project(shared, {0})});
    drop_unused_columns(append);
    EXPECT_EQ(to_text(append),
              "append\n  project a1\n    shared 1\n      project a3, a1\n"
              "        scan a (a1, a3)\n  project a3\n    shared 1\n      project a3, a1\n"
              "        scan a (a1, a3)\n");
}

}  // namespace loom::plan
