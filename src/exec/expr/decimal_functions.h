#pragma once
// numeric where an argument or the result has a scale of its own for each value. Kernels go row by
// row; what types say of scales is used by numeric_functions.cpp and numeric_casts.cpp instead.

#include <algorithm>
#include <span>

#include "exec/expr/registry.h"
#include "sql/numeric.h"

namespace loom::exec {

/// Whether an argument is a Decimal.
inline bool any_decimal(std::span<const plan::Expr> args) {
    return std::any_of(args.begin(), args.end(),
                       [](const plan::Expr& arg) { return plan::is_decimal(arg.type); });
}

enum class DecimalOperation : uint8_t {
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kNegate,
    kAbsolute,
    kCopy
};
/// Binds an operation over numerics of any representation; the result is a Decimal.
void bind_decimal(DecimalOperation operation, std::span<const plan::Expr> args,
                  BoundFunction* bound);
/// The integer part of a quotient.
void bind_decimal_quotient(std::span<const plan::Expr> args, BoundFunction* bound);
void bind_decimal_comparison(Comparison comparison, std::span<const plan::Expr> args,
                             BoundFunction* bound);
void bind_decimal_sign(std::span<const plan::Expr> args, BoundFunction* bound);

/// Rounds a Decimal to a numeric of `digits` behind the point, at least 0 of them shown.
void bind_decimal_round(sql::Rounding rounding, plan::Type from, int digits, BoundFunction* bound);
/// Casts a Decimal to numeric(p, s).
void bind_decimal_modifier(plan::Type from, plan::Type to, BoundFunction* bound);
/// Casts a Decimal to int2, int4, int8, float4 or float8.
void bind_decimal_to_number(plan::TypeId to, plan::Type from, BoundFunction* bound);
/// Casts float4 or float8 to numeric.
void bind_decimal_from_float(plan::TypeId from, BoundFunction* bound);

/// PostgreSQL prints a numeric and reads it as a float. 0 where that is out of range.
template <typename R>
R numeric_as_float(__int128 unscaled, int64_t scale);

}  // namespace loom::exec
