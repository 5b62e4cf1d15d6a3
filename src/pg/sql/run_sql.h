#pragma once
// Runs SQL statements from inside a function, through SPI.

#include <string>

namespace loom::pg {

/// Runs one statement that returns nothing. C++ side; raises PgError.
void run_sql(const std::string& statement);

}  // namespace loom::pg
