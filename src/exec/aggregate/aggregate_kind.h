#pragma once
// Which aggregates there are.

#include <cstdint>
#include <optional>

#include "plan/type.h"

namespace loom::exec {

enum class AggregateKind : uint8_t {
    kCountRows,
    kCount,
    kSum,
    kAverage,
    kMinimum,
    kMaximum,
    kAny,
    kAnd,
    kOr,
    kXor,
    kPopulationVariance,
    kSampleVariance,
    kPopulationDeviation,
    kSampleDeviation,
    kApproximateDistinct,
    // Of two arguments.
    kCorrelation,
    kPopulationCovariance,
    kSampleCovariance,
    kRegressionCount,
    kRegressionSxx,
    kRegressionSyy,
    kRegressionSxy,
    kRegressionAverageX,
    kRegressionAverageY,
    kRegressionSlope,
    kRegressionIntercept,
    kRegressionR2
};

/// The aggregate takes two arguments.
constexpr bool takes_pairs(AggregateKind kind) {
    return kind >= AggregateKind::kCorrelation;
}

/// Returns which one a function of PostgreSQL (its pg_proc OID) is over an argument of type `arg`.
std::optional<AggregateKind> aggregate_kind(uint32_t function, plan::Type arg);

}  // namespace loom::exec
