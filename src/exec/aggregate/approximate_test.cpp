// approx_count_distinct: how good its estimates are, and that they depend on the values alone.

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "exec/aggregate/accumulator.h"
#include "exec/aggregate/distinct_hash.h"
#include "exec/expr/test_rows.h"
#include "exec/query.h"
#include "sql/hyperloglog.h"

namespace loom::exec::test {
namespace {

using column::Int128;

Scalar d(Int128 unscaled, int64_t scale) {
    return plan::decimal_scalar({unscaled, scale});
}

int64_t estimate(const std::vector<uint64_t>& hashes) {
    std::vector<uint8_t> registers(sql::kSketchRegisters);
    for (const uint64_t hash : hashes) {
        const sql::SketchEntry entry = sql::sketch_entry(hash);
        registers[entry.index] = std::max(registers[entry.index], entry.rank);
    }
    return sql::sketch_estimate(registers.data());
}

// The estimates of two workers' rows, by group.
std::vector<int64_t> estimates(Type type, int64_t groups, const std::vector<Scalar> (&rows)[2],
                               const std::vector<uint32_t> (&numbers)[2]) {
    std::unique_ptr<Accumulator> workers[2];
    for (size_t w = 0; w < 2; ++w) {
        workers[w] = make_accumulator(kApproximateCount, type, nullptr);
        workers[w]->resize(groups);
        if (rows[w].empty()) continue;
        const OwnedVector vector = OwnedVector::plain({type, rows[w]});
        workers[w]->update(numbers[w].empty() ? nullptr : numbers[w].data(), vector.vector());
    }
    GroupMap map;
    for (uint32_t g = 0; g < groups; ++g) map.push_back({g, g});
    workers[0]->merge(*workers[1], map);
    StoredColumn out(plan::make_type(TypeId::kInt8), nullptr);
    workers[0]->output(groups, out);
    std::vector<int64_t> results;
    for (int64_t g = 0; g < groups; ++g) results.push_back(out.view().as<int64_t>()[g]);
    return results;
}

int64_t count(Type type, const std::vector<Scalar>& rows) {
    return estimates(type, 1, {rows, {}}, {{}, {}})[0];
}

TEST(HyperLogLog, RanksBits) {
    EXPECT_EQ(sql::sketch_entry(0).index, 0);
    EXPECT_EQ(sql::sketch_entry(0).rank, sql::kMaxSketchRank);
    EXPECT_EQ(sql::sketch_entry(1).rank, sql::kMaxSketchRank - 1);
    EXPECT_EQ(sql::sketch_entry(UINT64_MAX).index, sql::kSketchRegisters - 1);
    EXPECT_EQ(sql::sketch_entry(UINT64_MAX).rank, 1);
    EXPECT_EQ(sql::sketch_entry(uint64_t{5} << 52).index, 5);
}

TEST(HyperLogLog, EstimatesWithinItsError) {
    constexpr double kError = 1.04 / 64;
    EXPECT_EQ(estimate({}), 0);
    EXPECT_EQ(estimate({distinct_hash(int64_t{1})}), 1);
    std::vector<uint64_t> hashes;
    double squares = 0;
    int measured = 0;
    for (int64_t n : {10, 100, 1000, 5000, 20'000, 100'000, 1'000'000}) {
        for (int64_t round = 0; round < 8; ++round) {
            hashes.clear();
            for (int64_t i = 0; i < n; ++i)
                hashes.push_back(distinct_hash(round * 1'000'000'007 + i));
            const double error = static_cast<double>(estimate(hashes) - n) / static_cast<double>(n);
            EXPECT_LT(std::abs(error), 4 * kError) << n;
            squares += error * error;
            ++measured;
        }
    }
    EXPECT_LT(std::sqrt(squares / measured), 1.1 * kError);
    // Full registers.
    hashes.clear();
    for (uint64_t i = 0; i < sql::kSketchRegisters; ++i) hashes.push_back(i << 52);
    EXPECT_GT(estimate(hashes), int64_t{1} << 60);
}

TEST(ApproximateCount, CountsEqualValuesOnce) {
    const auto type = [](TypeId id) { return plan::make_type(id); };
    EXPECT_EQ(count(type(TypeId::kInt4), {}), 0);
    EXPECT_EQ(count(type(TypeId::kInt4), {null, null}), 0);
    EXPECT_EQ(count(type(TypeId::kInt4), {i(1), null, i(2), i(1)}), 2);
    EXPECT_EQ(count(type(TypeId::kBool), {i(1), i(0), i(1)}), 2);
    EXPECT_EQ(count(type(TypeId::kFloat8), {f(0.0), f(-0.0), f(NAN), f(-NAN), f(1)}), 3);
    EXPECT_EQ(count(type(TypeId::kFloat4), {f(0.0), f(-0.0), f(NAN), f(INFINITY)}), 3);
    EXPECT_EQ(count(plan::make_decimal(), {d(1, 0), d(100, 2), d(0, 0), d(0, 5), d(15, 1)}), 3);
    EXPECT_EQ(count(type(TypeId::kText), {s("a"), s("a "), s("a")}), 2);
    EXPECT_EQ(count(type(TypeId::kBpchar), {s("a"), s("a "), s("a  "), s(""), s(" ")}), 2);
    EXPECT_EQ(count(type(TypeId::kBytea), {s("a"), s("a "), s("")}), 3);
}

TEST(ApproximateCount, DoesNotDependOnHowNumbersAreStored) {
    std::vector<Scalar> whole;
    std::vector<Scalar> scaled;
    std::vector<Scalar> decimals;
    for (int64_t n = 0; n < 3000; ++n) {
        whole.push_back(i(n));
        scaled.push_back(i(n * 1000));
        decimals.push_back(d(Int128{n} * 10, 1));
    }
    const int64_t expected = count(plan::make_numeric(9, 0), whole);
    EXPECT_EQ(count(plan::make_numeric(12, 3), scaled), expected);
    EXPECT_EQ(count(plan::make_numeric(30, 3), scaled), expected);
    EXPECT_EQ(count(plan::make_decimal(), decimals), expected);
    const int64_t integers = count(plan::make_type(TypeId::kInt2), whole);
    EXPECT_EQ(count(plan::make_type(TypeId::kInt4), whole), integers);
    EXPECT_EQ(count(plan::make_type(TypeId::kInt8), whole), integers);
}

TEST(ApproximateCount, OfGroupsOfAllSizesIsThatOfTheirRegisters) {
    constexpr int64_t kGroups = 40;
    std::mt19937_64 random(1);
    std::vector<uint64_t> hashes[kGroups];
    std::vector<Scalar> rows[2];
    std::vector<uint32_t> numbers[2];
    for (int64_t row = 0; row < 60'000; ++row) {
        // Groups of few values, around the sizes of lists, and of many.
        const auto group = static_cast<uint32_t>(random() % kGroups);
        const auto value = static_cast<int64_t>(random() % (1 + group * group));
        const size_t worker = group % 3 == 0 ? random() % 2 : group % 3 - 1;
        rows[worker].push_back(i(value));
        numbers[worker].push_back(group);
        hashes[group].push_back(distinct_hash(value));
    }
    const auto found = estimates(plan::make_type(TypeId::kInt8), kGroups, rows, numbers);
    for (int64_t g = 0; g < kGroups; ++g)
        EXPECT_EQ(found[static_cast<size_t>(g)], estimate(hashes[g])) << g;
}

}  // namespace
}  // namespace loom::exec::test
