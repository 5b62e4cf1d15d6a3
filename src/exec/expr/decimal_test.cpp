// Numerics whose values have scales of their own; the expected digits are PostgreSQL's.

#include "exec/expr/test_rows.h"
#include "plan/numeric_expr.h"

namespace loom::exec::test {
namespace {

using column::Int128;
using plan::ExprKind;
using plan::make_numeric;

const Type kDecimal = plan::make_decimal();

Scalar d(Int128 unscaled, int64_t scale) {
    return plan::decimal_scalar({unscaled, scale});
}
Outcome is(Scalar value) {
    return {std::move(value), ""};
}
Outcome fails(const char* fault) {
    return {Scalar{}, fault};
}
Int128 power(int exponent) {
    Int128 value = 1;
    for (int n = 0; n < exponent; ++n) value *= 10;
    return value;
}
Expr number(int precision, int scale, Int128 value) {
    return plan::make_constant(make_numeric(precision, scale), i(value));
}
Expr int4(int value) {
    return constant(TypeId::kInt4, i(value));
}
Expr choose(ExprKind kind, Type of, std::vector<Expr> args, uint32_t function = 0) {
    Expr expr;
    expr.kind = kind;
    expr.type = of;
    expr.function = function;
    expr.args = std::move(args);
    return expr;
}

void check(const Expr& expr, const std::vector<Column>& columns,
           const std::vector<Outcome>& expected) {
    const auto outcomes = evaluate_all(expr, columns);
    ASSERT_EQ(outcomes.size(), expected.size());
    for (size_t row = 0; row < expected.size(); ++row)
        EXPECT_EQ(outcomes[row], expected[row]) << "row " << row;
}

TEST(Decimal, QuotientsHaveTheScaleThatPostgresqlChooses) {
    const Type a = make_numeric(12, 2);
    const Type b = make_numeric(5, 0);
    const Expr quotient = call(1727, {column(0, a), column(1, b)});
    EXPECT_EQ(quotient.type, kDecimal);
    check(quotient,
          {{a, {i(100), i(1000), i(10000000), i(110), i(0), i(-700), i(100), null, i(1)}},
           {b, {i(3), i(3), i(3), i(1), i(7), i(2), i(0), i(0), i(99999)}}},
          {is(d(power(20) / 3, 20)), is(d(power(17) / 3, 16)), is(d(power(17) / 3, 12)),
           is(d(11 * power(19), 20)), is(d(0, 20)), is(d(-35 * power(15), 16)), fails("22012"),
           is(null), is(d(power(22) / 99999, 24))});
    check(call(1727, {number(38, 20, 5), column(0, b)}), {{b, {i(10), i(-10), i(1000)}}},
          {is(d(power(19) * 5, 40)), is(d(power(19) * -5, 40)), is(d(power(17) * 5, 40))});
    check(call(1727, {column(0, b), number(1, 0, 3)}), {{b, {i(2), i(-2), i(20)}}},
          {is(d(power(20) * 2 / 3 + 1, 20)), is(d(-(power(20) * 2 / 3) - 1, 20)),
           is(d(power(17) * 2 / 3 + 1, 16))});
}

TEST(Decimal, ArithmeticAlignsValueByValue) {
    const Expr x = column(0, kDecimal);
    const Expr y = column(1, kDecimal);
    const std::vector<Column> rows{
        {kDecimal, {d(110, 2), d(11, 1), d(0, 0), null, d(-5, 3), d(power(37), 0), d(1, 300)}},
        {kDecimal, {d(11, 1), d(1, 4), d(0, 9), d(1, 0), d(7, 0), d(1, 5), d(1, 0)}}};
    check(call(1724, {x, y}), rows,
          {is(d(220, 2)), is(d(11001, 4)), is(d(0, 9)), is(null), is(d(6995, 3)),
           fails("unrepresentable"), fails("unrepresentable")});
    check(call(1725, {x, y}), rows,
          {is(d(0, 2)), is(d(10999, 4)), is(d(0, 9)), is(null), is(d(-7005, 3)),
           fails("unrepresentable"), fails("unrepresentable")});
    check(call(1726, {x, y}), rows,
          {is(d(1210, 3)), is(d(11, 5)), is(d(0, 9)), is(null), is(d(-35, 3)), is(d(power(37), 5)),
           is(d(1, 300))});
    check(call(1729, {x, y}), rows,
          {is(d(0, 2)), is(d(0, 4)), fails("22012"), is(null), is(d(-5, 3)),
           fails("unrepresentable"), fails("unrepresentable")});
    check(call(1718, {x, y}), rows,
          {is(i(1)), is(i(0)), is(i(1)), is(null), is(i(0)), is(i(0)), is(i(0))});
    check(call(1722, {x, y}), rows,
          {is(i(0)), is(i(0)), is(i(0)), is(null), is(i(1)), is(i(0)), is(i(1))});
}

TEST(Decimal, MeetsNumericsOfOneScale) {
    const Type narrow = make_numeric(9, 2);
    const Type wide = make_numeric(38, 4);
    const std::vector<Column> rows{{kDecimal, {d(15, 1), d(15, 1), null}},
                                   {narrow, {i(150), null, i(1)}},
                                   {wide, {i(15000), i(2), i(3)}}};
    const Expr x = column(0, kDecimal);
    check(call(1718, {x, column(1, narrow)}), rows, {is(i(1)), is(null), is(null)});
    check(call(1718, {column(2, wide), x}), rows, {is(i(1)), is(i(0)), is(null)});
    check(call(1726, {column(1, narrow), x}), rows, {is(d(2250, 3)), is(null), is(null)});
    check(call(1724, {x, column(2, wide)}), rows, {is(d(30000, 4)), is(d(15002, 4)), is(null)});
    // The product of two scales that no type has.
    const Type deep = make_numeric(38, 20);
    check(call(1726, {column(0, deep), column(0, deep)}), {{deep, {i(3), null}}},
          {is(d(9, 40)), is(null)});
}

TEST(Decimal, RoundsAndCasts) {
    const Expr x = column(0, kDecimal);
    const std::vector<Column> rows{
        {kDecimal, {d(25, 1), d(-25, 1), d(3, 0), null, d(5, 60), d(149, 2)}}};
    EXPECT_EQ(call(1707, {x, int4(1)}).type, make_numeric(38, 1));
    check(call(1707, {x, int4(0)}), rows,
          {is(i(3)), is(i(-3)), is(i(3)), is(null), is(i(0)), is(i(1))});
    check(call(1707, {x, int4(2)}), rows,
          {is(i(250)), is(i(-250)), is(i(300)), is(null), is(i(0)), is(i(149))});
    check(call(1709, {x, int4(-1)}), rows,
          {is(i(0)), is(i(0)), is(i(0)), is(null), is(i(0)), is(i(0))});
    check(call(1711, {x}), rows, {is(i(3)), is(i(-2)), is(i(3)), is(null), is(i(1)), is(i(2))});
    check(call(1712, {x}), rows, {is(i(2)), is(i(-3)), is(i(3)), is(null), is(i(0)), is(i(1))});
    check(call(1771, {x}), rows,
          {is(d(-25, 1)), is(d(25, 1)), is(d(-3, 0)), is(null), is(d(-5, 60)), is(d(-149, 2))});
    check(call(1706, {x}), rows, {is(i(1)), is(i(-1)), is(i(1)), is(null), is(i(1)), is(i(1))});
    check(call(1744, {x}), rows, {is(i(3)), is(i(-3)), is(i(3)), is(null), is(i(0)), is(i(1))});
    check(call(1746, {x}), rows,
          {is(f(2.5)), is(f(-2.5)), is(f(3)), is(null), is(f(5e-60)), is(f(1.49))});
    check(call(1703, {x, int4(((2 << 16) | 1) + 4)}),
          {{kDecimal, {d(25, 1), d(996, 2), d(994, 2), d(power(37), 0), null}}},
          {is(i(25)), fails("22003"), is(i(99)), fails("22003"), is(null)});
    check(call(1703, {column(0, make_numeric(5, 2)), int4(-1)}),
          {{make_numeric(5, 2), {i(110), null}}}, {is(d(110, 2)), is(null)});
    check(call(1743, {column(0, TypeId::kFloat8)}),
          {{type(TypeId::kFloat8), {f(1.5), f(1e-10), f(1e20), f(-0.1), f(1e39), f(0.0), null}}},
          {is(d(15, 1)), is(d(1, 10)), is(d(power(20), 0)), is(d(-1, 1)), fails("unrepresentable"),
           is(d(0, 0)), is(null)});
}

TEST(Decimal, ChoicesKeepTheScaleOfTheirArm) {
    const Type a = make_numeric(9, 2);
    const Expr x = column(0, a);
    const std::vector<Column> rows{{a, {i(110), i(-5), i(0), null}}};
    const Expr positive = call(1720, {x, number(1, 0, 0)});
    check(choose(ExprKind::kCase, kDecimal, {positive, x, number(1, 0, 0)}), rows,
          {is(d(110, 2)), is(d(0, 0)), is(d(0, 0)), is(d(0, 0))});
    check(choose(ExprKind::kCase, kDecimal,
                 {positive, call(1727, {number(1, 0, 1), x}), plan::make_constant(a, null)}),
          rows, {is(d(Int128{9090909090909090909} * 10 + 1, 20)), is(null), is(null), is(null)});
    check(choose(ExprKind::kCoalesce, kDecimal, {x, number(4, 3, 1500)}), rows,
          {is(d(110, 2)), is(d(-5, 2)), is(d(0, 2)), is(d(1500, 3))});
    check(choose(ExprKind::kGreatest, kDecimal, {x, number(1, 0, 0), number(4, 3, 1100)}, 1769),
          rows, {is(d(110, 2)), is(d(1100, 3)), is(d(1100, 3)), is(d(1100, 3))});
    check(choose(ExprKind::kNullIf, a, {x, number(3, 3, 0)}, 1718), rows,
          {is(i(110)), is(i(-5)), is(null), is(null)});
    Expr members = choose(ExprKind::kAnyOf, type(TypeId::kBool), {plan::as_decimal(x)}, 1718);
    members.list = {d(11, 1), d(1, 3), null};
    check(members, rows, {is(i(1)), is(null), is(null), is(null)});
}

TEST(Decimal, KeysGetOneType) {
    Expr a = column(0, make_numeric(9, 2));
    Expr b = column(1, make_numeric(18, 4));
    plan::match_numerics(a, b);
    EXPECT_EQ(a.type, make_numeric(18, 4));
    EXPECT_EQ(b.type, a.type);
    check(a, {{make_numeric(9, 2), {i(150), null}}, {make_numeric(18, 4), {i(0), i(0)}}},
          {is(i(15000)), is(null)});
    a = column(0, make_numeric(38, 0));
    b = column(1, make_numeric(38, 20));
    plan::match_numerics(a, b);
    EXPECT_EQ(a.type, kDecimal);
    EXPECT_EQ(b.type, kDecimal);
}

}  // namespace
}  // namespace loom::exec::test
