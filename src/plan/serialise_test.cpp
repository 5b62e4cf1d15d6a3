#include "plan/serialise.h"

#include <gtest/gtest.h>

namespace loom::plan {

namespace {

Operator sample() {
    Operator scan;
    scan.kind = OperatorKind::kScan;
    scan.name = "t";
    scan.source = 3;
    scan.columns = {"a", "b"};
    scan.host_columns = {2, 7};
    scan.may_raise = true;
    scan.output = {make_type(TypeId::kInt4), make_numeric(12, 2)};
    Operator aggregate;
    aggregate.kind = OperatorKind::kAggregate;
    aggregate.rows = 12.5;
    aggregate.group_keys = {make_column(0, scan.output[0])};
    Aggregate sum;
    sum.function = 2114;
    sum.type = make_numeric(38, 2);
    sum.args = {make_column(1, scan.output[1])};
    Expr any = make_column(0, make_type(TypeId::kBool));
    any.kind = ExprKind::kAnyOf;
    any.index = -1;
    any.function = 65;
    any.list = {column::Scalar::of_int(4), {}, column::Scalar::of_bytes(std::string("x\0y", 3))};
    any.args = {make_column(0, scan.output[0])};
    sum.filter = {any};
    sum.distinct = true;
    aggregate.aggregates = {sum};
    aggregate.output = {scan.output[0], sum.type};
    aggregate.inputs = {scan};
    Operator sort;
    sort.kind = OperatorKind::kSort;
    sort.output = aggregate.output;
    sort.sort_keys = {{1, true, true}};
    sort.count = {make_constant(make_type(TypeId::kInt8), column::Scalar::of_int(-5))};
    sort.inputs = {aggregate};
    Operator shared;
    shared.kind = OperatorKind::kShared;
    shared.source = 1;
    shared.output = sort.output;
    shared.inputs = {sort};
    Operator window;
    window.kind = OperatorKind::kWindow;
    window.group_keys = {make_column(0, sort.output[0])};
    window.frame.mode = FrameMode::kRows;
    window.frame.start = FrameBound::kPreceding;
    window.frame.end = FrameBound::kUnbounded;
    window.frame.start_offset = sort.count;
    window.frame.key = sort.count;
    window.frame.end_value = sort.count;
    WindowCall call;
    call.function = 3106;
    call.type = sort.output[1];
    call.args = {make_column(1, sort.output[1])};
    window.windows = {call};
    window.output = {sort.output[0], sort.output[1], call.type};
    window.inputs = {shared};
    return window;
}

}  // namespace

TEST(Serialise, ComesBackAsItWas) {
    const std::string bytes = serialise(sample());
    const Operator back = deserialise(base::as_bytes(bytes));
    EXPECT_EQ(serialise(back), bytes);
    EXPECT_EQ(to_text(back), to_text(sample()));
    EXPECT_EQ(back.frame.start, FrameBound::kPreceding);
    EXPECT_EQ(back.frame.start_offset[0].value.integer, -5);
    EXPECT_EQ(back.frame.key[0].value.integer, -5);
    EXPECT_TRUE(back.frame.start_value.empty());
    EXPECT_EQ(back.frame.end_value[0].value.integer, -5);
    const Operator& aggregate = back.inputs[0].inputs[0].inputs[0];
    EXPECT_EQ(aggregate.inputs[0].host_columns, (std::vector<int32_t>{2, 7}));
    EXPECT_TRUE(aggregate.inputs[0].may_raise);
    EXPECT_TRUE(aggregate.aggregates[0].distinct);
    EXPECT_EQ(aggregate.aggregates[0].filter[0].list[2].bytes, std::string("x\0y", 3));
}

TEST(Serialise, EveryPrefixIsRefused) {
    const std::string bytes = serialise(sample());
    for (size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(deserialise(base::as_bytes(bytes.substr(0, size))), base::Error) << size;
    EXPECT_THROW(deserialise(base::as_bytes(bytes + "x")), base::Error);
    std::string other = bytes;
    other[0] = 99;
    EXPECT_THROW(deserialise(base::as_bytes(other)), base::Error);
}

TEST(Serialise, DamageNeverCrashes) {
    const std::string bytes = serialise(sample());
    for (size_t i = 0; i < bytes.size(); ++i)
        for (const int flip : {1, 0x80, 0xff}) {
            std::string damaged = bytes;
            damaged[i] = static_cast<char>(damaged[i] ^ flip);
            try {
                deserialise(base::as_bytes(damaged));
            } catch (const base::Error&) {
            }
        }
}

TEST(Serialise, DeepNestingIsRefused) {
    Expr expr = make_column(0, make_type(TypeId::kBool));
    for (int i = 0; i < kMaxPlanDepth; ++i) {
        Expr outer;
        outer.kind = ExprKind::kNot;
        outer.type = make_type(TypeId::kBool);
        outer.args.push_back(std::move(expr));
        expr = std::move(outer);
    }
    Operator filter;
    filter.kind = OperatorKind::kFilter;
    filter.predicates.push_back(std::move(expr));
    EXPECT_THROW(deserialise(base::as_bytes(serialise(filter))), base::Error);
}

}  // namespace loom::plan
