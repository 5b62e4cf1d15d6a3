#include "gpu/codegen/fixed_scale.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gpu/codegen/decimal_parts.h"
#include "plan/numeric_type.h"
#include "sql/numeric.h"

namespace loom::gpu {

namespace {

using plan::Expr;
using plan::ExprKind;

// numeric = <> > >= < <=, one after the other.
constexpr uint32_t kFirstComparison = 1718;
constexpr uint32_t kLastComparison = 1723;
constexpr uint32_t kAdd = 1724;
constexpr uint32_t kSubtract = 1725;
constexpr uint32_t kMultiply = 1726;

class Fixing {
  public:
    Fixing(const std::function<plan::Type(int)>& column,
           std::span<const plan::ParameterValue> parameters)
        : column_(column), parameters_(parameters) {}

    Expr fix(const Expr& expr) const {
        Expr result = expr;
        for (Expr& arg : result.args) arg = fix(arg);
        if (expr.kind != ExprKind::kCall || expr.function < kFirstComparison ||
            expr.function > kLastComparison)
            return result;
        std::vector<Expr> args;
        for (const Expr& arg : expr.args) {
            std::optional<Expr> fixed = held(arg);
            if (!fixed) return result;
            args.push_back(std::move(*fixed));
        }
        result.args = std::move(args);
        return result;
    }

  private:
    std::optional<Expr> held(const Expr& expr) const {
        if (!plan::is_decimal(expr.type)) return fix(expr);
        switch (expr.kind) {
            case ExprKind::kColumn: {
                const plan::Type type = column_(expr.index);
                if (plan::is_decimal(type)) return std::nullopt;
                return plan::make_column(expr.index, type);
            }
            case ExprKind::kConstant:
                return constant(expr.value);
            case ExprKind::kParameter:
                return constant(parameters_[static_cast<size_t>(expr.index)].value);
            case ExprKind::kCall:
                return call(expr);
            default:
                return std::nullopt;
        }
    }

    static std::optional<Expr> constant(const column::Scalar& value) {
        if (!value.known()) return plan::make_constant(plan::make_numeric(1, 0), {});
        const std::optional<plan::Decimal> decimal = plan::decimal_of(value);
        if (!decimal || decimal->scale > plan::kMaxPrecision) return std::nullopt;
        const __int128 size = decimal->unscaled < 0 ? -decimal->unscaled : decimal->unscaled;
        int digits = 1;
        while (digits < plan::kMaxPrecision && size >= sql::power_of_ten(digits)) ++digits;
        const int scale = static_cast<int>(decimal->scale);
        return plan::make_constant(plan::make_numeric(std::max(digits, scale), scale),
                                   column::Scalar::of_int(decimal->unscaled));
    }

    std::optional<Expr> call(const Expr& expr) const {
        if (const Expr* without = without_decimal(expr)) return held(*without);
        if (expr.function < kAdd || expr.function > kMultiply) return std::nullopt;
        std::optional<Expr> a = held(expr.args[0]);
        std::optional<Expr> b = held(expr.args[1]);
        if (!a || !b) return std::nullopt;
        const std::optional<plan::Type> type = expr.function == kMultiply
                                                   ? plan::numeric_product_type(a->type, b->type)
                                                   : plan::numeric_sum_type(a->type, b->type);
        if (!type) return std::nullopt;
        return plan::make_call(expr.function, *type, {std::move(*a), std::move(*b)});
    }

    const std::function<plan::Type(int)>& column_;
    std::span<const plan::ParameterValue> parameters_;
};

static_assert(kFirstComparison + 5 == kLastComparison && kAdd < kSubtract && kSubtract < kMultiply);

}  // namespace

Expr fix_scales(const Expr& expr, const std::function<plan::Type(int)>& column,
                std::span<const plan::ParameterValue> parameters) {
    return Fixing(column, parameters).fix(expr);
}

}  // namespace loom::gpu
