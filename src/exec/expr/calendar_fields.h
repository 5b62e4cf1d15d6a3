#pragma once
// Names of the fields of dates and times.

#include <optional>
#include <string>

#include "plan/expr.h"
#include "sql/calendar.h"

namespace loom::exec {

/// Returns the field that a constant names as PostgreSQL writes it; its other spellings are left to
/// PostgreSQL, with a reason.
std::optional<sql::Field> named_field(const plan::Expr& name, std::string* reason);

}  // namespace loom::exec
