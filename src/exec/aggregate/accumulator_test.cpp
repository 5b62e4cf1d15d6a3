// Aggregates of numerics, what PostgreSQL shows of sums, averages, extremes and variances; and
// those of pairs of floats.

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

constexpr uint32_t kPairCount = 2818;
constexpr uint32_t kSxx = 2819;
constexpr uint32_t kSyy = 2820;
constexpr uint32_t kSxy = 2821;
constexpr uint32_t kAverageX = 2822;
constexpr uint32_t kAverageY = 2823;
constexpr uint32_t kR2 = 2824;
constexpr uint32_t kSlope = 2825;
constexpr uint32_t kIntercept = 2826;
constexpr uint32_t kPopulationCovariance = 2827;
constexpr uint32_t kSampleCovariance = 2828;
constexpr uint32_t kCorrelation = 2829;

using PairRows = std::vector<std::pair<Scalar, Scalar>>;  // y, x

// Aggregates two lists of pairs, one a worker, and merges them.
Outcome aggregate_pairs(uint32_t function, const PairRows& first, const PairRows& second = {}) {
    const Type float8 = plan::make_type(TypeId::kFloat8);
    const Type types[] = {float8, float8};
    const auto type = aggregate_type(function, types);
    if (!type) return {{}, "no such aggregate"};
    std::unique_ptr<Accumulator> workers[2];
    for (size_t w = 0; w < 2; ++w) {
        workers[w] = make_accumulator(function, float8, nullptr);
        workers[w]->resize(1);
        const PairRows& rows = w == 0 ? first : second;
        if (rows.empty()) continue;
        std::vector<Scalar> y;
        std::vector<Scalar> x;
        for (const auto& [dependent, independent] : rows) {
            y.push_back(dependent);
            x.push_back(independent);
        }
        const OwnedVector ys = OwnedVector::plain({float8, y});
        const OwnedVector xs = OwnedVector::plain({float8, x});
        workers[w]->update_pairs(nullptr, ys.vector(), xs.vector());
    }
    workers[0]->merge(*workers[1], {{0, 0}});
    StoredColumn out(*type, nullptr);
    workers[0]->output(1, out);
    return {value_at(out.view(), 0), ""};
}

TEST(Regression, TakesTwoFloats) {
    const Type float8 = plan::make_type(TypeId::kFloat8);
    const Type one[] = {float8};
    const Type two[] = {float8, float8};
    const Type mixed[] = {float8, plan::make_type(TypeId::kFloat4)};
    const Type three[] = {float8, float8, float8};
    EXPECT_EQ(aggregate_type(kCorrelation, two), float8);
    EXPECT_EQ(aggregate_type(kPairCount, two), plan::make_type(TypeId::kInt8));
    EXPECT_EQ(aggregate_type(kCorrelation, one), std::nullopt);
    EXPECT_EQ(aggregate_type(kCorrelation, mixed), std::nullopt);
    EXPECT_EQ(aggregate_type(kCorrelation, three), std::nullopt);
    EXPECT_EQ(aggregate_type(2111, two), std::nullopt);
}

TEST(Regression, OfALine) {
    // y = 2x + 1; a pair with a NULL does not count.
    const PairRows first = {{f(1), f(0)}, {null, f(9)}, {f(3), f(1)}};
    const PairRows second = {{f(5), f(2)}, {f(9), null}, {f(7), f(3)}, {null, null}};
    const std::pair<uint32_t, Scalar> expected[] = {{kPairCount, i(4)},
                                                    {kSxx, f(5)},
                                                    {kSyy, f(20)},
                                                    {kSxy, f(10)},
                                                    {kAverageX, f(1.5)},
                                                    {kAverageY, f(4)},
                                                    {kR2, f(1)},
                                                    {kSlope, f(2)},
                                                    {kIntercept, f(1)},
                                                    {kCorrelation, f(1)},
                                                    {kPopulationCovariance, f(2.5)},
                                                    {kSampleCovariance, f(10.0 / 3)}};
    PairRows all = first;
    all.insert(all.end(), second.begin(), second.end());
    for (const auto& [function, value] : expected) {
        EXPECT_EQ(aggregate_pairs(function, first, second), is(value)) << function;
        EXPECT_EQ(aggregate_pairs(function, all), is(value)) << function;
        EXPECT_EQ(aggregate_pairs(function, {}, all), is(value)) << function;
    }
}

TEST(Regression, OfFewPairsAndStraightLines) {
    EXPECT_EQ(aggregate_pairs(kPairCount, {}), is(i(0)));
    EXPECT_EQ(aggregate_pairs(kPairCount, {{null, f(1)}}), is(i(0)));
    for (const uint32_t function : {kSxx, kSyy, kSxy, kAverageX, kAverageY, kR2, kSlope, kIntercept,
                                    kPopulationCovariance, kSampleCovariance, kCorrelation}) {
        EXPECT_EQ(aggregate_pairs(function, {}), is(null)) << function;
        EXPECT_EQ(aggregate_pairs(function, {{null, f(1)}}, {{f(1), null}}), is(null)) << function;
    }
    for (const uint32_t function : {kSampleCovariance, kCorrelation, kR2, kSlope, kIntercept})
        EXPECT_EQ(aggregate_pairs(function, {{f(1), f(1)}}), is(null)) << function;
    for (const uint32_t function : {kSxx, kSyy, kSxy, kPopulationCovariance})
        EXPECT_EQ(aggregate_pairs(function, {{f(1), f(1)}}), is(f(0))) << function;
    const PairRows horizontal = {{f(5), f(1)}, {f(5), f(2)}};
    EXPECT_EQ(aggregate_pairs(kCorrelation, horizontal), is(null));
    EXPECT_EQ(aggregate_pairs(kR2, horizontal), is(f(1)));
    EXPECT_EQ(aggregate_pairs(kSlope, horizontal), is(f(0)));
    EXPECT_EQ(aggregate_pairs(kIntercept, horizontal), is(f(5)));
    const PairRows vertical = {{f(1), f(5)}, {f(2), f(5)}};
    for (const uint32_t function : {kCorrelation, kR2, kSlope, kIntercept})
        EXPECT_EQ(aggregate_pairs(function, vertical), is(null)) << function;
}

TEST(Regression, OfInfinitiesAndOverflow) {
    // An infinite or NaN variable spoils its own squares and the products only.
    for (const double odd : {INFINITY, -INFINITY, NAN}) {
        for (const PairRows& rows :
             {PairRows{{f(1), f(odd)}, {f(2), f(2)}}, PairRows{{f(1), f(2)}, {f(2), f(odd)}}}) {
            EXPECT_EQ(aggregate_pairs(kSxx, rows), is(f(NAN)));
            EXPECT_EQ(aggregate_pairs(kSxy, rows), is(f(NAN)));
            EXPECT_EQ(aggregate_pairs(kSyy, rows), is(f(0.5)));
            EXPECT_EQ(aggregate_pairs(kAverageX, rows), is(f(odd)));
            EXPECT_EQ(aggregate_pairs(kAverageY, rows), is(f(1.5)));
            EXPECT_EQ(aggregate_pairs(kPairCount, rows), is(i(2)));
        }
        EXPECT_EQ(aggregate_pairs(kSyy, {{f(odd), f(1)}}), is(f(NAN)));
        EXPECT_EQ(aggregate_pairs(kSxx, {{f(odd), f(1)}}), is(f(0)));
        EXPECT_EQ(aggregate_pairs(kSxy, {{f(odd), f(1)}}), is(f(NAN)));
    }
    EXPECT_THROW(aggregate_pairs(kSxx, {{f(1), f(1e308)}, {f(1), f(1e308)}}), SqlFault);
    EXPECT_THROW(aggregate_pairs(kSxx, {{f(1), f(1e308)}}, {{f(1), f(1e308)}}), SqlFault);
    EXPECT_THROW(aggregate_pairs(kSlope, {{f(1e308), f(1)}, {f(-1e308), f(1)}}), SqlFault);
    EXPECT_THROW(aggregate_pairs(kSlope, {{f(1e308), f(1)}}, {{f(-1e308), f(1)}}), SqlFault);
    EXPECT_EQ(aggregate_pairs(kPairCount, {{f(1e308), f(1e308)}, {f(1e308), f(1e308)}}), is(i(2)));
    // An infinite variable hides an overflow of its own, not of the other one.
    EXPECT_EQ(aggregate_pairs(kSyy, {{f(1), f(INFINITY)}, {f(1), f(1e308)}}), is(f(0)));
    EXPECT_THROW(aggregate_pairs(kSxx, {{f(1e308), f(INFINITY)}, {f(1e308), f(1)}}), SqlFault);
}

}  // namespace
}  // namespace loom::exec::test
