#pragma once
// Results of set-returning functions, built as text in C++ and handed over in one go.

#include "pg/compat/backend.h"

#include <optional>
#include <string>
#include <vector>

namespace loom::pg {

using TextRow = std::vector<std::optional<std::string>>;

/// Materialises `rows` as the result of the calling set-returning function; each text goes through
/// the input function of its column's type.
void return_rows(FunctionCallInfo fcinfo, const std::vector<TextRow>& rows);

}  // namespace loom::pg
