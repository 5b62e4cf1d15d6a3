// The text form of plans. Columns are shown by the names that scans give them, carried upwards.

#include "plan/operator.h"

#include <cctype>

#include <fmt/core.h>

namespace loom::plan {

Names::Function Names::function(uint32_t id) const {
    return {fmt::format("#{}", id), false};
}

std::string Names::constant(Type type, const column::Scalar& value) const {
    switch (value.kind) {
        case column::Scalar::Kind::kNone:
            return "null";
        case column::Scalar::Kind::kInt:
            if (type.id == TypeId::kBool) return value.integer != 0 ? "true" : "false";
            return column::to_string(value.integer);
        case column::Scalar::Kind::kFloat:
            return fmt::format("{}", value.number);
        case column::Scalar::Kind::kBytes:
            // What comes behind a NUL is for the engine (time zones).
            return fmt::format("'{}'", value.bytes.c_str());
    }
    return "?";
}

namespace {

using Labels = std::vector<std::string>;

struct Printer {
    const Names& names;
    std::string out;

    std::string text(const Expr& expr, const Labels& labels) const;
    std::string list(const std::vector<Expr>& exprs, const Labels& labels,
                     const char* separator) const;
    std::string call(const Expr& expr, const Labels& labels) const;
    std::string array(const Expr& expr) const;
    std::string host_text(const Expr& expr, const Labels& labels) const;
    std::string keys(const std::vector<SortKey>& sort_keys, const Labels& labels) const;
    std::string aggregate(const Aggregate& aggregate, const Labels& labels) const;
    std::string call(const WindowCall& window, const Labels& labels) const;
    std::string window(const Operator& op, const Labels& labels) const;
    std::string line(const Operator& op, const std::vector<Labels>& inputs) const;
    Labels labels_of(const Operator& op, const std::vector<Labels>& inputs) const;
    Labels print(const Operator& op, int depth);
};

std::string label(const Labels& labels, int index) {
    const auto i = static_cast<size_t>(index);
    return i < labels.size() && !labels[i].empty() ? labels[i] : fmt::format("${}", index);
}

// Whether a text needs parentheses to stand between infix operators.
bool is_compound(const Expr& expr) {
    return expr.kind != ExprKind::kColumn && expr.kind != ExprKind::kConstant &&
           expr.kind != ExprKind::kParameter;
}

bool is_constant(const std::string& label) {
    if (label.empty()) return false;
    const char first = label[0];
    return first == '\'' || first == '-' || (first >= '0' && first <= '9') || label == "null" ||
           label == "true" || label == "false";
}

// The names of columns that several inputs have: the first's, but a constant's only if all of them
// have it there. NULL is of any name.
Labels appended(const std::vector<Labels>& inputs) {
    if (inputs.empty()) return {};
    Labels result = inputs[0];
    for (size_t i = 0; i < result.size(); ++i) {
        bool same = true;
        bool constant = false;
        for (const Labels& input : inputs) {
            if (i >= input.size() || input[i] == "null") continue;
            if (result[i] == "null") result[i] = input[i];
            same = same && input[i] == result[i];
            constant = constant || is_constant(input[i]);
        }
        if (constant && !same) result[i].clear();
    }
    return result;
}

std::string Printer::list(const std::vector<Expr>& exprs, const Labels& labels,
                          const char* separator) const {
    std::string result;
    for (size_t i = 0; i < exprs.size(); ++i) {
        if (i > 0) result += separator;
        result += text(exprs[i], labels);
    }
    return result;
}

std::string Printer::call(const Expr& expr, const Labels& labels) const {
    const Names::Function function = names.function(expr.function);
    if (!function.infix || expr.args.size() != 2)
        return fmt::format("{}({})", function.name, list(expr.args, labels, ", "));
    std::string result;
    for (size_t i = 0; i < 2; ++i) {
        if (i > 0) result += " " + function.name + " ";
        std::string arg = text(expr.args[i], labels);
        const bool infix =
            expr.args[i].kind == ExprKind::kCall && names.function(expr.args[i].function).infix;
        result += infix ? "(" + arg + ")" : arg;
    }
    return result;
}

std::string Printer::array(const Expr& expr) const {
    if (expr.index >= 0) return fmt::format("(param {})", expr.index);
    if (expr.list_null) return "(null)";
    std::string result = "(";
    constexpr size_t kMaxShown = 10;
    for (size_t i = 0; i < expr.list.size() && i < kMaxShown; ++i) {
        if (i > 0) result += ", ";
        result += names.constant(expr.args[0].type, expr.list[i]);
    }
    if (expr.list.size() > kMaxShown)
        result += fmt::format(", {} more", expr.list.size() - kMaxShown);
    return result + ")";
}

// The host's text with the arguments in their places.
std::string Printer::host_text(const Expr& expr, const Labels& labels) const {
    std::string result;
    const std::string& text_of_host = expr.value.bytes;
    for (size_t at = 0; at < text_of_host.size();) {
        size_t end = at + 1;
        size_t number = 0;
        while (text_of_host[at] == '$' && end < text_of_host.size() &&
               std::isdigit(static_cast<unsigned char>(text_of_host[end])) != 0 && number < 1000)
            number = number * 10 + static_cast<size_t>(text_of_host[end++] - '0');
        if (number >= 1 && number <= expr.args.size()) {
            const Expr& arg = expr.args[number - 1];
            const std::string shown = text(arg, labels);
            result += is_compound(arg) ? "(" + shown + ")" : shown;
        } else {
            result.append(text_of_host, at, end - at);
        }
        at = end;
    }
    return result;
}

std::string Printer::text(const Expr& expr, const Labels& labels) const {
    auto arg = [&](size_t i) {
        std::string result = text(expr.args[i], labels);
        return is_compound(expr.args[i]) ? "(" + result + ")" : result;
    };
    switch (expr.kind) {
        case ExprKind::kColumn:
            return label(labels, expr.index);
        case ExprKind::kConstant:
            return names.constant(expr.type, expr.value);
        case ExprKind::kParameter:
            return fmt::format("param {}", expr.index);
        case ExprKind::kCall:
            return call(expr, labels);
        case ExprKind::kAnd:
            return "(" + list(expr.args, labels, " and ") + ")";
        case ExprKind::kOr:
            return "(" + list(expr.args, labels, " or ") + ")";
        case ExprKind::kNot:
            return "not " + arg(0);
        case ExprKind::kIsNull:
            return arg(0) + " is null";
        case ExprKind::kIsNotNull:
            return arg(0) + " is not null";
        case ExprKind::kIsTrue:
            return arg(0) + " is true";
        case ExprKind::kIsNotTrue:
            return arg(0) + " is not true";
        case ExprKind::kIsFalse:
            return arg(0) + " is false";
        case ExprKind::kIsNotFalse:
            return arg(0) + " is not false";
        case ExprKind::kIsDistinct:
            return arg(0) + " is distinct from " + arg(1);
        case ExprKind::kNullIf:
            return "nullif(" + list(expr.args, labels, ", ") + ")";
        case ExprKind::kCoalesce:
            return "coalesce(" + list(expr.args, labels, ", ") + ")";
        case ExprKind::kGreatest:
            return "greatest(" + list(expr.args, labels, ", ") + ")";
        case ExprKind::kLeast:
            return "least(" + list(expr.args, labels, ", ") + ")";
        case ExprKind::kAnyOf:
        case ExprKind::kAllOf: {
            const Names::Function function = names.function(expr.function);
            const bool any = expr.kind == ExprKind::kAnyOf;
            if (any && function.infix && function.name == "=") return arg(0) + " in " + array(expr);
            return fmt::format("{} {} {} {}", arg(0), function.name, any ? "any" : "all",
                               array(expr));
        }
        case ExprKind::kHost:
            return "postgres(" + host_text(expr, labels) + ")";
        case ExprKind::kCase: {
            std::string result = "case";
            for (size_t i = 0; i + 1 < expr.args.size(); i += 2)
                result += " when " + text(expr.args[i], labels) + " then " +
                          text(expr.args[i + 1], labels);
            return result + " else " + text(expr.args.back(), labels) + " end";
        }
    }
    return "?";
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
        case JoinType::kMark:
            return "mark join";
    }
    return "join";
}

std::string bound(FrameBound kind, const std::string& offset, const char* unbounded) {
    switch (kind) {
        case FrameBound::kUnbounded:
            return unbounded;
        case FrameBound::kPreceding:
            return offset + " preceding";
        case FrameBound::kCurrent:
            return "current";
        case FrameBound::kFollowing:
            return offset + " following";
    }
    return "?";
}

// count(*), by its OID.
bool is_count(const WindowCall& window) {
    constexpr uint32_t kCountRows = 2803;
    return window.function == kCountRows;
}

std::string Printer::keys(const std::vector<SortKey>& sort_keys, const Labels& labels) const {
    std::string result;
    for (const SortKey& key : sort_keys) {
        result += (result.empty() ? "" : ", ") + label(labels, key.column);
        if (key.descending) result += " desc";
        if (key.nulls_first != key.descending)
            result += key.nulls_first ? " nulls first" : " nulls last";
    }
    return result;
}

std::string Printer::aggregate(const Aggregate& aggregate, const Labels& labels) const {
    std::string result = names.function(aggregate.function).name + "(";
    if (aggregate.distinct) result += "distinct ";
    result += aggregate.args.empty() ? "*" : list(aggregate.args, labels, ", ");
    result += ")";
    if (!aggregate.filter.empty())
        result += " filter (where " + text(aggregate.filter[0], labels) + ")";
    return result;
}

std::string Printer::call(const WindowCall& window, const Labels& labels) const {
    std::string result = names.function(window.function).name + "(";
    result += window.args.empty() && is_count(window) ? "*" : list(window.args, labels, ", ");
    result += ")";
    if (!window.filter.empty()) result += " filter (where " + text(window.filter[0], labels) + ")";
    return result;
}

std::string Printer::window(const Operator& op, const Labels& labels) const {
    std::string result = "window";
    for (size_t i = 0; i < op.windows.size(); ++i)
        result += (i > 0 ? ", " : " ") + call(op.windows[i], labels);
    if (!op.group_keys.empty()) result += " partition by " + list(op.group_keys, labels, ", ");
    if (!op.sort_keys.empty()) result += " order by " + keys(op.sort_keys, labels);
    const std::string offsets[] = {
        op.frame.start_offset.empty() ? "" : text(op.frame.start_offset[0], {}),
        op.frame.end_offset.empty() ? "" : text(op.frame.end_offset[0], {})};
    constexpr const char* kModes[] = {"range", "rows", "groups"};
    return result + fmt::format(" {} {} to {}", kModes[static_cast<size_t>(op.frame.mode)],
                                bound(op.frame.start, offsets[0], "first"),
                                bound(op.frame.end, offsets[1], "last"));
}

Labels joined(const std::vector<Labels>& inputs) {
    Labels result = inputs[0];
    result.insert(result.end(), inputs[1].begin(), inputs[1].end());
    return result;
}

std::string Printer::line(const Operator& op, const std::vector<Labels>& inputs) const {
    std::string result;
    switch (op.kind) {
        case OperatorKind::kScan:
            result = "scan " + op.name;
            for (size_t i = 0; i < op.columns.size(); ++i)
                result += (i > 0 ? ", " : " (") + op.columns[i];
            return op.columns.empty() ? result : result + ")";
        case OperatorKind::kRows: {
            result = fmt::format("rows of child {}", op.source + 1);
            std::string shown;
            for (const std::string& column : op.columns)
                if (!column.empty()) shown += (shown.empty() ? " (" : ", ") + column;
            return shown.empty() ? result : result + shown + ")";
        }
        case OperatorKind::kFilter:
            return "filter " + list(op.predicates, inputs[0], " and ");
        case OperatorKind::kProject:
            return "project " + list(op.expressions, inputs[0], ", ");
        case OperatorKind::kJoin:
            result = join_name(op.join);
            if (op.null_aware) result += " null aware";
            if (op.single) result = "single " + result;
            for (size_t i = 0; i < op.probe_keys.size(); ++i)
                result += fmt::format("{} {} = {}", i > 0 ? " and" : " on",
                                      text(op.probe_keys[i], inputs[0]),
                                      text(op.build_keys[i], inputs[1]));
            if (!op.predicates.empty())
                result += " where " + list(op.predicates, joined(inputs), " and ");
            return result;
        case OperatorKind::kAggregate:
            result = op.aggregates.empty() ? "distinct" : "aggregate";
            for (size_t i = 0; i < op.aggregates.size(); ++i)
                result += (i > 0 ? ", " : " ") + aggregate(op.aggregates[i], inputs[0]);
            if (!op.group_keys.empty())
                result +=
                    (op.aggregates.empty() ? " " : " by ") + list(op.group_keys, inputs[0], ", ");
            return result;
        case OperatorKind::kSort:
            result = "sort " + keys(op.sort_keys, inputs[0]);
            return op.count.empty() ? result : result + " first " + text(op.count[0], {});
        case OperatorKind::kLimit:
            result = "limit";
            if (!op.count.empty()) result += " " + text(op.count[0], {});
            if (!op.offset.empty()) result += " offset " + text(op.offset[0], {});
            return result;
        case OperatorKind::kAppend:
            return "append";
        case OperatorKind::kShared:
            return fmt::format("shared {}", op.source + 1);
        case OperatorKind::kWindow:
            return window(op, inputs[0]);
    }
    return result;
}

Labels Printer::labels_of(const Operator& op, const std::vector<Labels>& inputs) const {
    Labels result;
    switch (op.kind) {
        case OperatorKind::kScan:
        case OperatorKind::kRows:
            return op.columns;
        case OperatorKind::kProject:
            for (const Expr& expr : op.expressions) result.push_back(text(expr, inputs[0]));
            return result;
        case OperatorKind::kAggregate:
            for (const Expr& expr : op.group_keys) result.push_back(text(expr, inputs[0]));
            for (const Aggregate& each : op.aggregates)
                result.push_back(aggregate(each, inputs[0]));
            return result;
        case OperatorKind::kWindow:
            result = inputs[0];
            for (const WindowCall& each : op.windows) result.push_back(call(each, inputs[0]));
            return result;
        case OperatorKind::kJoin:
            if (op.join == JoinType::kSemi || op.join == JoinType::kAnti) return inputs[0];
            if (op.join == JoinType::kRightSemi || op.join == JoinType::kRightAnti)
                return inputs[1];
            if (op.join == JoinType::kMark) {
                result = inputs[0];
                result.emplace_back("mark");
                return result;
            }
            return joined(inputs);
        case OperatorKind::kAppend:
            return appended(inputs);
        default:
            return inputs.empty() ? result : inputs[0];
    }
}

// Inputs are printed before their operator's line is known, so the line goes in front of them.
Labels Printer::print(const Operator& op, int depth) {
    const size_t start = out.size();
    std::vector<Labels> inputs;
    for (const Operator& input : op.inputs) inputs.push_back(print(input, depth + 1));
    out.insert(start, std::string(static_cast<size_t>(depth) * 2, ' ') + line(op, inputs) + "\n");
    return labels_of(op, inputs);
}

}  // namespace

std::string to_text(const Expr& expr, const Names& names) {
    return Printer{names, {}}.text(expr, {});
}

std::string to_text(const Operator& root, const Names& names) {
    Printer printer{names, {}};
    printer.print(root, 0);
    return std::move(printer.out);
}

}  // namespace loom::plan
