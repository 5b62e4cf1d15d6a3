#pragma once
// Values as SQL text.

#include <string>

#include "plan/expr.h"

namespace loom::test {

/// Returns an SQL expression that yields exactly the value. Dates and times are sums, so that
/// nothing of the engine's calendar is needed.
std::string sql_literal(plan::Type type, const column::Scalar& value);

}  // namespace loom::test
