#pragma once
// loom.approx_count_distinct().

#include "pg/compat/backend.h"

namespace loom::pg {

/// Tells whether a function is the extension's approx_count_distinct, for which the engine has
/// exec::kApproximateCount.
bool is_approx_count_distinct(Oid function);

}  // namespace loom::pg
