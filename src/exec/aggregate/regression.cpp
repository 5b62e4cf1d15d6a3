// Aggregates over pairs of floats: corr, covar_pop, covar_samp, and regr_*. The first argument of a
// pair is the dependent variable, Y.

#include <cmath>
#include <optional>

#include "exec/aggregate/families.h"
#include "exec/fault.h"

namespace loom::exec {

namespace {

using Kind = AggregateKind;

// Calls body(group, row) for each row in which neither value is NULL.
template <typename Body>
void for_pairs(const uint32_t* groups, const Vector& first, const Vector& second, Body&& body) {
    if (second.validity == nullptr) return for_rows(groups, first, body);
    for_rows(groups, first, [&](uint32_t group, int64_t row) {
        if (base::bit_at(second.validity, row)) body(group, row);
    });
}

// regr_count.
class PairCount final : public Accumulator {
  public:
    explicit PairCount(base::MemoryBudget* budget) : counts_(budget) {}

    void resize(int64_t groups) override { counts_.resize(groups); }
    void update_pairs(const uint32_t* groups, const Vector& first, const Vector& second) override {
        int64_t* counts = counts_.data();
        for_pairs(groups, first, second, [=](uint32_t group, int64_t) { ++counts[group]; });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<PairCount&>(other);
        for (const auto [g, to] : map) counts_[to] += from.counts_[g];
    }
    void output(int64_t groups, StoredColumn& out) override {
        put(out, groups, counts_.data(), nullptr);
    }

  private:
    PerGroup<int64_t> counts_;
};

[[noreturn]] void overflow() {
    throw SqlFault("22003", "value out of range: overflow");
}

// One of the two variables of a group.
struct Variable {
    double sum;
    double squares;  // of the distances from the mean; NaN if a value is infinite or NaN

    bool is_infinite() const { return std::isinf(sum) || std::isinf(squares); }
};

// By the algorithm of Youngs and Cramer (float8_regr_accum, float8_regr_combine), in PostgreSQL's
// order of operations: the last digits depend on it.
struct Pairs {
    double count;
    Variable x;
    Variable y;
    double products;  // of the distances of x and y from their means

    void add(double new_x, double new_y) {
        const Pairs before = *this;
        count += 1;
        x.sum += new_x;
        y.sum += new_y;
        if (before.count == 0) return begin(new_x, new_y);
        const double distance_x = new_x * count - x.sum;
        const double distance_y = new_y * count - y.sum;
        const double scale = 1 / (count * before.count);
        x.squares += distance_x * distance_x * scale;
        y.squares += distance_y * distance_y * scale;
        products += distance_x * distance_y * scale;
        if (x.is_infinite() || y.is_infinite() || std::isinf(products))
            settle_infinities(std::isinf(before.x.sum) || std::isinf(new_x),
                              std::isinf(before.y.sum) || std::isinf(new_y));
    }

    void combine(const Pairs& other) {
        const double distance_x = x.sum / count - other.x.sum / other.count;
        const double distance_y = y.sum / count - other.y.sum / other.count;
        const double both = count + other.count;
        const double weight = count * other.count;
        const Pairs before = *this;
        x.sum = checked(x.sum + other.x.sum, before.x.sum, other.x.sum);
        x.squares = checked(x.squares + other.x.squares + weight * distance_x * distance_x / both,
                            before.x.squares, other.x.squares);
        y.sum = checked(y.sum + other.y.sum, before.y.sum, other.y.sum);
        y.squares = checked(y.squares + other.y.squares + weight * distance_y * distance_y / both,
                            before.y.squares, other.y.squares);
        products = checked(products + other.products + weight * distance_x * distance_y / both,
                           before.products, other.products);
        count = both;
    }

  private:
    void begin(double new_x, double new_y) {
        const double nan = std::nan("");
        if (!std::isfinite(new_x)) x.squares = products = nan;
        if (!std::isfinite(new_y)) y.squares = products = nan;
    }

    // What is infinite without an infinite input is an overflow.
    void settle_infinities(bool infinite_x, bool infinite_y) {
        if ((x.is_infinite() && !infinite_x) || (y.is_infinite() && !infinite_y) ||
            (std::isinf(products) && !infinite_x && !infinite_y))
            overflow();
        for (double* sum : {&x.squares, &y.squares, &products})
            if (std::isinf(*sum)) *sum = std::nan("");
    }

    static double checked(double sum, double a, double b) {
        if (std::isinf(sum) && !std::isinf(a) && !std::isinf(b)) overflow();
        return sum;
    }
};

// The result of a group that has rows; nothing is NULL.
std::optional<double> result_of(Kind kind, const Pairs& pairs) {
    const double count = pairs.count;
    const double xx = pairs.x.squares;
    const double yy = pairs.y.squares;
    const double xy = pairs.products;
    switch (kind) {
        case Kind::kRegressionSxx:
            return xx;
        case Kind::kRegressionSyy:
            return yy;
        case Kind::kRegressionSxy:
            return xy;
        case Kind::kRegressionAverageX:
            return pairs.x.sum / count;
        case Kind::kRegressionAverageY:
            return pairs.y.sum / count;
        case Kind::kPopulationCovariance:
            return xy / count;
        case Kind::kSampleCovariance:
            if (count < 2) return std::nullopt;
            return xy / (count - 1);
        case Kind::kCorrelation:
            if (xx == 0 || yy == 0) return std::nullopt;
            return xy / std::sqrt(xx * yy);
        default:
            break;
    }
    // A vertical line has none of these.
    if (xx == 0) return std::nullopt;
    switch (kind) {
        case Kind::kRegressionR2:
            return yy == 0 ? 1 : (xy * xy) / (xx * yy);
        case Kind::kRegressionSlope:
            return xy / xx;
        default:
            return (pairs.y.sum - pairs.x.sum * xy / xx) / count;
    }
}

class Regression final : public Accumulator {
  public:
    Regression(Kind kind, base::MemoryBudget* budget) : kind_(kind), states_(budget) {}

    void resize(int64_t groups) override { states_.resize(groups); }
    void update_pairs(const uint32_t* groups, const Vector& first, const Vector& second) override {
        const auto* y = first.as<double>();
        const auto* x = second.as<double>();
        Pairs* states = states_.data();
        for_pairs(groups, first, second,
                  [=](uint32_t group, int64_t row) { states[group].add(x[row], y[row]); });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<Regression&>(other);
        for (const auto [g, to] : map) {
            Pairs& into = states_[to];
            const Pairs& state = from.states_[g];
            if (state.count == 0) continue;
            if (into.count == 0)
                into = state;
            else
                into.combine(state);
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        base::Buffer present;
        values.resize(static_cast<uint64_t>(groups) * sizeof(double));
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            const Pairs& state = states_[g];
            std::optional<double> result;
            if (state.count > 0) result = result_of(kind_, state);
            present.data()[g] = result.has_value();
            values.as<double>()[g] = result.value_or(0);
        }
        put(out, groups, values.as<double>(), present.data());
    }

  private:
    Kind kind_;
    PerGroup<Pairs> states_;
};

}  // namespace

std::unique_ptr<Accumulator> make_regression(AggregateKind kind, base::MemoryBudget* budget) {
    if (kind == Kind::kRegressionCount) return std::make_unique<PairCount>(budget);
    return std::make_unique<Regression>(kind, budget);
}

}  // namespace loom::exec
