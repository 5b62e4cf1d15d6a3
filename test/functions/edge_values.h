#pragma once
// Values at the edges of types.

#include <vector>

#include "exec/functions.h"
#include "plan/expr.h"

namespace loom::test {

/// Returns values of a type, NULL among them.
std::vector<column::Scalar> edge_values(plan::Type type);

/// Returns values of an argument that must be a constant: fields, digits, type modifiers.
std::vector<column::Scalar> constant_arguments(const exec::FunctionInfo& info, int index);

}  // namespace loom::test
