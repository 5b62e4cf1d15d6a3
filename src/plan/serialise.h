#pragma once
// The binary form of plans: stored in PostgreSQL's plans and sent to other processes of the same
// release.

#include <string>

#include "base/bytes.h"
#include "plan/operator.h"

namespace loom::plan {

/// Writes a tree as bytes that begin with a version.
std::string serialise(const Operator& root);
/// Reads what serialise() wrote. Raises kCorrupt for anything else, nesting beyond
/// kMaxPlanDepth included.
Operator deserialise(base::ByteSpan bytes);

inline constexpr int kMaxPlanDepth = 2000;

}  // namespace loom::plan
