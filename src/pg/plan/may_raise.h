#pragma once
// Which expressions of PostgreSQL raise no error, whatever the rows.

#include "pg/compat/backend.h"

namespace loom::pg {

/// Returns whether evaluating an expression that stays with PostgreSQL might raise an error for
/// some row, so that rows may not be taken away before it: nobody would see the error then.
bool may_raise(Node* node);
bool may_raise_maylongjmp(Node* node);

}  // namespace loom::pg
