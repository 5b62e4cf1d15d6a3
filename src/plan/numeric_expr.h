#pragma once
// Expressions that bring numerics to one representation without changing a value.

#include "plan/expr.h"

namespace loom::plan {

/// Makes a Decimal of a numeric of any type.
Expr as_decimal(Expr numeric);

/// Makes a numeric of type `to`: a Decimal, or a type of no smaller scale
/// with room for as many digits before the point.
Expr as_numeric(Expr numeric, Type to);

/// Gives two numerics one type, so that they can be keys of a join. What is shown of them may
/// change.
void match_numerics(Expr& a, Expr& b);

}  // namespace loom::plan
