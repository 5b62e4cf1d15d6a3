#pragma once
// Finds what the engine can run in a finished plan and puts LoomScans there.

#include "pg/compat/backend.h"

namespace loom::pg {

/// Replaces maximal subtrees of a statement's plan and of its subplans. Returns whether there was
/// one.
bool replace_subtrees(PlannedStmt* statement);

/// Puts a Material on a finished plan.
Plan* materialised_maylongjmp(Plan* plan);

}  // namespace loom::pg
