#pragma once
// What a device is asked for of a plan.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plan/operator.h"

namespace loom::gpu {

/// Answers an aggregate: the number of the row source that gives its rows, or nothing.
using Offer = std::function<std::optional<int>(const plan::Operator& aggregate)>;

/// Offers the aggregates of a plan that kernels may compute, from the top down; those that are
/// computed once for several places once. Returns the plan with kRows in the
/// places of those that were answered, or nothing if there are none. Adds to `reasons` why others
/// were not offered.
std::unique_ptr<plan::Operator> replace_aggregates(const plan::Operator& root, const Offer& offer,
                                                   std::vector<std::string>* reasons);

}  // namespace loom::gpu
