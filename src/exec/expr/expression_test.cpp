// The thin slice: columns, constants, logic, comparisons, integers.

#include <cmath>
#include <limits>

#include "exec/expr/test_rows.h"
#include "exec/functions.h"

namespace loom::exec::test {
namespace {

using plan::ExprKind;

std::vector<Scalar> integers(TypeId id) {
    const column::Int128 high = id == TypeId::kInt2   ? INT16_MAX
                                : id == TypeId::kInt4 ? INT32_MAX
                                                      : INT64_MAX;
    return {i(-high - 1), i(-high), i(-2),       i(-1),   i(0), i(1),
            i(2),         i(100),   i(high - 1), i(high), null};
}

// Every pair of two lists, as two columns.
std::vector<Column> pairs(Type a, const std::vector<Scalar>& as, Type b,
                          const std::vector<Scalar>& bs) {
    std::vector<Column> columns{{a, {}}, {b, {}}};
    for (const Scalar& x : as)
        for (const Scalar& y : bs) {
            columns[0].rows.push_back(x);
            columns[1].rows.push_back(y);
        }
    return columns;
}

// Checks a function of two arguments against `expected` on all pairs, both as columns and with each
// argument constant.
template <typename Expected>
void check_pairs(uint32_t function, TypeId a, const std::vector<Scalar>& as, TypeId b,
                 const std::vector<Scalar>& bs, Expected expected) {
    const std::vector<Column> columns = pairs(type(a), as, type(b), bs);
    const auto outcomes = evaluate_all(call(function, {column(0, a), column(1, b)}), columns);
    for (size_t row = 0; row < outcomes.size(); ++row) {
        const Scalar& x = columns[0].rows[row];
        const Scalar& y = columns[1].rows[row];
        const Outcome want = x.known() && y.known() ? expected(x, y) : Outcome{};
        EXPECT_EQ(outcomes[row], want) << "function " << function << " row " << row;
    }
    for (const Scalar& y : bs) {
        const auto right = evaluate_all(call(function, {column(0, a), constant(b, y)}),
                                        {{type(a), as}}, Depth::kFewForms);
        for (size_t row = 0; row < as.size(); ++row)
            EXPECT_EQ(right[row], as[row].known() && y.known() ? expected(as[row], y) : Outcome{})
                << "function " << function << " constant right, row " << row;
    }
    for (const Scalar& x : as) {
        const auto left = evaluate_all(call(function, {constant(a, x), column(0, b)}),
                                       {{type(b), bs}}, Depth::kFewForms);
        for (size_t row = 0; row < bs.size(); ++row)
            EXPECT_EQ(left[row], bs[row].known() && x.known() ? expected(x, bs[row]) : Outcome{})
                << "function " << function << " constant left, row " << row;
    }
}

Outcome yes_if(bool condition) {
    return {i(condition ? 1 : 0), ""};
}

void check_order(const uint32_t (&oids)[7], TypeId a, const std::vector<Scalar>& as, TypeId b,
                 const std::vector<Scalar>& bs) {
    const auto order = [](const Scalar& x, const Scalar& y) { return column::compare(x, y); };
    check_pairs(oids[0], a, as, b, bs,
                [&](const auto& x, const auto& y) { return yes_if(order(x, y) == 0); });
    check_pairs(oids[1], a, as, b, bs,
                [&](const auto& x, const auto& y) { return yes_if(order(x, y) != 0); });
    check_pairs(oids[2], a, as, b, bs,
                [&](const auto& x, const auto& y) { return yes_if(order(x, y) < 0); });
    check_pairs(oids[3], a, as, b, bs,
                [&](const auto& x, const auto& y) { return yes_if(order(x, y) <= 0); });
    check_pairs(oids[4], a, as, b, bs,
                [&](const auto& x, const auto& y) { return yes_if(order(x, y) > 0); });
    check_pairs(oids[5], a, as, b, bs,
                [&](const auto& x, const auto& y) { return yes_if(order(x, y) >= 0); });
    std::string reason;
    EXPECT_FALSE(supports(
        plan::make_call(oids[6], type(TypeId::kInt4), {column(0, a), column(1, b)}), &reason));
    // GREATEST and LEAST go by it.
    if (a != b) return;
    for (const ExprKind kind : {ExprKind::kGreatest, ExprKind::kLeast}) {
        Expr expr = node(kind, a, {column(0, a), column(1, a)});
        expr.function = oids[6];
        const std::vector<Column> columns = pairs(type(a), as, type(a), bs);
        const auto outcomes = evaluate_all(expr, columns);
        for (size_t row = 0; row < outcomes.size(); ++row) {
            const Scalar& x = columns[0].rows[row];
            const Scalar& y = columns[1].rows[row];
            const bool second =
                !x.known() ||
                (y.known() && (kind == ExprKind::kGreatest ? order(x, y) < 0 : order(x, y) > 0));
            EXPECT_EQ(outcomes[row], (Outcome{second ? y : x, ""})) << row;
        }
    }
}

TEST(Expression, IntegersCompare) {
    const TypeId ids[] = {TypeId::kInt2, TypeId::kInt4, TypeId::kInt8};
    const uint32_t oids[3][3][7] = {{{63, 145, 64, 148, 146, 151, 350},
                                     {158, 164, 160, 166, 162, 168, 2190},
                                     {1850, 1851, 1852, 1854, 1853, 1855, 2192}},
                                    {{159, 165, 161, 167, 163, 169, 2191},
                                     {65, 144, 66, 149, 147, 150, 351},
                                     {852, 853, 854, 856, 855, 857, 2188}},
                                    {{1856, 1857, 1858, 1860, 1859, 1861, 2193},
                                     {474, 475, 476, 478, 477, 479, 2189},
                                     {467, 468, 469, 471, 470, 472, 842}}};
    for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
            check_order(oids[a][b], ids[a], integers(ids[a]), ids[b], integers(ids[b]));
}

TEST(Expression, DatesAndTimestampsCompare) {
    check_order({1086, 1091, 1087, 1088, 1089, 1090, 1092}, TypeId::kDate, integers(TypeId::kInt4),
                TypeId::kDate, integers(TypeId::kInt4));
    check_order({2052, 2053, 2054, 2055, 2057, 2056, 2045}, TypeId::kTimestamp,
                integers(TypeId::kInt8), TypeId::kTimestamp, integers(TypeId::kInt8));
}

TEST(Expression, FloatsCompareWithNaNOnTop) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<Scalar> values{f(nan),  f(-nan), f(inf),  f(-inf), f(0.0),
                                     f(-0.0), f(1.5),  f(-1.5), f(1e30), null};
    check_order({287, 288, 289, 290, 291, 292, 354}, TypeId::kFloat4,
                {f(nan), f(inf), f(-inf), f(0.0), f(-0.0), f(1.5), null}, TypeId::kFloat4,
                {f(nan), f(inf), f(-inf), f(0.0), f(-0.0), f(1.5), null});
    check_order({293, 294, 295, 296, 297, 298, 355}, TypeId::kFloat8, values, TypeId::kFloat8,
                values);
}

TEST(Expression, TextComparesByBytes) {
    const std::vector<Scalar> values{s(""),  s("a"),        s("ab"),   s("b"),
                                     s("A"), s("\xc3\xa4"), s("abc "), s(std::string(100, 'x')),
                                     null};
    check_order({67, 157, 740, 741, 742, 743, 360}, TypeId::kText, values, TypeId::kText, values);
    check_order({1948, 1953, 1949, 1950, 1951, 1952, 1954}, TypeId::kBytea, values, TypeId::kBytea,
                values);
}

TEST(Expression, BpcharIgnoresTrailingBlanks) {
    const std::vector<Scalar> values{s("a  "), s("a"), s("b "), s("  ")};
    const auto outcomes =
        evaluate_all(call(1048, {column(0, TypeId::kBpchar), constant(TypeId::kBpchar, s("a "))}),
                     {{type(TypeId::kBpchar), values}});
    EXPECT_EQ(outcomes[0], yes_if(true));
    EXPECT_EQ(outcomes[1], yes_if(true));
    EXPECT_EQ(outcomes[2], yes_if(false));
}

TEST(Expression, BooleansCompare) {
    check_order({60, 84, 56, 1691, 57, 1692, 1693}, TypeId::kBool, {i(0), i(1), null},
                TypeId::kBool, {i(0), i(1), null});
}

Outcome in_type(column::Int128 value, TypeId id) {
    const column::Int128 high = id == TypeId::kInt2   ? INT16_MAX
                                : id == TypeId::kInt4 ? INT32_MAX
                                                      : INT64_MAX;
    if (value < -high - 1 || value > high) return {{}, "22003"};
    return {i(value), ""};
}

TEST(Expression, IntegersAddSubtractMultiplyDivide) {
    struct Case {
        uint32_t add, subtract, multiply, divide;
        TypeId a, b;
    };
    const Case cases[] = {{176, 180, 152, 153, TypeId::kInt2, TypeId::kInt2},
                          {177, 181, 141, 154, TypeId::kInt4, TypeId::kInt4},
                          {463, 464, 465, 466, TypeId::kInt8, TypeId::kInt8},
                          {178, 182, 170, 172, TypeId::kInt2, TypeId::kInt4},
                          {179, 183, 171, 173, TypeId::kInt4, TypeId::kInt2},
                          {841, 942, 943, 948, TypeId::kInt2, TypeId::kInt8},
                          {837, 838, 839, 840, TypeId::kInt8, TypeId::kInt2},
                          {1278, 1279, 1280, 1281, TypeId::kInt4, TypeId::kInt8},
                          {1274, 1275, 1276, 1277, TypeId::kInt8, TypeId::kInt4}};
    for (const Case& c : cases) {
        const TypeId wide = std::max(c.a, c.b);
        const auto as = integers(c.a);
        const auto bs = integers(c.b);
        check_pairs(c.add, c.a, as, c.b, bs, [&](const auto& x, const auto& y) {
            return in_type(x.integer + y.integer, wide);
        });
        check_pairs(c.subtract, c.a, as, c.b, bs, [&](const auto& x, const auto& y) {
            return in_type(x.integer - y.integer, wide);
        });
        check_pairs(c.multiply, c.a, as, c.b, bs, [&](const auto& x, const auto& y) {
            return in_type(x.integer * y.integer, wide);
        });
        check_pairs(c.divide, c.a, as, c.b, bs, [&](const auto& x, const auto& y) {
            if (y.integer == 0) return Outcome{{}, "22012"};
            return in_type(x.integer / y.integer, wide);
        });
    }
}

TEST(Expression, RemaindersSignsAndCasts) {
    check_pairs(156, TypeId::kInt4, integers(TypeId::kInt4), TypeId::kInt4, integers(TypeId::kInt4),
                [](const auto& x, const auto& y) {
                    if (y.integer == 0) return Outcome{{}, "22012"};
                    return Outcome{i(x.integer % y.integer), ""};
                });
    const auto unary = [](uint32_t function, TypeId from, auto expected) {
        const auto values = integers(from);
        const auto outcomes =
            evaluate_all(call(function, {column(0, from)}), {{type(from), values}});
        for (size_t row = 0; row < values.size(); ++row)
            EXPECT_EQ(outcomes[row],
                      values[row].known() ? expected(values[row].integer) : Outcome{})
                << function << " row " << row;
    };
    using Int = column::Int128;
    unary(212, TypeId::kInt4, [](Int x) { return in_type(-x, TypeId::kInt4); });
    unary(1396, TypeId::kInt8, [](Int x) { return in_type(x < 0 ? -x : x, TypeId::kInt8); });
    unary(481, TypeId::kInt4, [](Int x) { return in_type(x, TypeId::kInt8); });
    unary(480, TypeId::kInt8, [](Int x) { return in_type(x, TypeId::kInt4); });
    unary(714, TypeId::kInt8, [](Int x) { return in_type(x, TypeId::kInt2); });
}

TEST(Expression, LogicIsThreeValued) {
    const std::vector<Scalar> three{i(1), i(0), null};
    const std::vector<Column> columns =
        pairs(type(TypeId::kBool), three, type(TypeId::kBool), three);
    const Expr a = column(0, TypeId::kBool);
    const Expr b = column(1, TypeId::kBool);
    const auto check = [&](ExprKind kind, const std::vector<Scalar>& expected) {
        const auto outcomes = evaluate_all(node(kind, TypeId::kBool, {a, b}), columns);
        for (size_t row = 0; row < expected.size(); ++row)
            EXPECT_EQ(outcomes[row], (Outcome{expected[row], ""})) << row;
    };
    check(ExprKind::kAnd, {i(1), i(0), null, i(0), i(0), i(0), null, i(0), null});
    check(ExprKind::kOr, {i(1), i(1), i(1), i(1), i(0), null, i(1), null, null});
    const auto test = [&](ExprKind kind, const std::vector<Scalar>& expected) {
        const auto outcomes =
            evaluate_all(node(kind, TypeId::kBool, {a}), {{type(TypeId::kBool), three}});
        for (size_t row = 0; row < expected.size(); ++row)
            EXPECT_EQ(outcomes[row], (Outcome{expected[row], ""})) << row;
    };
    test(ExprKind::kNot, {i(0), i(1), null});
    test(ExprKind::kIsNull, {i(0), i(0), i(1)});
    test(ExprKind::kIsNotNull, {i(1), i(1), i(0)});
    test(ExprKind::kIsTrue, {i(1), i(0), i(0)});
    test(ExprKind::kIsNotTrue, {i(0), i(1), i(1)});
    test(ExprKind::kIsFalse, {i(0), i(1), i(0)});
    test(ExprKind::kIsNotFalse, {i(1), i(0), i(1)});
}

TEST(Expression, LaterArmsSeeOpenRowsOnly) {
    const Expr a = column(0, TypeId::kInt4);
    const auto four = [](int value) { return constant(TypeId::kInt4, i(value)); };
    const Expr quotient = call(65, {call(154, {four(100), a}), four(50)});
    const std::vector<Column> columns{{type(TypeId::kInt4), {i(0), i(2), i(3), null, i(0)}}};
    const auto both = evaluate_all(
        node(ExprKind::kAnd, TypeId::kBool, {call(144, {a, four(0)}), quotient}), columns);
    const std::vector<Scalar> expected{i(0), i(1), i(0), null, i(0)};
    for (size_t row = 0; row < expected.size(); ++row)
        EXPECT_EQ(both[row], (Outcome{expected[row], ""})) << row;
    const auto either = evaluate_all(
        node(ExprKind::kOr, TypeId::kBool, {call(65, {a, four(0)}), quotient}), columns);
    EXPECT_EQ(either[0], (Outcome{i(1), ""}));
    EXPECT_EQ(either[2], (Outcome{i(0), ""}));
    EXPECT_EQ(either[3], (Outcome{{}, ""}));
    // The other way round the division comes first.
    const auto unguarded = evaluate_all(
        node(ExprKind::kAnd, TypeId::kBool, {quotient, call(144, {a, four(0)})}), columns);
    EXPECT_EQ(unguarded[0], (Outcome{{}, "22012"}));
    // A NULL arm leaves the row open.
    const auto null_arm = evaluate_all(
        node(ExprKind::kAnd, TypeId::kBool, {constant(TypeId::kBool, null), quotient}), columns);
    EXPECT_EQ(null_arm[0], (Outcome{{}, "22012"}));
    EXPECT_EQ(null_arm[2], (Outcome{i(0), ""}));
}

TEST(Expression, ListsOfConstants) {
    const auto list = [](ExprKind kind, uint32_t function, TypeId of, std::vector<Scalar> values) {
        Expr expr = node(kind, TypeId::kBool, {column(0, of)});
        expr.function = function;
        expr.list = std::move(values);
        return expr;
    };
    const auto check = [](const Expr& expr, TypeId of, const std::vector<Scalar>& rows,
                          const std::vector<Scalar>& expected) {
        const auto outcomes = evaluate_all(expr, {{type(of), rows}});
        for (size_t row = 0; row < expected.size(); ++row)
            EXPECT_EQ(outcomes[row], (Outcome{expected[row], ""})) << row;
    };
    const std::vector<Scalar> ints{i(1), i(2), i(2000000000), i(-5), null};
    check(list(ExprKind::kAnyOf, 65, TypeId::kInt4, {i(2), i(-5)}), TypeId::kInt4, ints,
          {i(0), i(1), i(0), i(1), null});
    check(list(ExprKind::kAnyOf, 65, TypeId::kInt4, {i(2), i(2000000000)}), TypeId::kInt4, ints,
          {i(0), i(1), i(1), i(0), null});
    check(list(ExprKind::kAnyOf, 65, TypeId::kInt4, {i(2), null}), TypeId::kInt4, ints,
          {null, i(1), null, null, null});
    check(list(ExprKind::kAllOf, 144, TypeId::kInt4, {i(2), i(-5)}), TypeId::kInt4, ints,
          {i(1), i(0), i(1), i(0), null});
    check(list(ExprKind::kAllOf, 144, TypeId::kInt4, {i(2), null}), TypeId::kInt4, ints,
          {null, i(0), null, null, null});
    check(list(ExprKind::kAnyOf, 65, TypeId::kInt4, {}), TypeId::kInt4, ints,
          {i(0), i(0), i(0), i(0), i(0)});
    check(list(ExprKind::kAllOf, 65, TypeId::kInt4, {}), TypeId::kInt4, ints,
          {i(1), i(1), i(1), i(1), i(1)});
    check(list(ExprKind::kAnyOf, 66, TypeId::kInt4, {i(0), i(2)}), TypeId::kInt4, ints,
          {i(1), i(0), i(0), i(1), null});
    check(list(ExprKind::kAnyOf, 852, TypeId::kInt4, {i(2), i(int64_t{1} << 40)}), TypeId::kInt4,
          ints, {i(0), i(1), i(0), i(0), null});
    check(list(ExprKind::kAnyOf, 67, TypeId::kText, {s("a"), s(""), s("longer than eight")}),
          TypeId::kText, {s("a"), s("b"), s(""), s("longer than eight"), s("longer than"), null},
          {i(1), i(0), i(1), i(1), i(0), null});
    check(list(ExprKind::kAllOf, 157, TypeId::kText, {s("a")}), TypeId::kText,
          {s("a"), s("b"), null}, {i(0), i(1), null});
    Expr unknown = list(ExprKind::kAnyOf, 65, TypeId::kInt4, {});
    unknown.list_null = true;
    check(unknown, TypeId::kInt4, ints, {null, null, null, null, null});
}

TEST(Expression, ParametersAreFoldedIn) {
    Expr parameter;
    parameter.kind = ExprKind::kParameter;
    parameter.type = type(TypeId::kInt4);
    parameter.index = 0;
    const Expr sum = call(177, {parameter, constant(TypeId::kInt4, i(1))});
    const Expr expr = call(66, {column(0, TypeId::kInt4), sum});
    EXPECT_TRUE(supports(expr, nullptr));
    const std::vector<plan::ParameterValue> values{{i(4), {}, false}};
    const Expression expression(expr, values);
    EXPECT_FALSE(expression.may_fault());
    EXPECT_FALSE(expression.is_constant());
    EXPECT_EQ(expression.columns(), (std::vector<int>{0}));
    Evaluator evaluator(expression, nullptr);
    const OwnedVector input = OwnedVector::plain({type(TypeId::kInt4), {i(4), i(5), i(6)}});
    uint64_t mask = 0;
    evaluator.select(std::vector<Vector>{input.vector()}, 3, &mask);
    EXPECT_EQ(mask, 1U);
    EXPECT_TRUE(Expression(sum, values).is_constant());
}

TEST(Expression, BetweenBecomesOneRange) {
    const Expr a = column(0, TypeId::kInt4);
    const Expr expr = node(ExprKind::kAnd, TypeId::kBool,
                           {call(150, {a, constant(TypeId::kInt4, i(2))}),
                            call(149, {a, constant(TypeId::kInt4, i(4))})});
    const auto outcomes =
        evaluate_all(expr, {{type(TypeId::kInt4), {i(1), i(2), i(3), i(4), i(5), null}}});
    const std::vector<Scalar> expected{i(0), i(1), i(1), i(1), i(0), null};
    for (size_t row = 0; row < expected.size(); ++row)
        EXPECT_EQ(outcomes[row], (Outcome{expected[row], ""})) << row;
}

TEST(Expression, RefusesWithAReason) {
    std::string reason;
    EXPECT_FALSE(supports(plan::make_call(1, type(TypeId::kInt4), {}), &reason));
    EXPECT_NE(reason, "");
    EXPECT_FALSE(supports(plan::make_call(177, type(TypeId::kInt4),
                                          {column(0, TypeId::kInt4), column(1, TypeId::kInt8)}),
                          &reason));
    EXPECT_FALSE(supports(plan::make_call(177, type(TypeId::kInt8),
                                          {column(0, TypeId::kInt4), column(1, TypeId::kInt4)}),
                          &reason));
    EXPECT_THROW(Expression(plan::make_call(1, type(TypeId::kInt4), {}), {}), Unrepresentable);
}

TEST(Expression, FunctionsAreRegisteredOnce) {
    uint32_t last = 0;
    for (const FunctionInfo& info : registered_functions()) {
        EXPECT_GT(info.oid, last) << info.name;
        last = info.oid;
    }
}

}  // namespace
}  // namespace loom::exec::test
