#include "plan/expr.h"

#include <algorithm>
#include <cstring>

namespace loom::plan {

column::Scalar decimal_scalar(Decimal value) {
    std::string bytes(sizeof value.unscaled + sizeof value.scale, '\0');
    std::memcpy(bytes.data(), &value.unscaled, sizeof value.unscaled);
    std::memcpy(bytes.data() + sizeof value.unscaled, &value.scale, sizeof value.scale);
    return column::Scalar::of_bytes(std::move(bytes));
}

std::optional<Decimal> decimal_of(const column::Scalar& scalar) {
    Decimal value;
    if (scalar.kind != column::Scalar::Kind::kBytes ||
        scalar.bytes.size() != sizeof value.unscaled + sizeof value.scale)
        return std::nullopt;
    std::memcpy(&value.unscaled, scalar.bytes.data(), sizeof value.unscaled);
    std::memcpy(&value.scale, scalar.bytes.data() + sizeof value.unscaled, sizeof value.scale);
    return value;
}

Expr make_column(int index, Type type) {
    Expr expr;
    expr.kind = ExprKind::kColumn;
    expr.type = type;
    expr.index = index;
    return expr;
}

Expr make_constant(Type type, column::Scalar value) {
    Expr expr;
    expr.kind = ExprKind::kConstant;
    expr.type = type;
    expr.value = std::move(value);
    return expr;
}

Expr make_call(uint32_t function, Type type, std::vector<Expr> args) {
    Expr expr;
    expr.kind = ExprKind::kCall;
    expr.type = type;
    expr.function = function;
    expr.args = std::move(args);
    return expr;
}

namespace {

void collect(const Expr& expr, std::vector<int>& columns) {
    if (expr.kind == ExprKind::kColumn) columns.push_back(expr.index);
    for (const Expr& arg : expr.args) collect(arg, columns);
}

}  // namespace

Expr value_if(std::vector<Expr> conditions, Expr value) {
    if (conditions.empty()) return value;
    Expr all = std::move(conditions[0]);
    if (conditions.size() > 1) {
        Expr both;
        both.kind = ExprKind::kAnd;
        both.type = make_type(TypeId::kBool);
        both.args.push_back(std::move(all));
        for (size_t i = 1; i < conditions.size(); ++i)
            both.args.push_back(std::move(conditions[i]));
        all = std::move(both);
    }
    Expr choice;
    choice.kind = ExprKind::kCase;
    choice.type = value.type;
    const Type type = value.type;
    choice.args.push_back(std::move(all));
    choice.args.push_back(std::move(value));
    choice.args.push_back(make_constant(type, {}));
    return choice;
}

std::vector<int> columns_of(const Expr& expr) {
    std::vector<int> columns;
    collect(expr, columns);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

}  // namespace loom::plan
