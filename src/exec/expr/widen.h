#pragma once
// The conversions that bring the arms of a choice to one representation.

#include "exec/expr/registry.h"

namespace loom::exec {

/// Returns the function that widens a numeric to `type`, which is one of 128 bits.
BoundFunction widening(plan::Type type);
/// Returns the function that makes Decimals of numerics of type `from`.
BoundFunction to_decimal(plan::Type from);

}  // namespace loom::exec
