#pragma once
// Leaves out columns that nothing reads.

#include <vector>

#include "plan/operator.h"

namespace loom::plan {

/// Rewrites a tree so that its operators carry only what is needed to compute the root's columns,
/// which stay as they are. Scans lose bound columns (`columns`, `host_columns` and `output` shrink
/// together).
void drop_unused_columns(Operator& root);

/// Replaces each column index c in the expression by map[c].
void remap_columns(Expr& expr, const std::vector<int>& map);

}  // namespace loom::plan
