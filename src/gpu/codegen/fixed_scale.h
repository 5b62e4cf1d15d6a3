#pragma once
// Comparisons of numerics whose scales differ from value to value, of which kernels have no kind.

#include <functional>
#include <span>

#include "plan/expr.h"

namespace loom::gpu {

/// Gives a fixed scale to what is compared, where that changes no answer: constants, parameters,
/// columns of which `column` says how they are held (or that they are not), and sums, differences
/// and products of these. Only there, since elsewhere a value's own scale is seen.
plan::Expr fix_scales(const plan::Expr& expr, const std::function<plan::Type(int)>& column,
                      std::span<const plan::ParameterValue> parameters);

}  // namespace loom::gpu
