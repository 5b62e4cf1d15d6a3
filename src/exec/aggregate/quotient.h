#pragma once
// Division of exact numbers as PostgreSQL's numeric_div shows it.

#include <cstdint>

#include "plan/type.h"

namespace loom::exec {

/// Divides sum (unscaled, with `scale` digits after the point) by a positive count. The quotient
/// has the scale that select_div_scale of PostgreSQL chooses for these operands, and is rounded
/// half away from zero. Returns false if it does not fit.
bool divide(__int128 sum, int scale, int64_t count, plan::Decimal* quotient);

}  // namespace loom::exec
