#include "gpu/codegen/decimal_parts.h"

#include <algorithm>

#include "plan/numeric_expr.h"
#include "plan/numeric_type.h"
#include "sql/numeric.h"

namespace loom::gpu {

namespace {

using plan::Expr;
using plan::ExprKind;

// numeric(numeric, int4): here without a modifier, to let the scale go.
constexpr uint32_t kApplyModifier = 1703;

constexpr plan::Type kScale = plan::make_type(plan::TypeId::kInt4);

Expr scale_of(int scale) {
    return plan::make_constant(kScale, column::Scalar::of_int(scale));
}

// What the value of a numeric of fixed scale is made of, or an arm of a choice: nothing if neither.
const Expr* fixed(const Expr& expr) {
    if (!plan::is_decimal(expr.type)) return &expr;
    const Expr* of = without_decimal(expr);
    return of != nullptr ? fixed(*of) : nullptr;
}

std::optional<plan::Decimal> constant(const Expr& expr) {
    if (expr.kind != ExprKind::kConstant || !plan::is_decimal(expr.type) || !expr.value.known())
        return std::nullopt;
    return plan::decimal_of(expr.value);
}

bool is_null(const Expr& expr) {
    return expr.kind == ExprKind::kConstant && !expr.value.known();
}

// The largest scale, and digits before the point, of all arms.
struct Size {
    int scale = 0;
    int digits = 0;
};

bool measure(const Expr& expr, Size& size) {
    if (is_null(expr)) return true;
    if (const auto decimal = constant(expr)) {
        size.scale = std::max(size.scale, static_cast<int>(decimal->scale));
        int digits = 0;
        while (digits < plan::kMaxPrecision && (decimal->unscaled >= sql::power_of_ten(digits) ||
                                                decimal->unscaled <= -sql::power_of_ten(digits)))
            ++digits;
        size.digits = std::max(size.digits, digits - static_cast<int>(decimal->scale));
        return true;
    }
    if (const Expr* value = fixed(expr)) {
        size.scale = std::max<int>(size.scale, value->type.scale);
        size.digits = std::max(size.digits, plan::integer_digits(value->type));
        return true;
    }
    if (expr.kind != ExprKind::kCase) return false;
    for (size_t i = 1; i < expr.args.size(); i += 2)
        if (!measure(expr.args[i], size)) return false;
    return measure(expr.args.back(), size);
}

DecimalParts split(const Expr& expr, plan::Type type) {
    if (is_null(expr)) return {plan::make_constant(type, {}), plan::make_constant(kScale, {})};
    if (const auto decimal = constant(expr)) {
        const __int128 factor = sql::power_of_ten(type.scale - static_cast<int>(decimal->scale));
        return {plan::make_constant(type, column::Scalar::of_int(decimal->unscaled * factor)),
                scale_of(static_cast<int>(decimal->scale))};
    }
    if (const Expr* value = fixed(expr)) {
        Expr missing;
        missing.kind = ExprKind::kIsNull;
        missing.type = plan::make_type(plan::TypeId::kBool);
        missing.args = {*value};
        Expr scale;
        scale.kind = ExprKind::kCase;
        scale.type = kScale;
        scale.args = {missing, plan::make_constant(kScale, {}), scale_of(value->type.scale)};
        return {plan::as_numeric(*value, type), scale};
    }
    DecimalParts parts{expr, expr};
    parts.value.type = type;
    parts.scale.type = kScale;
    const auto put = [&](size_t at) {
        DecimalParts arm = split(expr.args[at], type);
        parts.value.args[at] = std::move(arm.value);
        parts.scale.args[at] = std::move(arm.scale);
    };
    for (size_t i = 1; i < expr.args.size(); i += 2) put(i);
    put(expr.args.size() - 1);
    return parts;
}

}  // namespace

const Expr* without_decimal(const Expr& expr) {
    return plan::is_decimal(expr.type) && expr.kind == ExprKind::kCall &&
                   expr.function == kApplyModifier
               ? expr.args.data()
               : nullptr;
}

std::optional<DecimalParts> split_decimal(const Expr& expr) {
    Size size;
    if (!measure(expr, size) || size.digits + size.scale > plan::kMaxPrecision) return std::nullopt;
    return split(expr, plan::make_numeric(std::max(size.digits + size.scale, 1), size.scale));
}

}  // namespace loom::gpu
