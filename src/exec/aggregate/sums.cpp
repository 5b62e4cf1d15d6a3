// count, sum, avg.

#include <algorithm>
#include <cmath>

#include "exec/aggregate/exact_sum.h"
#include "exec/aggregate/families.h"
#include "exec/fault.h"
#include "sql/decimal.h"

namespace loom::exec {

using column::Int128;
using plan::Physical;
using plan::TypeId;

namespace {

[[noreturn]] void too_large() {
    throw Unrepresentable("the sum of a column needs more than 38 digits");
}

// The quotient that ends an average in numeric.
sql::Decimal average(Int128 sum, int64_t scale, int64_t count) {
    sql::Fault fault;
    const sql::Decimal quotient = sql::decimal_divide({sum, scale}, {count, 0}, fault);
    if (fault.bits() != 0) too_large();
    return quotient;
}

void check_digits(Int128 sum) {
    if (!sql::has_38_digits(sum)) too_large();
}

// count(*) and count(x).
class Count final : public Accumulator {
  public:
    explicit Count(base::MemoryBudget* budget) : counts_(budget) {}
    void resize(int64_t groups) override { counts_.resize(groups); }
    void update(const uint32_t* groups, const Vector& arg) override {
        if (groups == nullptr) {
            counts_[0] += arg.validity == nullptr ? arg.length
                                                  : base::count_bits(arg.validity, 0, arg.length);
            return;
        }
        int64_t* counts = counts_.data();
        for_rows(groups, arg, [=](uint32_t group, int64_t) { ++counts[group]; });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<Count&>(other);
        for (const auto [g, to] : map) counts_[to] += from.counts_[g];
    }
    void output(int64_t groups, StoredColumn& out) override {
        put(out, groups, counts_.data(), nullptr);
    }

  private:
    PerGroup<int64_t> counts_;
};

// sum and avg of integers and numerics. The sum of a batch is taken in 64 bits where that cannot
// overflow, and added to 128 bits.
template <typename T>
class ExactSum final : public Accumulator {
  public:
    ExactSum(int scale, base::MemoryBudget* budget)
        : scale_(scale), sums_(budget), counts_(budget) {}

    void resize(int64_t groups) override {
        sums_.resize(groups);
        counts_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        if (groups == nullptr && arg.validity == nullptr && sizeof(T) <= 4) {
            int64_t sum = 0;
            for (int64_t i = 0; i < arg.length; ++i) sum += static_cast<int64_t>(values[i]);
            sums_[0] += sum;
            counts_[0] += arg.length;
            return;
        }
        if constexpr (sizeof(T) <= 8)
            if (groups != nullptr && arg.validity == nullptr && sums_.size() <= kFewGroups &&
                arg.length >= 2 * kFewGroups && adds_up(values, arg.length))
                return update_few(groups, values, arg.length);
        Int128* sums = sums_.data();
        int64_t* counts = counts_.data();
        bool overflow = false;
        for_rows(groups, arg, [&](uint32_t group, int64_t row) {
            if constexpr (sizeof(T) == 16)
                overflow |= __builtin_add_overflow(sums[group], values[row], &sums[group]);
            else
                sums[group] += values[row];
            ++counts[group];
        });
        if (overflow) too_large();
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<ExactSum&>(other);
        for (const auto [g, to] : map) {
            if (__builtin_add_overflow(sums_[to], from.sums_[g], &sums_[to])) too_large();
            counts_[to] += from.counts_[g];
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        base::Buffer present;
        const int width = plan::width(plan::physical(out.type()));
        values.resize(static_cast<uint64_t>(groups) * width);
        present.resize(static_cast<uint64_t>(groups));
        std::memset(values.data(), 0, static_cast<size_t>(groups) * static_cast<size_t>(width));
        for (int64_t g = 0; g < groups; ++g) {
            present.data()[g] = counts_[g] > 0;
            if (counts_[g] > 0)
                put_exact_sum(out.type(), sums_[g], scale_, counts_[g], values.data() + g * width);
        }
        put(out, groups, values.data(), present.data());
    }

  private:
    // Of so many groups a batch is summed in 64 bits on the side.
    static constexpr int64_t kFewGroups = 256;

    // Whether the values of a batch can be summed in 64 bits.
    static bool adds_up(const T* values, int64_t count) {
        if (sizeof(T) < 8) return true;
        uint64_t bits = 0;
        for (int64_t i = 0; i < count; ++i) {
            const auto value = static_cast<int64_t>(values[i]);
            bits |= static_cast<uint64_t>(value ^ (value >> 63));
        }
        return bits < uint64_t{INT64_MAX} / kBatchRows;
    }

    void update_few(const uint32_t* groups, const T* values, int64_t count) {
        int64_t sums[kFewGroups];
        int64_t counts[kFewGroups];
        const int64_t known = sums_.size();
        std::fill_n(sums, known, 0);
        std::fill_n(counts, known, 0);
        for (int64_t i = 0; i < count; ++i) {
            sums[groups[i]] += static_cast<int64_t>(values[i]);
            ++counts[groups[i]];
        }
        for (int64_t group = 0; group < known; ++group) {
            sums_[group] += sums[group];
            counts_[group] += counts[group];
        }
    }

    int scale_;
    PerGroup<Int128> sums_;
    PerGroup<int64_t> counts_;
};

// sum and avg of numerics whose values have scales of their own. PostgreSQL's sum has the largest
// scale of its terms.
class DecimalSum final : public Accumulator {
  public:
    DecimalSum(bool average, base::MemoryBudget* budget)
        : average_(average), sums_(budget), counts_(budget) {}

    void resize(int64_t groups) override {
        sums_.resize(groups);
        counts_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const auto* values = arg.as<sql::Decimal>();
        sql::Decimal* sums = sums_.data();
        int64_t* counts = counts_.data();
        bool overflow = false;
        for_rows(groups, arg, [&](uint32_t group, int64_t row) {
            overflow |= !add(sums[group], values[row]);
            ++counts[group];
        });
        if (overflow) too_large();
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<DecimalSum&>(other);
        for (const auto [g, to] : map) {
            if (!add(sums_[to], from.sums_[g])) too_large();
            counts_[to] += from.counts_[g];
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer present;
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            present.data()[g] = counts_[g] > 0;
            sql::Decimal& sum = sums_[g];
            check_digits(sum.unscaled);
            if (average_ && counts_[g] > 0) sum = average(sum.unscaled, sum.scale, counts_[g]);
        }
        put(out, groups, sums_.data(), present.data());
    }

  private:
    // The usual value has no more digits behind the point than the sum so far, and is multiplied
    // by a power of ten that is often 1: no branch depends on the value.
    static bool add(sql::Decimal& sum, const sql::Decimal& value) {
        if (value.scale > sum.scale) {
            sql::Fault fault;
            sum.unscaled = sql::decimal_align(sum, value.scale, fault);
            sum.scale = value.scale;
            if (fault.bits() != 0) return false;
        }
        const int64_t up = sum.scale - value.scale;
        if (up > sql::kMaxDigits) return value.unscaled == 0;
        Int128 aligned;
        return !__builtin_mul_overflow(value.unscaled, sql::kPowersOfTen.at[up], &aligned) &&
               !__builtin_add_overflow(sum.unscaled, aligned, &sum.unscaled);
    }

    bool average_;
    PerGroup<sql::Decimal> sums_;
    PerGroup<int64_t> counts_;
};

// sum and avg of floats; PostgreSQL adds float4 in float4 for sum, in float8 for avg.
template <typename T, typename Sum>
class FloatSum final : public Accumulator {
  public:
    FloatSum(bool average, base::MemoryBudget* budget)
        : average_(average), sums_(budget), counts_(budget), infinite_(budget) {}
    void resize(int64_t groups) override {
        sums_.resize(groups);
        counts_.resize(groups);
        infinite_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        Sum* sums = sums_.data();
        int64_t* counts = counts_.data();
        uint8_t* infinite = infinite_.data();
        for_rows(groups, arg, [=](uint32_t group, int64_t row) {
            sums[group] += static_cast<Sum>(values[row]);
            infinite[group] |= std::isinf(values[row]) ? 1 : 0;
            ++counts[group];
        });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<FloatSum&>(other);
        for (const auto [g, to] : map) {
            sums_[to] += from.sums_[g];
            infinite_[to] |= from.infinite_[g];
            counts_[to] += from.counts_[g];
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer present;
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            present.data()[g] = counts_[g] > 0;
            if (std::isinf(sums_[g]) && infinite_[g] == 0)
                throw SqlFault("22003", "value out of range: overflow");
            if (average_ && counts_[g] > 0) sums_[g] /= static_cast<Sum>(counts_[g]);
        }
        put(out, groups, sums_.data(), present.data());
    }

  private:
    bool average_;
    PerGroup<Sum> sums_;
    PerGroup<int64_t> counts_;
    PerGroup<uint8_t> infinite_;
};

template <typename T>
std::unique_ptr<Accumulator> make_exact(plan::Type arg, base::MemoryBudget* budget) {
    return std::make_unique<ExactSum<T>>(arg.id == TypeId::kNumeric ? arg.scale : 0, budget);
}

}  // namespace

void put_exact_sum(plan::Type type, Int128 sum, int scale, int64_t count, uint8_t* place) {
    switch (plan::physical(type)) {
        case Physical::kInt64: {
            // sum(int2), sum(int4): bigint, which PostgreSQL lets wrap as it adds.
            const auto wrapped = static_cast<int64_t>(sum);
            std::memcpy(place, &wrapped, sizeof wrapped);
            break;
        }
        case Physical::kDecimal: {
            check_digits(sum);
            const sql::Decimal quotient = average(sum, scale, count);
            std::memcpy(place, &quotient, sizeof quotient);
            break;
        }
        default:
            check_digits(sum);
            std::memcpy(place, &sum, sizeof sum);
    }
}

std::unique_ptr<Accumulator> make_count(base::MemoryBudget* budget) {
    return std::make_unique<Count>(budget);
}

std::unique_ptr<Accumulator> make_sum(AggregateKind kind, plan::Type arg,
                                      base::MemoryBudget* budget) {
    const bool average = kind == AggregateKind::kAverage;
    switch (plan::physical(arg)) {
        case Physical::kInt16:
            return make_exact<int16_t>(arg, budget);
        case Physical::kInt32:
            return make_exact<int32_t>(arg, budget);
        case Physical::kInt64:
            return make_exact<int64_t>(arg, budget);
        case Physical::kInt128:
            return make_exact<Int128>(arg, budget);
        case Physical::kDecimal:
            return std::make_unique<DecimalSum>(average, budget);
        case Physical::kFloat32:
            if (!average) return std::make_unique<FloatSum<float, float>>(false, budget);
            return std::make_unique<FloatSum<float, double>>(true, budget);
        case Physical::kFloat64:
            return std::make_unique<FloatSum<double, double>>(average, budget);
        default:
            return nullptr;
    }
}

}  // namespace loom::exec
