// var_pop, var_samp, stddev_pop, stddev_samp.

#include <cmath>

#include "exec/aggregate/families.h"
#include "exec/fault.h"
#include "sql/decimal.h"

namespace loom::exec {

using column::Int128;
using plan::Physical;
using plan::TypeId;

namespace {

struct Shape {
    bool sample;
    bool deviation;
};

Shape shape_of(AggregateKind kind) {
    return {kind == AggregateKind::kSampleVariance || kind == AggregateKind::kSampleDeviation,
            kind == AggregateKind::kPopulationDeviation || kind == AggregateKind::kSampleDeviation};
}

// Of integers and numerics: the sums of values and of squares are exact, and numeric.c says how the
// quotient is shown (numeric_stddev_internal).
template <typename T>
class ExactVariance final : public Accumulator {
  public:
    ExactVariance(Shape shape, int scale, base::MemoryBudget* budget)
        : shape_(shape), scale_(scale), states_(budget) {}

    void resize(int64_t groups) override { states_.resize(groups); }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        State* states = states_.data();
        bool good = true;
        for_rows(groups, arg, [&](uint32_t group, int64_t row) {
            good &= add(states[group], decimal(values[row]));
        });
        if (!good) too_large();
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<ExactVariance&>(other);
        for (const auto [g, to] : map) {
            State& into = states_[to];
            State state = from.states_[g];
            const int64_t scale = std::max(into.scale, state.scale);
            if (!align(into, scale) || !align(state, scale) ||
                __builtin_add_overflow(into.sum, state.sum, &into.sum) ||
                __builtin_add_overflow(into.squares, state.squares, &into.squares))
                too_large();
            into.count += state.count;
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        base::Buffer present;
        values.resize(static_cast<uint64_t>(groups) * sizeof(sql::Decimal));
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            const State& state = states_[g];
            present.data()[g] = state.count > (shape_.sample ? 1 : 0);
            sql::Decimal result;
            if (present.data()[g] != 0) result = finish(state);
            std::memcpy(values.data() + static_cast<size_t>(g) * sizeof result, &result,
                        sizeof result);
        }
        put(out, groups, values.data(), present.data());
    }

  private:
    struct State {
        Int128 sum;
        Int128 squares;  // with twice the scale
        int64_t count;
        int64_t scale;  // the largest of the values
    };

    [[noreturn]] static void too_large() {
        throw Unrepresentable("the squares of a column need more than 38 digits");
    }
    sql::Decimal decimal(const T& value) const {
        if constexpr (std::is_same_v<T, sql::Decimal>)
            return value;
        else
            return {value, scale_};
    }
    static bool align(State& state, int64_t scale) {
        const int64_t up = scale - state.scale;
        if (up == 0) return true;
        state.scale = scale;
        if (state.sum == 0 && state.squares == 0) return true;
        return 2 * up <= sql::kMaxDigits &&
               !__builtin_mul_overflow(state.sum, sql::kPowersOfTen.at[up], &state.sum) &&
               !__builtin_mul_overflow(state.squares, sql::kPowersOfTen.at[2 * up], &state.squares);
    }
    static bool add(State& state, sql::Decimal value) {
        if (value.scale > state.scale && !align(state, value.scale)) return false;
        sql::Fault fault;
        const Int128 aligned = sql::decimal_align(value, state.scale, fault);
        Int128 square;
        ++state.count;
        return fault.bits() == 0 && !__builtin_mul_overflow(aligned, aligned, &square) &&
               !__builtin_add_overflow(state.sum, aligned, &state.sum) &&
               !__builtin_add_overflow(state.squares, square, &state.squares);
    }

    sql::Decimal finish(const State& state) const {
        Int128 product;
        Int128 square;
        Int128 numerator;
        if (__builtin_mul_overflow(Int128{state.count}, state.squares, &product) ||
            __builtin_mul_overflow(state.sum, state.sum, &square) ||
            __builtin_sub_overflow(product, square, &numerator) || !sql::has_38_digits(numerator) ||
            2 * state.scale > sql::kMaxScale)
            too_large();
        if (numerator <= 0) return {};  // shown without digits behind the point
        const Int128 count = state.count;
        sql::Fault fault;
        sql::Decimal result = sql::decimal_divide(
            {numerator, 2 * state.scale}, {count * (shape_.sample ? count - 1 : count), 0}, fault);
        if (fault.bits() == 0 && shape_.deviation) result = sql::decimal_square_root(result, fault);
        if (fault.bits() != 0) too_large();
        return result;
    }

    Shape shape_;
    int scale_;
    PerGroup<State> states_;
};

// Of floats, by the algorithm of Youngs and Cramer (float8_accum, float8_combine).
template <typename T>
class FloatVariance final : public Accumulator {
  public:
    FloatVariance(Shape shape, base::MemoryBudget* budget) : shape_(shape), states_(budget) {}

    void resize(int64_t groups) override { states_.resize(groups); }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        State* states = states_.data();
        for_rows(groups, arg, [=](uint32_t group, int64_t row) {
            add(states[group], static_cast<double>(values[row]));
        });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<FloatVariance&>(other);
        for (const auto [g, to] : map) {
            State& into = states_[to];
            const State& state = from.states_[g];
            if (state.count == 0) continue;
            if (into.count == 0)
                into = state;
            else
                combine(into, state);
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        base::Buffer present;
        values.resize(static_cast<uint64_t>(groups) * sizeof(double));
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            const State& state = states_[g];
            present.data()[g] = state.count > (shape_.sample ? 1 : 0);
            double result = 0;
            if (present.data()[g] != 0) {
                result = state.squares / (shape_.sample ? state.count - 1 : state.count);
                if (shape_.deviation) result = std::sqrt(result);
            }
            std::memcpy(values.data() + static_cast<size_t>(g) * sizeof result, &result,
                        sizeof result);
        }
        put(out, groups, values.data(), present.data());
    }

  private:
    struct State {
        double count;
        double sum;
        double squares;  // of the distances from the mean; NaN if a value is infinite or NaN
    };

    [[noreturn]] static void overflow() { throw SqlFault("22003", "value out of range: overflow"); }
    static void add(State& state, double value) {
        const State before = state;
        state.count += 1;
        state.sum += value;
        if (before.count == 0) {
            if (!std::isfinite(value)) state.squares = std::nan("");
            return;
        }
        const double distance = value * state.count - state.sum;
        state.squares += distance * distance / (state.count * before.count);
        if (!std::isinf(state.sum) && !std::isinf(state.squares)) return;
        if (!std::isinf(before.sum) && !std::isinf(value)) overflow();
        state.squares = std::nan("");
    }
    static void combine(State& into, const State& state) {
        const double distance = into.sum / into.count - state.sum / state.count;
        const double count = into.count + state.count;
        const double sum = into.sum + state.sum;
        if (std::isinf(sum) && !std::isinf(into.sum) && !std::isinf(state.sum)) overflow();
        const double squares =
            into.squares + state.squares + into.count * state.count * distance * distance / count;
        if (std::isinf(squares) && !std::isinf(into.squares) && !std::isinf(state.squares))
            overflow();
        into = {count, sum, squares};
    }

    Shape shape_;
    PerGroup<State> states_;
};

}  // namespace

std::unique_ptr<Accumulator> make_variance(AggregateKind kind, plan::Type arg,
                                           base::MemoryBudget* budget) {
    const Shape shape = shape_of(kind);
    const int scale = arg.id == TypeId::kNumeric ? arg.scale : 0;
    switch (plan::physical(arg)) {
        case Physical::kInt16:
            return std::make_unique<ExactVariance<int16_t>>(shape, scale, budget);
        case Physical::kInt32:
            return std::make_unique<ExactVariance<int32_t>>(shape, scale, budget);
        case Physical::kInt64:
            return std::make_unique<ExactVariance<int64_t>>(shape, scale, budget);
        case Physical::kInt128:
            return std::make_unique<ExactVariance<Int128>>(shape, scale, budget);
        case Physical::kDecimal:
            return std::make_unique<ExactVariance<sql::Decimal>>(shape, 0, budget);
        case Physical::kFloat32:
            return std::make_unique<FloatVariance<float>>(shape, budget);
        case Physical::kFloat64:
            return std::make_unique<FloatVariance<double>>(shape, budget);
        default:
            return nullptr;
    }
}

}  // namespace loom::exec
