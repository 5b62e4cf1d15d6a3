#pragma once
// Properties of EXPLAIN, from C++.

#include "pg/compat/backend.h"

#include <string>

namespace loom::pg {

/// Prints a number of bytes for people: 512B, 3.41MB.
std::string format_bytes(int64_t bytes);

void property(ExplainState* es, const char* label, const std::string& text);
void property(ExplainState* es, const char* label, int64_t value);

}  // namespace loom::pg
