#pragma once
// Values at the edges of types.

#include <vector>

#include "plan/expr.h"

namespace loom::test {

/// Returns values of a type, NULL among them.
std::vector<column::Scalar> edge_values(plan::Type type);

}  // namespace loom::test
