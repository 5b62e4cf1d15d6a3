#include "plan/expr.h"

#include <algorithm>

namespace loom::plan {

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

std::vector<int> columns_of(const Expr& expr) {
    std::vector<int> columns;
    collect(expr, columns);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
}

}  // namespace loom::plan
