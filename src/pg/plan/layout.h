#pragma once
// How PostgreSQL lays out the values of its types, for the engine to make such.

#include "pg/compat/backend.h"

#include <optional>

#include "plan/layout.h"

namespace loom::pg {

/// Returns the layout of an array or composite type, or nothing for other types and for those with
/// a part that the engine does not compute with, a domain, or a modifier that changes values.
std::optional<plan::Layout> nested_layout(Oid type);

/// Returns the layout of array type `type` whose elements the engine has as `element`.
std::optional<plan::Layout> array_layout(Oid type, plan::Type element);

}  // namespace loom::pg
