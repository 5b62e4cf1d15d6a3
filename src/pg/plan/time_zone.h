#pragma once
// Time zones for the engine: a name and a table of the moments when the zone's offset changes.

#include "pg/compat/backend.h"

#include <optional>
#include <string>

namespace loom::pg {

/// The name of the session's time zone, as it is when the call is made.
std::string session_zone_name();

/// Returns the constant that the engine's functions take for a zone (exec/expr/zone_functions.cpp),
/// or nothing if there is no zone of that full name (Area/City, or UTC).
std::optional<std::string> zone_constant(const std::string& name);

/// Likewise for the session's zone, whatever its name.
std::optional<std::string> session_zone_constant();

}  // namespace loom::pg
