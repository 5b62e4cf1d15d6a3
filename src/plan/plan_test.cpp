#include <gtest/gtest.h>

#include "plan/operator.h"

namespace loom::plan {

TEST(Plan, ColumnsOfAnExpressionAreSortedAndUnique) {
    const Type int4 = make_type(TypeId::kInt4);
    const Expr expr = make_call(
        177, int4,
        {make_column(3, int4), make_call(141, int4, {make_column(1, int4), make_column(3, int4)})});
    EXPECT_EQ(columns_of(expr), (std::vector<int>{1, 3}));
}

TEST(Plan, TextFormShowsTheTree) {
    Operator scan;
    scan.kind = OperatorKind::kScan;
    scan.name = "lineorder";
    scan.columns = {"lo_quantity"};
    scan.output = {make_type(TypeId::kInt4)};
    Operator limit;
    limit.kind = OperatorKind::kLimit;
    limit.count = {make_constant(make_type(TypeId::kInt8), column::Scalar::of_int(5))};
    limit.inputs = {scan};
    EXPECT_EQ(to_text(limit), "limit 5\n  scan lineorder (lo_quantity)\n");
}

TEST(Plan, ConstantsOfOneInputDoNotNameAColumn) {
    const Type int4 = make_type(TypeId::kInt4);
    const auto project = [&](int value) {
        Operator rows;
        rows.kind = OperatorKind::kRows;
        rows.columns = {"a"};
        rows.output = {int4};
        Operator op;
        op.kind = OperatorKind::kProject;
        op.expressions = {make_column(0, int4), make_constant(int4, column::Scalar::of_int(value))};
        op.inputs = {rows};
        return op;
    };
    const auto columns_of_append = [&](int first, int second) {
        Operator append;
        append.kind = OperatorKind::kAppend;
        append.inputs = {project(first), project(second)};
        Operator op;
        op.kind = OperatorKind::kProject;
        op.expressions = {make_column(0, int4), make_column(1, int4)};
        op.inputs = {append};
        const std::string text = to_text(op);
        return text.substr(0, text.find('\n'));
    };
    EXPECT_EQ(columns_of_append(0, 1), "project a, $1");
    EXPECT_EQ(columns_of_append(7, 7), "project a, 7");
}

TEST(Plan, NumericWidthFollowsPrecision) {
    EXPECT_EQ(physical(make_numeric(18, 2)), Physical::kInt64);
    EXPECT_EQ(physical(make_numeric(19, 2)), Physical::kInt128);
    EXPECT_EQ(to_string(make_numeric(12, 2)), "numeric(12,2)");
}

}  // namespace loom::plan
