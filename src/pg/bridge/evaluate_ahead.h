#pragma once
// Values that are computed before PostgreSQL would compute them.

#include "pg/compat/backend.h"

namespace loom::pg {

/// Evaluates an expression without columns in memory context `memory`. PostgreSQL might never do
/// so, for instance because no row gets that far: an error that it raises is taken back, in a
/// subtransaction, and the result is false. Errors of subqueries (InitPlans) and cancellation are
/// raised all the same.
bool evaluate_ahead(ExprState* expr, ExprContext* context, MemoryContext memory, Datum* value,
                    bool* null);

}  // namespace loom::pg
