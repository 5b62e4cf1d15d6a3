#pragma once
// Leaves out columns that nothing reads.

#include <functional>
#include <vector>

#include "plan/operator.h"

namespace loom::plan {

/// Returns whether the evaluation of an expression can raise an error.
using MayRaise = std::function<bool(const Expr&)>;

/// Rewrites a tree so that its operators carry only what is needed to compute the root's columns,
/// which stay as they are, and to raise every error: what projections, aggregates and windows
/// compute stays, although nothing reads it, if it may raise. `may_raise` sees an aggregate or a
/// window function as a call of it. Scans lose bound columns (`columns`, `host_columns` and
/// `output` shrink together).
void drop_unused_columns(Operator& root, const MayRaise& may_raise);

/// Replaces each column index c in the expression by map[c].
void remap_columns(Expr& expr, const std::vector<int>& map);

}  // namespace loom::plan
