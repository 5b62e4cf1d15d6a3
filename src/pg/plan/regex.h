#pragma once
// Regular expressions: which of PostgreSQL's operators the engine may compute.

#include "pg/compat/backend.h"

#include <string>

namespace loom::pg {

/// Whether a function is one of ~, !~, ~*, !~*.
bool is_regex(Oid function) noexcept;
/// Whether the engine's automata answer as PostgreSQL does under a deterministic collation.
bool regex_ignores_collation(Oid function, Oid collation) noexcept;
/// Whose classes of characters a collation has, as a number of exec::regex::Locale.
int regex_locale(Oid collation);
/// Whether PostgreSQL takes a pattern; it raises its error for one that it does not when a row
/// needs it.
bool is_valid_regex(Oid function, Oid collation, const std::string& pattern);

}  // namespace loom::pg
