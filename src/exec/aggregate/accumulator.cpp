// Which aggregate each function of PostgreSQL is. NULL arguments never count.

#include "exec/aggregate/accumulator.h"

#include <optional>

#include "exec/aggregate/families.h"
#include "exec/fault.h"
#include "exec/query.h"

namespace loom::exec {

using plan::TypeId;

namespace {

using Kind = AggregateKind;

struct Known {
    uint32_t function;
    AggregateKind kind;
    TypeId arg;
};

// pg_proc OIDs of PostgreSQL's aggregates by argument type.
constexpr Known kKnown[] = {{2803, Kind::kCountRows, TypeId::kBool},
                            {2107, Kind::kSum, TypeId::kInt8},
                            {2108, Kind::kSum, TypeId::kInt4},
                            {2109, Kind::kSum, TypeId::kInt2},
                            {2110, Kind::kSum, TypeId::kFloat4},
                            {2111, Kind::kSum, TypeId::kFloat8},
                            {2114, Kind::kSum, TypeId::kNumeric},
                            {2100, Kind::kAverage, TypeId::kInt8},
                            {2101, Kind::kAverage, TypeId::kInt4},
                            {2102, Kind::kAverage, TypeId::kInt2},
                            {2103, Kind::kAverage, TypeId::kNumeric},
                            {2104, Kind::kAverage, TypeId::kFloat4},
                            {2105, Kind::kAverage, TypeId::kFloat8},
                            {2115, Kind::kMaximum, TypeId::kInt8},
                            {2116, Kind::kMaximum, TypeId::kInt4},
                            {2117, Kind::kMaximum, TypeId::kInt2},
                            {2119, Kind::kMaximum, TypeId::kFloat4},
                            {2120, Kind::kMaximum, TypeId::kFloat8},
                            {2122, Kind::kMaximum, TypeId::kDate},
                            {2123, Kind::kMaximum, TypeId::kTime},
                            {2126, Kind::kMaximum, TypeId::kTimestamp},
                            {2127, Kind::kMaximum, TypeId::kTimestampTz},
                            {2129, Kind::kMaximum, TypeId::kText},
                            {2130, Kind::kMaximum, TypeId::kNumeric},
                            {2131, Kind::kMinimum, TypeId::kInt8},
                            {2132, Kind::kMinimum, TypeId::kInt4},
                            {2133, Kind::kMinimum, TypeId::kInt2},
                            {2135, Kind::kMinimum, TypeId::kFloat4},
                            {2136, Kind::kMinimum, TypeId::kFloat8},
                            {2138, Kind::kMinimum, TypeId::kDate},
                            {2139, Kind::kMinimum, TypeId::kTime},
                            {2142, Kind::kMinimum, TypeId::kTimestamp},
                            {2143, Kind::kMinimum, TypeId::kTimestampTz},
                            {2145, Kind::kMinimum, TypeId::kText},
                            {2146, Kind::kMinimum, TypeId::kNumeric},
                            {2517, Kind::kAnd, TypeId::kBool},
                            {2518, Kind::kOr, TypeId::kBool},
                            {2519, Kind::kAnd, TypeId::kBool},
                            {2236, Kind::kAnd, TypeId::kInt2},
                            {2237, Kind::kOr, TypeId::kInt2},
                            {6164, Kind::kXor, TypeId::kInt2},
                            {2238, Kind::kAnd, TypeId::kInt4},
                            {2239, Kind::kOr, TypeId::kInt4},
                            {6165, Kind::kXor, TypeId::kInt4},
                            {2240, Kind::kAnd, TypeId::kInt8},
                            {2241, Kind::kOr, TypeId::kInt8},
                            {6166, Kind::kXor, TypeId::kInt8},
                            {2718, Kind::kPopulationVariance, TypeId::kInt8},
                            {2719, Kind::kPopulationVariance, TypeId::kInt4},
                            {2720, Kind::kPopulationVariance, TypeId::kInt2},
                            {2721, Kind::kPopulationVariance, TypeId::kFloat4},
                            {2722, Kind::kPopulationVariance, TypeId::kFloat8},
                            {2723, Kind::kPopulationVariance, TypeId::kNumeric},
                            {2641, Kind::kSampleVariance, TypeId::kInt8},
                            {2642, Kind::kSampleVariance, TypeId::kInt4},
                            {2643, Kind::kSampleVariance, TypeId::kInt2},
                            {2644, Kind::kSampleVariance, TypeId::kFloat4},
                            {2645, Kind::kSampleVariance, TypeId::kFloat8},
                            {2646, Kind::kSampleVariance, TypeId::kNumeric},
                            {2148, Kind::kSampleVariance, TypeId::kInt8},
                            {2149, Kind::kSampleVariance, TypeId::kInt4},
                            {2150, Kind::kSampleVariance, TypeId::kInt2},
                            {2151, Kind::kSampleVariance, TypeId::kFloat4},
                            {2152, Kind::kSampleVariance, TypeId::kFloat8},
                            {2153, Kind::kSampleVariance, TypeId::kNumeric},
                            {2724, Kind::kPopulationDeviation, TypeId::kInt8},
                            {2725, Kind::kPopulationDeviation, TypeId::kInt4},
                            {2726, Kind::kPopulationDeviation, TypeId::kInt2},
                            {2727, Kind::kPopulationDeviation, TypeId::kFloat4},
                            {2728, Kind::kPopulationDeviation, TypeId::kFloat8},
                            {2729, Kind::kPopulationDeviation, TypeId::kNumeric},
                            {2712, Kind::kSampleDeviation, TypeId::kInt8},
                            {2713, Kind::kSampleDeviation, TypeId::kInt4},
                            {2714, Kind::kSampleDeviation, TypeId::kInt2},
                            {2715, Kind::kSampleDeviation, TypeId::kFloat4},
                            {2716, Kind::kSampleDeviation, TypeId::kFloat8},
                            {2717, Kind::kSampleDeviation, TypeId::kNumeric},
                            {2154, Kind::kSampleDeviation, TypeId::kInt8},
                            {2155, Kind::kSampleDeviation, TypeId::kInt4},
                            {2156, Kind::kSampleDeviation, TypeId::kInt2},
                            {2157, Kind::kSampleDeviation, TypeId::kFloat4},
                            {2158, Kind::kSampleDeviation, TypeId::kFloat8},
                            {2159, Kind::kSampleDeviation, TypeId::kNumeric},
                            {2818, Kind::kRegressionCount, TypeId::kFloat8},
                            {2819, Kind::kRegressionSxx, TypeId::kFloat8},
                            {2820, Kind::kRegressionSyy, TypeId::kFloat8},
                            {2821, Kind::kRegressionSxy, TypeId::kFloat8},
                            {2822, Kind::kRegressionAverageX, TypeId::kFloat8},
                            {2823, Kind::kRegressionAverageY, TypeId::kFloat8},
                            {2824, Kind::kRegressionR2, TypeId::kFloat8},
                            {2825, Kind::kRegressionSlope, TypeId::kFloat8},
                            {2826, Kind::kRegressionIntercept, TypeId::kFloat8},
                            {2827, Kind::kPopulationCovariance, TypeId::kFloat8},
                            {2828, Kind::kSampleCovariance, TypeId::kFloat8},
                            {2829, Kind::kCorrelation, TypeId::kFloat8}};
// Those of any type.
constexpr uint32_t kCountAny = 2147;

size_t number_of_arguments(Kind kind) {
    if (kind == Kind::kCountRows) return 0;
    return takes_pairs(kind) ? 2 : 1;
}

bool is_float(plan::Type type) {
    return type.id == TypeId::kFloat4 || type.id == TypeId::kFloat8;
}

plan::Type sum_type(plan::Type arg) {
    if (is_float(arg) || plan::is_decimal(arg)) return arg;
    if (arg.id == TypeId::kInt2 || arg.id == TypeId::kInt4) return plan::make_type(TypeId::kInt8);
    return plan::make_numeric(plan::kMaxPrecision, arg.id == TypeId::kNumeric ? arg.scale : 0);
}

}  // namespace

std::optional<Kind> aggregate_kind(uint32_t function, plan::Type arg) {
    if (function == kCountAny) return Kind::kCount;
    if (function == kAnyValue) return Kind::kAny;
    if (function == kApproximateCount) return Kind::kApproximateDistinct;
    for (const Known& known : kKnown)
        if (known.function == function && (known.kind == Kind::kCountRows || known.arg == arg.id))
            return known.kind;
    return std::nullopt;
}

void Accumulator::update(const uint32_t*, const Vector&) {
    throw Unrepresentable("an aggregate that takes two arguments");
}

void Accumulator::update_pairs(const uint32_t*, const Vector&, const Vector&) {
    throw Unrepresentable("an aggregate that takes one argument");
}

std::optional<plan::Type> aggregate_type(uint32_t function, std::span<const plan::Type> args) {
    const plan::Type arg = args.empty() ? plan::make_type(TypeId::kBool) : args[0];
    const auto kind = aggregate_kind(function, arg);
    if (!kind || args.size() != number_of_arguments(*kind)) return std::nullopt;
    if (args.size() == 2 && args[1] != arg) return std::nullopt;
    switch (*kind) {
        case Kind::kCountRows:
        case Kind::kCount:
        case Kind::kRegressionCount:
        case Kind::kApproximateDistinct:
            return plan::make_type(TypeId::kInt8);
        case Kind::kSum:
            return sum_type(arg);
        case Kind::kAverage:
        case Kind::kPopulationVariance:
        case Kind::kSampleVariance:
        case Kind::kPopulationDeviation:
        case Kind::kSampleDeviation:
            return is_float(arg) ? plan::make_type(TypeId::kFloat8) : plan::make_decimal();
        default:
            return arg;
    }
}

std::unique_ptr<Accumulator> make_accumulator(uint32_t function, plan::Type arg,
                                              base::MemoryBudget* budget) {
    const auto kind = aggregate_kind(function, arg);
    if (!kind) throw Unrepresentable("an aggregate that the engine does not have");
    std::unique_ptr<Accumulator> made;
    switch (*kind) {
        case Kind::kCountRows:
        case Kind::kCount:
            made = make_count(budget);
            break;
        case Kind::kSum:
        case Kind::kAverage:
            made = make_sum(*kind, arg, budget);
            break;
        case Kind::kMinimum:
        case Kind::kMaximum:
            made = make_extreme(*kind, arg, budget);
            break;
        case Kind::kAny:
            made = make_any(arg, budget);
            break;
        case Kind::kAnd:
        case Kind::kOr:
        case Kind::kXor:
            made = make_bits(*kind, arg, budget);
            break;
        case Kind::kPopulationVariance:
        case Kind::kSampleVariance:
        case Kind::kPopulationDeviation:
        case Kind::kSampleDeviation:
            made = make_variance(*kind, arg, budget);
            break;
        case Kind::kApproximateDistinct:
            made = make_approximate_count(arg, budget);
            break;
        default:
            made = make_regression(*kind, budget);
            break;
    }
    if (made == nullptr)
        throw Unrepresentable("an aggregate over a type that the engine does not have");
    return made;
}

}  // namespace loom::exec
