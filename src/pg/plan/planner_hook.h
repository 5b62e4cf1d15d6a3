#pragma once
// Where pg_loom meets the planner.

namespace loom::pg {

/// Puts pg_loom into planner_hook; called once when the library is loaded.
void install_planner_hook();

}  // namespace loom::pg
