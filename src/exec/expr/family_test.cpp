// Numerics, choices, floats, text and calendar on edge values; the expected values are
// PostgreSQL's.

#include <cmath>
#include <limits>

#include "exec/expr/test_rows.h"
#include "exec/functions.h"
#include "plan/numeric_type.h"

namespace loom::exec::test {
namespace {

using column::Int128;
using plan::ExprKind;

const std::string kUnrepresentable = "unrepresentable";

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

void check(const Expr& expr, const std::vector<Column>& columns,
           const std::vector<Outcome>& expected) {
    const auto outcomes = evaluate_all(expr, columns);
    ASSERT_EQ(outcomes.size(), expected.size());
    for (size_t row = 0; row < expected.size(); ++row)
        EXPECT_EQ(outcomes[row], expected[row]) << "row " << row;
}

Expr number(int precision, int scale, Int128 value) {
    return plan::make_constant(plan::make_numeric(precision, scale), i(value));
}
Expr text(const char* value) {
    return constant(TypeId::kText, s(value));
}
Expr choose(ExprKind kind, Type of, std::vector<Expr> args, uint32_t function = 0) {
    Expr expr;
    expr.kind = kind;
    expr.type = of;
    expr.function = function;
    expr.args = std::move(args);
    return expr;
}

TEST(NumericType, FollowsDisplayScales) {
    using plan::make_numeric;
    EXPECT_EQ(plan::numeric_sum_type(make_numeric(12, 2), make_numeric(5, 4)), make_numeric(15, 4));
    EXPECT_EQ(plan::numeric_product_type(make_numeric(12, 2), make_numeric(12, 2)),
              make_numeric(24, 4));
    EXPECT_EQ(plan::numeric_product_type(make_numeric(30, 2), make_numeric(30, 2)),
              make_numeric(38, 4));
    EXPECT_EQ(plan::numeric_product_type(make_numeric(30, 20), make_numeric(30, 20)), std::nullopt);
    EXPECT_EQ(plan::numeric_round_type(make_numeric(5, 3), 1), make_numeric(4, 1));
    EXPECT_EQ(plan::numeric_type_of_modifier(((12 << 16) | 2) + 4), make_numeric(12, 2));
    EXPECT_EQ(plan::numeric_type_of_modifier(-1), std::nullopt);
}

TEST(Numeric, AlignsScales) {
    const Type a = plan::make_numeric(12, 2);
    const Type b = plan::make_numeric(8, 4);
    const std::vector<Column> columns{{a, {i(150), i(-150), i(0), null, i(999999999999)}},
                                      {b, {i(5), i(15000), i(-1), i(1), i(99999999)}}};
    const Expr x = column(0, a);
    const Expr y = column(1, b);
    EXPECT_EQ(call(1724, {x, y}).type, plan::make_numeric(15, 4));
    check(call(1724, {x, y}), columns,
          {is(i(15005)), is(i(0)), is(i(-1)), is(null), is(i(Int128{99999999999900} + 99999999))});
    check(call(1725, {x, y}), columns,
          {is(i(14995)), is(i(-30000)), is(i(1)), is(null),
           is(i(Int128{99999999999900} - 99999999))});
    check(
        call(1726, {x, y}), columns,
        {is(i(750)), is(i(-2250000)), is(i(0)), is(null), is(i(Int128{999999999999} * 99999999))});
    check(call(1718, {x, y}), columns, {is(i(0)), is(i(0)), is(i(0)), is(null), is(i(0))});
    check(call(1720, {x, y}), columns, {is(i(1)), is(i(0)), is(i(1)), is(null), is(i(1))});
}

TEST(Numeric, RaisesOnlyBeyond38Digits) {
    const Type wide = plan::make_numeric(38, 2);
    const Expr x = column(0, wide);
    const Int128 most = power(38) - 1;
    check(call(1724, {x, number(38, 2, 1)}), {{wide, {i(most), i(most - 1), i(-most), null}}},
          {fails(kUnrepresentable.c_str()), is(i(most)), is(i(1 - most)), is(null)});
    check(call(1726, {x, x}), {{wide, {i(power(18)), i(power(19)), i(-power(18)), null}}},
          {is(i(power(36))), fails(kUnrepresentable.c_str()), is(i(power(36))), is(null)});
    // Compared with a number of far more digits behind the point.
    check(call(1722, {x, number(38, 38, 1)}), {{wide, {i(most), i(-most), i(0), null}}},
          {is(i(0)), is(i(1)), is(i(1)), is(null)});
}

TEST(Numeric, RoundsHalvesAwayFromZero) {
    const Type a = plan::make_numeric(6, 3);
    const std::vector<Column> rows{{a, {i(1500), i(-1500), i(1499), i(-2501), i(999999), null}}};
    const Expr x = column(0, a);
    const auto digits = [](int count) { return constant(TypeId::kInt4, i(count)); };
    check(call(1707, {x, digits(0)}), rows,
          {is(i(2)), is(i(-2)), is(i(1)), is(i(-3)), is(i(1000)), is(null)});
    check(
        call(1707, {x, digits(5)}), rows,
        {is(i(150000)), is(i(-150000)), is(i(149900)), is(i(-250100)), is(i(99999900)), is(null)});
    check(call(1707, {x, digits(-1)}), rows,
          {is(i(0)), is(i(0)), is(i(0)), is(i(0)), is(i(1000)), is(null)});
    check(call(1709, {x, digits(1)}), rows,
          {is(i(15)), is(i(-15)), is(i(14)), is(i(-25)), is(i(9999)), is(null)});
    check(call(1711, {x}), rows, {is(i(2)), is(i(-1)), is(i(2)), is(i(-2)), is(i(1000)), is(null)});
    check(call(1712, {x}), rows, {is(i(1)), is(i(-2)), is(i(1)), is(i(-3)), is(i(999)), is(null)});
    check(call(1744, {x}), rows, {is(i(2)), is(i(-2)), is(i(1)), is(i(-3)), is(i(1000)), is(null)});
    const Expr narrower = constant(TypeId::kInt4, i(((5 << 16) | 2) + 4));
    check(call(1703, {x, narrower}), rows,
          {is(i(150)), is(i(-150)), is(i(150)), is(i(-250)), fails("22003"), is(null)});
}

TEST(Numeric, ConvertsToAndFromOtherNumbers) {
    const Type a = plan::make_numeric(38, 10);
    const Expr x = column(0, a);
    check(call(1746, {x}), {{a, {i(15000000000), i(1), i(-power(37)), null}}},
          {is(f(1.5)), is(f(1e-10)), is(f(-1e27)), is(null)});
    check(call(1779, {x}),
          {{a, {i(power(10) * INT64_MAX), i(power(10) * INT64_MAX + 5 * power(9))}}},
          {is(i(INT64_MAX)), fails("22003")});
    check(call(1740, {column(0, TypeId::kInt4)}),
          {{type(TypeId::kInt4), {i(INT32_MIN), null, i(7)}}},
          {is(i(INT32_MIN)), is(null), is(i(7))});
}

TEST(Numeric, ConstantsBecomeRanges) {
    const Type a = plan::make_numeric(12, 2);
    const Expr x = column(0, a);
    const std::vector<Column> rows{{a, {i(4), i(5), i(6), null}}};
    // 0.05, 0.055 and 1e20 against two digits.
    check(call(1721, {x, number(2, 2, 5)}), rows, {is(i(0)), is(i(1)), is(i(1)), is(null)});
    check(call(1722, {x, number(3, 3, 55)}), rows, {is(i(1)), is(i(1)), is(i(0)), is(null)});
    check(call(1720, {x, number(3, 3, 55)}), rows, {is(i(0)), is(i(0)), is(i(1)), is(null)});
    check(call(1718, {x, number(3, 3, 55)}), rows, {is(i(0)), is(i(0)), is(i(0)), is(null)});
    check(call(1719, {x, number(3, 3, 55)}), rows, {is(i(1)), is(i(1)), is(i(1)), is(null)});
    check(call(1722, {x, number(38, 0, power(20))}), rows,
          {is(i(1)), is(i(1)), is(i(1)), is(null)});
    check(call(1722, {number(38, 0, -power(37)), x}), rows,
          {is(i(1)), is(i(1)), is(i(1)), is(null)});
    // Decimals against numbers of 64 and 128 bits, with more digits than the column and with fewer.
    const auto decimal = [](Int128 unscaled, int64_t scale) {
        return plan::make_constant(plan::make_decimal(), plan::decimal_scalar({unscaled, scale}));
    };
    for (const Type of : {a, plan::make_numeric(30, 2)}) {
        const std::vector<Column> data{{of, rows[0].rows}};
        const Expr y = column(0, of);
        check(call(1721, {y, decimal(5, 2)}), data, {is(i(0)), is(i(1)), is(i(1)), is(null)});
        check(call(1720, {decimal(5000, 5), y}), data, {is(i(1)), is(i(0)), is(i(0)), is(null)});
        check(call(1722, {y, decimal(55, 3)}), data, {is(i(1)), is(i(1)), is(i(0)), is(null)});
        check(call(1718, {y, decimal(55, 3)}), data, {is(i(0)), is(i(0)), is(i(0)), is(null)});
        check(call(1718, {y, decimal(5, 2)}), data, {is(i(0)), is(i(1)), is(i(0)), is(null)});
        check(call(1720, {y, decimal(-1, 300)}), data, {is(i(1)), is(i(1)), is(i(1)), is(null)});
        check(call(1722, {y, decimal(power(37), 0)}), data,
              {is(i(1)), is(i(1)), is(i(1)), is(null)});
    }
    // An integer column that PostgreSQL casts.
    check(call(1722, {call(1740, {column(0, TypeId::kInt4)}), number(2, 1, 5)}),
          {{type(TypeId::kInt4), {i(0), i(1), i(INT32_MIN), null}}},
          {is(i(1)), is(i(0)), is(i(1)), is(null)});
}

TEST(Choice, CaseShieldsItsArms) {
    const Type int4 = type(TypeId::kInt4);
    const Expr a = column(0, int4);
    const auto four = [&](int value) { return constant(TypeId::kInt4, i(value)); };
    const Expr quotient = call(154, {four(12), a});
    const std::vector<Column> rows{{int4, {i(0), i(3), null, i(-4), i(0), i(12)}}};
    check(choose(ExprKind::kCase, int4, {call(65, {a, four(0)}), four(-1), quotient}), rows,
          {is(i(-1)), is(i(4)), is(null), is(i(-3)), is(i(-1)), is(i(1))});
    check(choose(ExprKind::kCase, int4,
                 {call(66, {a, four(0)}), four(1), call(147, {a, four(0)}), quotient,
                  constant(TypeId::kInt4, null)}),
          rows, {is(null), is(i(4)), is(null), is(i(1)), is(null), is(i(1))});
    // The condition itself is shown open rows only.
    check(choose(ExprKind::kCase, int4,
                 {call(65, {a, four(0)}), four(7), call(65, {quotient, four(4)}), four(8), a}),
          rows, {is(i(7)), is(i(8)), is(null), is(i(-4)), is(i(7)), is(i(12))});
    check(choose(ExprKind::kCoalesce, int4,
                 {choose(ExprKind::kNullIf, int4, {a, four(0)}, 65), four(99)}),
          rows, {is(i(99)), is(i(3)), is(i(99)), is(i(-4)), is(i(99)), is(i(12))});
    check(choose(ExprKind::kCoalesce, int4, {a, quotient}), {{int4, {i(1), i(0)}}},
          {is(i(1)), is(i(0))});
    check(choose(ExprKind::kIsDistinct, type(TypeId::kBool), {a, column(1, int4)}, 65),
          {{int4, {i(1), i(1), null, null}}, {int4, {i(1), i(2), i(1), null}}},
          {is(i(0)), is(i(1)), is(i(1)), is(i(0))});
}

TEST(Choice, TextAndWideNumerics) {
    const Type text_type = type(TypeId::kText);
    const Expr a = column(0, text_type);
    check(choose(ExprKind::kCase, text_type,
                 {call(67, {a, text("x")}), text("one"), call(1258, {a, text("!")})}),
          {{text_type, {s("x"), s("y"), null, s("")}}},
          {is(s("one")), is(s("y!")), is(null), is(s("!"))});
    const Type narrow = plan::make_numeric(10, 2);
    const Type wide = plan::make_numeric(30, 2);
    check(choose(ExprKind::kCoalesce, wide, {column(0, narrow), column(1, wide)}),
          {{narrow, {i(-5), null}}, {wide, {i(1), i(power(25))}}}, {is(i(-5)), is(i(power(25)))});
    std::string reason;
    EXPECT_FALSE(
        supports(choose(ExprKind::kCoalesce, wide, {column(0, narrow), number(1, 0, 0)}), &reason));
    EXPECT_NE(reason.find("display scale"), std::string::npos);
}

TEST(Float, ChecksOverflowUnderflowAndZero) {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Type float8 = type(TypeId::kFloat8);
    const Expr a = column(0, float8);
    const Expr b = column(1, float8);
    check(call(218, {a, b}),
          {{float8, {f(1e308), f(inf), f(nan), null}}, {float8, {f(1e308), f(1), f(1), f(1)}}},
          {fails("22003"), is(f(inf)), is(f(nan)), is(null)});
    check(call(216, {a, b}),
          {{float8, {f(1e-200), f(0.0), f(-2)}}, {float8, {f(1e-200), f(5), f(0.5)}}},
          {fails("22003"), is(f(0.0)), is(f(-1))});
    check(call(217, {a, b}),
          {{float8, {f(1), f(nan), f(1), f(inf)}}, {float8, {f(0), f(0), f(inf), f(2)}}},
          {fails("22012"), is(f(nan)), is(f(0.0)), is(f(inf))});
    check(call(317, {a}), {{float8, {f(2.5), f(-3.5), f(2147483647.4), f(2147483647.5), f(nan)}}},
          {is(i(2)), is(i(-4)), is(i(INT32_MAX)), fails("22003"), fails("22003")});
    check(call(1344, {a}), {{float8, {f(2.25), f(-1), f(-0.0)}}},
          {is(f(1.5)), fails("2201F"), is(f(-0.0))});
    check(call(1368, {a, b}),
          {{float8, {f(0), f(-2), f(-2), f(nan)}}, {float8, {f(-1), f(0.5), f(3), f(0)}}},
          {fails("2201F"), fails("2201F"), is(f(-8)), is(f(1))});
    check(call(1341, {a}), {{float8, {f(1), f(0), f(-1)}}},
          {is(f(0)), fails("2201E"), fails("2201E")});
}

TEST(Text, LikeFollowsPostgres) {
    const Type text_type = type(TypeId::kText);
    const std::vector<Scalar> rows{s(""),    s("a"),        s("abc"),   s("xabcx"),
                                   s("a%c"), s("\xc3\xa4"), s("ab\nc"), null};
    const auto like = [&](const char* pattern, const std::vector<int>& expected) {
        for (const bool negated : {false, true}) {
            std::vector<Outcome> outcomes;
            outcomes.reserve(expected.size());
            for (int value : expected) outcomes.push_back(is(i(negated ? 1 - value : value)));
            outcomes.push_back(is(null));
            check(call(negated ? 851 : 850, {column(0, text_type), text(pattern)}),
                  {{text_type, rows}}, outcomes);
            // A pattern that is a column takes the other path.
            std::vector<Scalar> patterns(rows.size(), s(pattern));
            check(call(negated ? 851 : 850, {column(0, text_type), column(1, text_type)}),
                  {{text_type, rows}, {text_type, patterns}}, outcomes);
        }
    };
    like("%", {1, 1, 1, 1, 1, 1, 1});
    like("", {1, 0, 0, 0, 0, 0, 0});
    like("a%", {0, 1, 1, 0, 1, 0, 1});
    like("%c", {0, 0, 1, 0, 1, 0, 1});
    like("%abc%", {0, 0, 1, 1, 0, 0, 0});
    like("a%c", {0, 0, 1, 0, 1, 0, 1});
    like("a\\%c", {0, 0, 0, 0, 1, 0, 0});
    like("_", {0, 1, 0, 0, 0, 1, 0});
    like("%_", {0, 1, 1, 1, 1, 1, 1});
    like("_b%_", {0, 0, 1, 0, 0, 0, 1});
    like("%b%c%", {0, 0, 1, 1, 0, 0, 1});
    // An escape at the end is an error where the match comes to it.
    check(call(850, {column(0, text_type), text("a\\")}),
          {{text_type, {s("b"), s("a"), s("ab"), null}}},
          {is(i(0)), is(i(0)), fails("22025"), is(null)});
}

TEST(Text, FindsPiecesAtEveryPlace) {
    const Type text_type = type(TypeId::kText);
    for (const char* piece : {"q", "qr", "qrs", "a-needle-of-some-length"}) {
        std::vector<Scalar> rows;
        std::vector<Outcome> expected;
        for (size_t before = 0; before < 40; ++before)
            for (size_t behind : {0, 1, 15, 16, 17}) {
                std::string row = std::string(before, 'q') + "." + piece + std::string(behind, '.');
                rows.push_back(s(row));
                expected.push_back(is(i(1)));
                row[before + 1] = '#';
                rows.push_back(s(row));
                expected.push_back(is(i(row.find(piece) != std::string::npos ? 1 : 0)));
            }
        const auto outcomes = evaluate_all(
            call(850, {column(0, text_type), text(("%" + std::string(piece) + "%").c_str())}),
            {{text_type, rows}}, Depth::kFewForms);
        EXPECT_EQ(outcomes, expected) << piece;
    }
}

TEST(Text, PartsCountCharacters) {
    const Type text_type = type(TypeId::kText);
    const Expr a = column(0, text_type);
    const auto four = [](int value) { return constant(TypeId::kInt4, i(value)); };
    const std::vector<Column> rows{{text_type, {s("h\xc3\xa4llo"), s(""), s("  x "), null}}};
    check(call(1317, {a}), rows, {is(i(5)), is(i(0)), is(i(4)), is(null)});
    check(call(1374, {a}), rows, {is(i(6)), is(i(0)), is(i(4)), is(null)});
    check(call(936, {a, four(2), four(2)}), rows,
          {is(s("\xc3\xa4l")), is(s("")), is(s(" x")), is(null)});
    check(call(936, {a, four(-1), four(4)}), rows,
          {is(s("h\xc3\xa4")), is(s("")), is(s("  ")), is(null)});
    check(call(936, {a, four(1), four(-1)}), rows,
          {fails("22011"), fails("22011"), fails("22011"), is(null)});
    check(call(936, {a, four(2), four(INT32_MAX)}), rows,
          {is(s("\xc3\xa4llo")), is(s("")), is(s(" x ")), is(null)});
    check(call(937, {a, four(3)}), rows, {is(s("llo")), is(s("")), is(s("x ")), is(null)});
    check(call(3060, {a, four(2)}), rows, {is(s("h\xc3\xa4")), is(s("")), is(s("  ")), is(null)});
    check(call(3060, {a, four(-1)}), rows,
          {is(s("h\xc3\xa4ll")), is(s("")), is(s("  x")), is(null)});
    check(call(3061, {a, four(2)}), rows, {is(s("lo")), is(s("")), is(s("x ")), is(null)});
    check(call(885, {a}), rows, {is(s("h\xc3\xa4llo")), is(s("")), is(s("x")), is(null)});
    check(call(868, {a, text("l")}), rows, {is(i(3)), is(i(0)), is(i(0)), is(null)});
    check(call(871, {a}), rows,
          {fails(kUnrepresentable.c_str()), is(s("")), is(s("  X ")), is(null)});
    check(call(2087, {a, text("l"), text("LL")}), rows,
          {is(s("h\xc3\xa4LLLLo")), is(s("")), is(s("  x ")), is(null)});
    check(call(1258, {a, a}), rows,
          {is(s("h\xc3\xa4lloh\xc3\xa4llo")), is(s("")), is(s("  x   x ")), is(null)});
}

Scalar interval(int64_t microseconds, int32_t days, int32_t months) {
    const plan::Interval value{microseconds, days, months};
    return s(std::string(reinterpret_cast<const char*>(&value), sizeof value));
}

TEST(Calendar, DatesAndIntervals) {
    const Type date = type(TypeId::kDate);
    const Expr a = column(0, date);
    const int32_t leap_day = 59;  // 2000-02-29
    const int64_t day = 86'400'000'000;
    const auto span = [](Scalar value) { return constant(TypeId::kInterval, std::move(value)); };
    check(call(1141, {a, constant(TypeId::kInt4, i(1))}),
          {{date, {i(0), i(INT32_MAX), i(2145031948), null}}},
          {is(i(1)), is(i(INT32_MAX)), fails("22008"), is(null)});
    check(call(1140, {a, column(1, date)}), {{date, {i(10), i(INT32_MIN)}}, {date, {i(3), i(0)}}},
          {is(i(7)), fails("22008")});
    // 2001-02-28, 2000-01-29.
    check(call(2071, {a, span(interval(0, 0, 12))}), {{date, {i(leap_day), null}}},
          {is(i(424 * day)), is(null)});
    check(call(2072, {a, span(interval(1, 0, 1))}), {{date, {i(leap_day), i(INT32_MAX)}}},
          {is(i(28 * day - 1)), is(i(INT64_MAX))});
    check(call(2338, {a, column(1, TypeId::kTimestamp)}),
          {{date, {i(106751983), i(0), i(INT32_MIN)}},
           {type(TypeId::kTimestamp), {i(INT64_MAX), i(1), i(INT64_MIN)}}},
          {is(i(1)), is(i(1)), is(i(0))});
    check(call(1162, {column(0, TypeId::kInterval), span(interval(0, 30, 0))}),
          {{type(TypeId::kInterval),
            {interval(0, 0, 1), interval(day * 30, 0, 0), interval(1, 0, 1), null}}},
          {is(i(1)), is(i(1)), is(i(0)), is(null)});
    std::string reason;
    EXPECT_FALSE(
        supports(plan::make_call(1189, type(TypeId::kTimestampTz),
                                 {column(0, TypeId::kTimestampTz), span(interval(0, 1, 0))}),
                 &reason));
}

TEST(Calendar, FieldsAndTruncation) {
    const Type date = type(TypeId::kDate);
    const Type timestamp = type(TypeId::kTimestamp);
    const auto extract = [&](const char* field, const std::vector<Scalar>& rows,
                             const std::vector<Outcome>& expected) {
        check(call(6199, {text(field), column(0, date)}), {{date, rows}}, expected);
    };
    // 2000-01-01, 2000-02-29, 1999-12-31, 0001-12-31 BC, 2021-01-03, infinity.
    const std::vector<Scalar> rows{i(0), i(59), i(-1), i(-730120), i(7673), i(INT32_MAX), null};
    const Outcome infinite = fails(kUnrepresentable.c_str());
    extract("year", rows,
            {is(i(2000)), is(i(2000)), is(i(1999)), is(i(-1)), is(i(2021)), infinite, is(null)});
    extract("month", rows,
            {is(i(1)), is(i(2)), is(i(12)), is(i(12)), is(i(1)), infinite, is(null)});
    extract("day", rows, {is(i(1)), is(i(29)), is(i(31)), is(i(31)), is(i(3)), infinite, is(null)});
    extract("dow", rows, {is(i(6)), is(i(2)), is(i(5)), is(i(0)), is(i(0)), infinite, is(null)});
    extract("week", rows,
            {is(i(52)), is(i(9)), is(i(52)), is(i(52)), is(i(53)), infinite, is(null)});
    extract("isoyear", rows,
            {is(i(1999)), is(i(2000)), is(i(1999)), is(i(-1)), is(i(2020)), infinite, is(null)});
    extract("doy", rows,
            {is(i(1)), is(i(60)), is(i(365)), is(i(366)), is(i(3)), infinite, is(null)});
    extract("century", rows,
            {is(i(20)), is(i(20)), is(i(20)), is(i(-1)), is(i(21)), infinite, is(null)});
    const int64_t noon = 43'200'000'000;
    EXPECT_EQ(call(6202, {text("second"), column(0, timestamp)}).type.scale, 6);
    check(call(6202, {text("second"), column(0, timestamp)}),
          {{timestamp, {i(noon + 1'500'000), i(-1), null}}},
          {is(i(1'500'000)), is(i(59'999'999)), is(null)});
    check(call(2020, {text("month"), column(0, timestamp)}),
          {{timestamp, {i(noon), i(-1), i(INT64_MIN), null}}},
          {is(i(0)), is(i(int64_t{-31} * 86'400'000'000)), is(i(INT64_MIN)), is(null)});
    check(call(2020, {text("week"), column(0, timestamp)}), {{timestamp, {i(noon)}}},
          {is(i(int64_t{-5} * 86'400'000'000))});
}

TEST(Calendar, EveryDayOfFourCenturies) {
    const Type date = type(TypeId::kDate);
    const Expression year(call(6199, {text("year"), column(0, date)}), {});
    const Expression month(call(6199, {text("month"), column(0, date)}), {});
    Evaluator years(year, nullptr);
    Evaluator months(month, nullptr);
    int y = 1900;
    int m = 1;
    int left = 31;
    for (int day = -36524; day < 110000;) {
        Column rows{date, {}};
        for (int n = 0; n < 4096; ++n) rows.rows.push_back(i(day + n));
        const OwnedVector vector = OwnedVector::plain(rows);
        const std::vector<Vector> inputs{vector.vector()};
        const Vector a = years.evaluate(inputs, 4096);
        const Vector b = months.evaluate(inputs, 4096);
        for (int n = 0; n < 4096; ++n, ++day) {
            ASSERT_EQ(a.as<int64_t>()[n], y) << day;
            ASSERT_EQ(b.as<int64_t>()[n], m) << day;
            if (--left > 0) continue;
            if (++m > 12) {
                m = 1;
                ++y;
            }
            const bool leap = y % 4 == 0 && (y % 100 != 0 || y % 400 == 0);
            left = m == 2 ? (leap ? 29 : 28) : m == 4 || m == 6 || m == 9 || m == 11 ? 30 : 31;
        }
    }
}

TEST(Dictionary, EntriesThatNoRowUsesMayFault) {
    const Type int4 = type(TypeId::kInt4);
    const Expr expr = call(154, {constant(TypeId::kInt4, i(12)), column(0, int4)});
    const Expression expression(expr, {});
    Evaluator evaluator(expression, nullptr);
    OwnedVector codes = OwnedVector::codes({int4, {i(0), i(3), i(4)}}, 1, false);
    Vector vector = codes.vector();
    vector.values = vector.as<uint8_t>() + 1;
    vector.length = 2;
    for (int round = 0; round < 2; ++round) {
        const Vector result = evaluator.evaluate(std::vector<Vector>{vector}, 2);
        EXPECT_EQ(result.form, Form::kPlain);
        EXPECT_EQ(value_at(result, 0).integer, 4);
        EXPECT_EQ(value_at(result, 1).integer, 3);
    }
    EXPECT_THROW(evaluator.evaluate(std::vector<Vector>{codes.vector()}, 3), SqlFault);
}

TEST(Dictionary, ResultsStayCodesAndKeepTheirVersion) {
    const Type text_type = type(TypeId::kText);
    const Expression expression(call(871, {column(0, text_type)}), {});
    Evaluator evaluator(expression, nullptr);
    const OwnedVector codes = OwnedVector::codes({text_type, {s("a"), s("b"), null}}, 2, false);
    const std::vector<Vector> inputs{codes.vector()};
    const Vector first = evaluator.evaluate(inputs, 3);
    ASSERT_EQ(first.form, Form::kCodes);
    const uint64_t version = first.dictionary->version;
    EXPECT_EQ(value_at(first, 0).bytes, "A");
    EXPECT_TRUE(first.is_null(2));
    EXPECT_EQ(evaluator.evaluate(inputs, 3).dictionary->version, version);
    EXPECT_NE(version, codes.vector().dictionary->version);
}

TEST(Functions, EachRefusalHasAReason) {
    // Every function, called with columns, either has a type or says why not.
    for (const FunctionInfo& info : registered_functions()) {
        std::vector<Expr> args;
        args.reserve(static_cast<size_t>(info.arguments));
        for (int n = 0; n < info.arguments; ++n)
            args.push_back(info.types[n] == TypeId::kNumeric ? column(n, plan::make_numeric(38, 20))
                                                             : column(n, info.types[n]));
        std::string reason;
        const auto result = result_type(info.oid, args, &reason);
        EXPECT_EQ(result.has_value(), reason.empty()) << info.name;
        EXPECT_EQ(result.value_or(type(info.result)).id, info.result) << info.name;
    }
}

}  // namespace
}  // namespace loom::exec::test
