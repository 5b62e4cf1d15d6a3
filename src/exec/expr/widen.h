#pragma once
// The conversion of a numeric from 64 to 128 bits, where a choice mixes both.

#include "exec/expr/registry.h"

namespace loom::exec {

/// Returns the function that widens a numeric to `type`, which is one of 128 bits.
BoundFunction widening(plan::Type type);

}  // namespace loom::exec
