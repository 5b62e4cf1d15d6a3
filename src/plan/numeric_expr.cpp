#include "plan/numeric_expr.h"

#include <algorithm>

#include "plan/numeric_type.h"

namespace loom::plan {

namespace {

// numeric(numeric, int4), which applies a type modifier; one below 0 means none.
constexpr uint32_t kApplyModifier = 1703;
constexpr int kNoModifier = -1;

Expr modified(Expr numeric, Type type, int modifier) {
    return make_call(kApplyModifier, type,
                     {std::move(numeric),
                      make_constant(make_type(TypeId::kInt4), column::Scalar::of_int(modifier))});
}

int modifier_of(Type type) {
    return ((type.precision << 16) | type.scale) + 4;
}

}  // namespace

Expr as_decimal(Expr numeric) {
    if (is_decimal(numeric.type)) return numeric;
    if (numeric.kind != ExprKind::kConstant)
        return modified(std::move(numeric), make_decimal(), kNoModifier);
    column::Scalar value;
    if (numeric.value.known()) value = decimal_scalar({numeric.value.integer, numeric.type.scale});
    return make_constant(make_decimal(), std::move(value));
}

Expr as_numeric(Expr numeric, Type to) {
    if (numeric.type == to) return numeric;
    if (is_decimal(to)) return as_decimal(std::move(numeric));
    return modified(std::move(numeric), to, modifier_of(to));
}

void match_numerics(Expr& a, Expr& b) {
    if (a.type == b.type) return;
    const int scale = std::max(a.type.scale, b.type.scale);
    const int digits = std::max(integer_digits(a.type), integer_digits(b.type));
    if (is_decimal(a.type) || is_decimal(b.type) || digits + scale > kMaxPrecision) {
        for (Expr* side : {&a, &b}) *side = as_decimal(std::move(*side));
        return;
    }
    const Type common = make_numeric(std::max(digits + scale, 1), scale);
    for (Expr* side : {&a, &b}) *side = as_numeric(std::move(*side), common);
}

}  // namespace loom::plan
