#pragma once
// How sum and avg of integers and numerics end, for all who have added up.

#include <cstdint>

#include "plan/type.h"

namespace loom::exec {

/// Writes the result of sum or avg, as `type` (of the result) says, from the sum of values with
/// `scale` digits behind the point; `count` of them, at least one. Raises Unrepresentable where the
/// result needs more than 38 digits.
void put_exact_sum(plan::Type type, __int128 sum, int scale, int64_t count, uint8_t* place);

}  // namespace loom::exec
