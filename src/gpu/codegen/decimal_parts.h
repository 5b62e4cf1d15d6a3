#pragma once
// Numerics whose scale differs from value to value, as what kernels have: integers.

#include <optional>

#include "plan/expr.h"

namespace loom::gpu {

/// Returns the numeric that an expression has made a Decimal of, with nothing else changed; null if
/// it is not that.
const plan::Expr* without_decimal(const plan::Expr& expr);

/// A numeric as a value of one scale, the largest that there can be, and the scale that PostgreSQL
/// shows it with.
struct DecimalParts {
    plan::Expr value;  ///< a numeric of fixed scale
    plan::Expr scale;  ///< an int4, NULL where the value is
};

/// Splits a choice (CASE) among numerics of fixed scales. Nothing if the expression is not that.
std::optional<DecimalParts> split_decimal(const plan::Expr& expr);

}  // namespace loom::gpu
