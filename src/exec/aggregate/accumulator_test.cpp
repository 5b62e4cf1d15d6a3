// Aggregates of numerics: what PostgreSQL shows of sums, averages, extremes and variances.

#include "exec/aggregate/accumulator.h"

#include <cmath>

#include <gtest/gtest.h>

#include "exec/expr/test_rows.h"
#include "exec/fault.h"
#include "exec/query.h"

namespace loom::exec::test {
namespace {

using column::Int128;

constexpr uint32_t kSum = 2114;
constexpr uint32_t kAverage = 2103;
constexpr uint32_t kMaximum = 2130;
constexpr uint32_t kMinimum = 2146;

Scalar d(Int128 unscaled, int64_t scale) {
    return plan::decimal_scalar({unscaled, scale});
}
Outcome is(Scalar value) {
    return {std::move(value), ""};
}

// Aggregates two lists, one a worker, and merges them.
Outcome aggregate(uint32_t function, Type arg, const std::vector<Scalar>& first,
                  const std::vector<Scalar>& second = {}) {
    const Type types[] = {arg};
    const auto type = aggregate_type(function, types);
    if (!type) return {{}, "no such aggregate"};
    try {
        std::unique_ptr<Accumulator> workers[2];
        for (size_t w = 0; w < 2; ++w) {
            workers[w] = make_accumulator(function, arg, nullptr);
            workers[w]->resize(1);
            const auto& rows = w == 0 ? first : second;
            if (rows.empty()) continue;
            const OwnedVector vector = OwnedVector::plain({arg, rows});
            workers[w]->update(nullptr, vector.vector());
        }
        workers[0]->merge(*workers[1], {{0, 0}});
        StoredColumn out(*type, nullptr);
        workers[0]->output(1, out);
        return {value_at(out.view(), 0), ""};
    } catch (const Unrepresentable&) {
        return {{}, "unrepresentable"};
    }
}

TEST(Sum, HasTheLargestScaleOfItsTerms) {
    const Type type = plan::make_decimal();
    EXPECT_EQ(aggregate(kSum, type, {d(0, 0), d(15, 1), null, d(25, 2)}), is(d(175, 2)));
    EXPECT_EQ(aggregate(kSum, type, {d(0, 0)}, {d(0, 4), d(1, 0)}), is(d(10000, 4)));
    EXPECT_EQ(aggregate(kSum, type, {d(1, 3)}, {d(0, 0)}), is(d(1, 3)));
    EXPECT_EQ(aggregate(kSum, type, {null}, {null}), is(null));
    EXPECT_EQ(aggregate(kSum, type, {}, {}), is(null));
    EXPECT_EQ(aggregate(kSum, type, {d(1, 0), d(1, 300)}).fault, "unrepresentable");
    EXPECT_EQ(aggregate(kAverage, type, {d(1, 0), d(15, 1), d(0, 4)}),
              is(d(Int128{8333333333333333} * 10000 + 3333, 20)));
}

TEST(Extreme, OfEqualValuesInTwoScalesIsPostgresqls) {
    const Type type = plan::make_decimal();
    EXPECT_EQ(aggregate(kMaximum, type, {d(15, 1), d(1, 0)}, {d(149, 2)}), is(d(15, 1)));
    EXPECT_EQ(aggregate(kMinimum, type, {d(-15, 1), null}, {d(-2, 0)}), is(d(-2, 0)));
    EXPECT_EQ(aggregate(kMinimum, type, {d(15, 1), d(15, 1)}, {d(15, 1)}), is(d(15, 1)));
    EXPECT_EQ(aggregate(kMaximum, type, {d(15, 1), d(150, 2)}).fault, "unrepresentable");
    EXPECT_EQ(aggregate(kMaximum, type, {d(15, 1)}, {d(150, 2)}).fault, "unrepresentable");
    // A larger value settles it.
    EXPECT_EQ(aggregate(kMaximum, type, {d(15, 1), d(150, 2)}, {d(2, 0)}), is(d(2, 0)));
    EXPECT_EQ(aggregate(kMaximum, type, {d(2, 0)}, {d(15, 1), d(150, 2)}), is(d(2, 0)));
}

TEST(AnyValue, IsTheOnlyOne) {
    constexpr uint32_t kAnyValue = 6291;
    const Type text = plan::make_type(TypeId::kText);
    EXPECT_EQ(aggregate(kAnyValue, text, {null, s("a"), s("a")}, {s("a")}), is(s("a")));
    EXPECT_EQ(aggregate(kAnyValue, text, {null}, {s("")}), is(s("")));
    EXPECT_EQ(aggregate(kAnyValue, text, {null}, {}), is(null));
    EXPECT_EQ(aggregate(kAnyValue, text, {s("a")}, {s("b")}).fault, "unrepresentable");
    const Type float8 = plan::make_type(TypeId::kFloat8);
    EXPECT_EQ(aggregate(kAnyValue, float8, {f(0.0), f(-0.0)}).fault, "unrepresentable");
    EXPECT_EQ(aggregate(kAnyValue, plan::make_decimal(), {d(15, 1), d(15, 1)}), is(d(15, 1)));
    EXPECT_EQ(aggregate(kAnyValue, plan::make_decimal(), {d(15, 1), d(150, 2)}).fault,
              "unrepresentable");
}

TEST(Variance, IsExact) {
    const Type int4 = plan::make_type(TypeId::kInt4);
    constexpr uint32_t kPopulation = 2719;
    constexpr uint32_t kSample = 2642;
    constexpr uint32_t kDeviation = 2713;
    EXPECT_EQ(aggregate(kSample, int4, {i(1)}), is(null));
    EXPECT_EQ(aggregate(kPopulation, int4, {i(1)}), is(d(0, 0)));
    EXPECT_EQ(aggregate(kPopulation, int4, {}), is(null));
    // 2.5, as 60 / 24 with the digits of that division.
    EXPECT_EQ(aggregate(kSample, int4, {i(1), i(2), null}, {i(3), i(4), i(5)}),
              is(d(Int128{25000000000000000}, 16)));
    // The square root of 2.5.
    EXPECT_EQ(aggregate(kDeviation, int4, {i(1), i(2)}, {i(3), i(4), i(5)}),
              is(d(Int128{15811388300841897}, 16)));
    // Scales: 0.02 / 4 with four digits behind the point, or 20 for so small a quotient.
    constexpr uint32_t kNumericPopulation = 2723;
    EXPECT_EQ(aggregate(kNumericPopulation, plan::make_decimal(), {d(11, 1)}, {d(12, 1)}),
              is(d(Int128{250000000000000000}, 20)));
    const Type int8 = plan::make_type(TypeId::kInt8);
    EXPECT_EQ(aggregate(2641, int8, {i(INT64_MAX), i(INT64_MIN), i(INT64_MAX)}).fault,
              "unrepresentable");
}

TEST(Variance, OfFloatsFollowsYoungsAndCramer) {
    const Type float8 = plan::make_type(TypeId::kFloat8);
    constexpr uint32_t kSample = 2645;
    EXPECT_EQ(aggregate(kSample, float8, {f(1), f(2), f(4)}), is(f(7.0 / 3)));
    EXPECT_EQ(aggregate(kSample, float8, {f(1), f(2)}, {f(4)}), is(f(7.0 / 3)));
    EXPECT_EQ(aggregate(kSample, float8, {f(1), f(INFINITY)}), is(f(NAN)));
    EXPECT_EQ(aggregate(kSample, float8, {f(1)}), is(null));
    EXPECT_EQ(aggregate(2722, float8, {f(NAN)}), is(f(NAN)));
    EXPECT_EQ(aggregate(2722, float8, {f(3)}), is(f(0)));
    EXPECT_THROW(aggregate(kSample, float8, {f(1e308), f(1e308)}), SqlFault);
}

}  // namespace
}  // namespace loom::exec::test
