// The text form of plans.

#include "plan/operator.h"

#include <fmt/core.h>

namespace loom::plan {

namespace {

void print_list(std::string& out, const std::vector<Expr>& exprs, const char* separator) {
    for (size_t i = 0; i < exprs.size(); ++i) {
        if (i > 0) out += separator;
        out += to_text(exprs[i]);
    }
}

const char* join_name(JoinType type) {
    switch (type) {
        case JoinType::kInner:
            return "join";
        case JoinType::kLeft:
            return "left join";
        case JoinType::kRight:
            return "right join";
        case JoinType::kFull:
            return "full join";
        case JoinType::kSemi:
            return "semi join";
        case JoinType::kAnti:
            return "anti join";
        case JoinType::kRightSemi:
            return "right semi join";
        case JoinType::kRightAnti:
            return "right anti join";
    }
    return "join";
}

std::string constant_text(const Expr& expr) {
    switch (expr.value.kind) {
        case column::Scalar::Kind::kNone:
            return "null";
        case column::Scalar::Kind::kInt:
            return column::to_string(expr.value.integer);
        case column::Scalar::Kind::kFloat:
            return fmt::format("{}", expr.value.number);
        case column::Scalar::Kind::kBytes:
            return fmt::format("'{}'", expr.value.bytes);
    }
    return "?";
}

void print(std::string& out, const Operator& op, int depth) {
    out.append(static_cast<size_t>(depth) * 2, ' ');
    switch (op.kind) {
        case OperatorKind::kScan:
            out += "scan " + op.name;
            for (const std::string& column : op.columns) out += " " + column;
            break;
        case OperatorKind::kRows:
            out += fmt::format("rows {}", op.source);
            break;
        case OperatorKind::kFilter:
            out += "filter ";
            print_list(out, op.predicates, " and ");
            break;
        case OperatorKind::kProject:
            out += "project ";
            print_list(out, op.expressions, ", ");
            break;
        case OperatorKind::kJoin:
            out += join_name(op.join);
            for (size_t i = 0; i < op.probe_keys.size(); ++i)
                out += fmt::format("{} {} = {}", i > 0 ? " and" : "", to_text(op.probe_keys[i]),
                                   to_text(op.build_keys[i]));
            if (!op.predicates.empty()) {
                out += " where ";
                print_list(out, op.predicates, " and ");
            }
            break;
        case OperatorKind::kAggregate:
            out += "aggregate";
            if (!op.group_keys.empty()) {
                out += " by ";
                print_list(out, op.group_keys, ", ");
            }
            for (const Aggregate& aggregate : op.aggregates) {
                out += fmt::format(" #{}({}", aggregate.function,
                                   aggregate.distinct ? "distinct " : "");
                print_list(out, aggregate.args, ", ");
                out += ")";
                if (!aggregate.filter.empty()) out += " filter " + to_text(aggregate.filter[0]);
            }
            break;
        case OperatorKind::kSort:
            out += "sort";
            for (const SortKey& key : op.sort_keys)
                out += fmt::format(" ${}{}{}", key.column, key.descending ? " desc" : "",
                                   key.nulls_first ? " nulls first" : "");
            if (!op.count.empty()) out += " first " + to_text(op.count[0]);
            break;
        case OperatorKind::kLimit:
            out += "limit";
            if (!op.count.empty()) out += " " + to_text(op.count[0]);
            if (!op.offset.empty()) out += " offset " + to_text(op.offset[0]);
            break;
        case OperatorKind::kAppend:
            out += "append";
            break;
    }
    out += "\n";
    for (const Operator& input : op.inputs) print(out, input, depth + 1);
}

}  // namespace

std::string to_text(const Expr& expr) {
    std::string out;
    switch (expr.kind) {
        case ExprKind::kColumn:
            return fmt::format("${}", expr.index);
        case ExprKind::kConstant:
            return constant_text(expr);
        case ExprKind::kParameter:
            return fmt::format("param {}", expr.index);
        case ExprKind::kAnd:
        case ExprKind::kOr:
            out = "(";
            print_list(out, expr.args, expr.kind == ExprKind::kAnd ? " and " : " or ");
            return out + ")";
        default:
            out = fmt::format("{}:{}(", static_cast<int>(expr.kind), expr.function);
            print_list(out, expr.args, ", ");
            return out + ")";
    }
}

std::string to_text(const Operator& root) {
    std::string out;
    print(out, root, 0);
    return out;
}

}  // namespace loom::plan
