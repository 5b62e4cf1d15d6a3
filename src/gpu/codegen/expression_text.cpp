#include "gpu/codegen/expression_text.h"

#include <bit>
#include <optional>

#include <fmt/core.h>

#include "exec/expression.h"
#include "exec/functions.h"

namespace loom::gpu {

using plan::Expr;
using plan::ExprKind;
using plan::Physical;

namespace {

// A list longer than this is a table to look up, which kernels do not have.
constexpr size_t kMostElements = 64;

// The slots that an expression reads are its columns; a dictionary's texts are known to the host.
std::optional<int> only_slot(const Expr& expr) {
    const std::vector<int> columns = plan::columns_of(expr);
    return columns.size() == 1 ? std::optional(columns[0]) : std::nullopt;
}

}  // namespace

std::string value_type(plan::Type type) {
    if (type.id == plan::TypeId::kText) return "uint32_t";  // the code in its dictionary
    switch (plan::physical(type)) {
        case Physical::kBool:
            return "uint8_t";
        case Physical::kInt16:
            return "int16_t";
        case Physical::kInt32:
            return "int32_t";
        case Physical::kInt64:
            return "int64_t";
        case Physical::kFloat32:
            return "float";
        case Physical::kFloat64:
            return "double";
        default:
            throw NotInKernels{"a value of type " + plan::to_string(type)};
    }
}

std::string KernelWords::add(uint64_t word) {
    words_.push_back(word);
    return read(static_cast<int>(words_.size()) - 1);
}

int KernelWords::reserve() {
    words_.push_back(0);
    return static_cast<int>(words_.size()) - 1;
}

std::string KernelWords::read(int at) {
    return fmt::format("p.words[{}]", at);
}

TextValue ExpressionWriter::write(const Expr& expr, std::string& out) {
    switch (expr.kind) {
        case ExprKind::kColumn:
            return source_.slot(expr.index, out);
        case ExprKind::kConstant:
        case ExprKind::kParameter:
            return constant(expr);
        default:
            break;
    }
    const std::optional<int> slot = only_slot(expr);
    if (slot && expr.type.id == plan::TypeId::kBool && source_.has_dictionary(*slot) &&
        !exec::may_raise(expr))
        return look_up(*slot, expr, out);
    switch (expr.kind) {
        case ExprKind::kCall:
            return call(expr, out);
        case ExprKind::kAnd:
        case ExprKind::kOr:
            return connective(expr, out);
        case ExprKind::kNot:
        case ExprKind::kIsNull:
        case ExprKind::kIsNotNull:
        case ExprKind::kIsTrue:
        case ExprKind::kIsNotTrue:
        case ExprKind::kIsFalse:
        case ExprKind::kIsNotFalse:
            return test(expr, out);
        case ExprKind::kCase:
            return choice(expr, out);
        case ExprKind::kCoalesce:
            return coalesce(expr, out);
        case ExprKind::kAnyOf:
            return any_of(expr, out);
        default:
            throw NotInKernels{"an expression of this kind"};
    }
}

std::string ExpressionWriter::scalar(plan::Type type, const column::Scalar& value) {
    switch (plan::physical(type)) {
        case Physical::kBool:
        case Physical::kInt16:
        case Physical::kInt32:
        case Physical::kInt64:
            return fmt::format("static_cast<{}>({})", value_type(type),
                               words_.add(static_cast<uint64_t>(value.integer)));
        case Physical::kFloat32:
        case Physical::kFloat64:
            return fmt::format("static_cast<{}>(double_of({}))", value_type(type),
                               words_.add(std::bit_cast<uint64_t>(value.number)));
        default:
            throw NotInKernels{"a constant of type " + plan::to_string(type)};
    }
}

TextValue ExpressionWriter::constant(const Expr& expr) {
    const column::Scalar& value = expr.kind == ExprKind::kConstant
                                      ? expr.value
                                      : parameters_[static_cast<size_t>(expr.index)].value;
    if (!value.known()) return {fmt::format("{}{{}}", value_type(expr.type)), "false"};
    return {scalar(expr.type, value), ""};
}

TextValue ExpressionWriter::call(const Expr& expr, std::string& out) {
    const exec::FunctionInfo* function = exec::find_function(expr.function);
    if (function == nullptr || function->definition.empty())
        throw NotInKernels{
            fmt::format("function {}", function == nullptr ? "" : function->name.c_str())};
    std::vector<std::string> args;
    std::string valid;
    for (const Expr& arg : expr.args) {
        if (plan::physical(arg.type) == Physical::kBytes)
            throw NotInKernels{fmt::format("function {} of texts", function->name)};
        const TextValue value = write(arg, out);
        args.push_back(value.value);
        if (!value.valid.empty()) valid += (valid.empty() ? "" : " & ") + value.valid;
    }
    if (function->swapped) std::swap(args[0], args[1]);
    std::string list;
    for (const std::string& arg : args) list += (list.empty() ? "" : ", ") + arg;
    if (function->may_fault) list += ", fault";

    const std::string value = name();
    const std::string type = value_type(expr.type);
    const std::string made = fmt::format("{}({})", function->definition, list);
    if (valid.empty()) {
        out += fmt::format("const {} {} = {};\n", type, value, made);
        return {value, ""};
    }
    const std::string known = name();
    out += fmt::format("const bool {} = {};\n", known, valid);
    // What is not there has no value that could fault.
    if (function->may_fault)
        out += fmt::format("{0} {1} = {{}};\nif ({2}) {1} = {3};\n", type, value, known, made);
    else
        out += fmt::format("const {} {} = {};\n", type, value, made);
    return {value, known};
}

// AND is false as soon as one argument is; what comes after it is not computed.
TextValue ExpressionWriter::connective(const Expr& expr, std::string& out) {
    const bool is_and = expr.kind == ExprKind::kAnd;
    const std::string value = name();
    const std::string known = name();
    out += fmt::format("bool {} = {}, {} = true;\ndo {{\n", value, is_and, known);
    source_.open_block();
    for (const Expr& arg : expr.args) {
        const TextValue part = write(arg, out);
        out += fmt::format("if (({}) && {}({})) {{ {} = {}; {} = true; break; }}\n", part.known(),
                           is_and ? "!" : "", part.value, value, !is_and, known);
        if (!part.valid.empty()) out += fmt::format("{} &= {};\n", known, part.valid);
    }
    source_.close_block();
    out += "} while (false);\n";
    return {value, known};
}

TextValue ExpressionWriter::test(const Expr& expr, std::string& out) {
    const TextValue arg = write(expr.args[0], out);
    switch (expr.kind) {
        case ExprKind::kNot:
            return {fmt::format("!({})", arg.value), arg.valid};
        case ExprKind::kIsNull:
            return {fmt::format("!({})", arg.known()), ""};
        case ExprKind::kIsNotNull:
            return {fmt::format("({})", arg.known()), ""};
        case ExprKind::kIsTrue:
            return {fmt::format("(({}) && ({}))", arg.known(), arg.value), ""};
        case ExprKind::kIsNotTrue:
            return {fmt::format("!(({}) && ({}))", arg.known(), arg.value), ""};
        case ExprKind::kIsFalse:
            return {fmt::format("(({}) && !({}))", arg.known(), arg.value), ""};
        default:
            return {fmt::format("!(({}) && !({}))", arg.known(), arg.value), ""};
    }
}

TextValue ExpressionWriter::choice(const Expr& expr, std::string& out) {
    const std::string value = name();
    const std::string known = name();
    out += fmt::format("{} {} = {{}};\nbool {} = false;\ndo {{\n", value_type(expr.type), value,
                       known);
    source_.open_block();
    const auto take = [&](const Expr& arm) {
        const TextValue result = write(arm, out);
        out += fmt::format("{} = {}; {} = {};\n", value, result.value, known, result.known());
    };
    for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
        const TextValue condition = write(expr.args[i], out);
        out += fmt::format("if (({}) && ({})) {{\n", condition.known(), condition.value);
        source_.open_block();
        take(expr.args[i + 1]);
        source_.close_block();
        out += "break;\n}\n";
    }
    take(expr.args.back());
    source_.close_block();
    out += "} while (false);\n";
    return {value, known};
}

TextValue ExpressionWriter::coalesce(const Expr& expr, std::string& out) {
    const std::string value = name();
    const std::string known = name();
    out += fmt::format("{} {} = {{}};\nbool {} = false;\ndo {{\n", value_type(expr.type), value,
                       known);
    source_.open_block();
    for (const Expr& arg : expr.args) {
        const TextValue part = write(arg, out);
        out += fmt::format("if ({}) {{ {} = {}; {} = true; break; }}\n", part.known(), value,
                           part.value, known);
    }
    source_.close_block();
    out += "} while (false);\n";
    return {value, known};
}

TextValue ExpressionWriter::any_of(const Expr& expr, std::string& out) {
    const plan::ParameterValue* given =
        expr.index >= 0 ? &parameters_[static_cast<size_t>(expr.index)] : nullptr;
    const std::vector<column::Scalar>& list = given != nullptr ? given->list : expr.list;
    if (given != nullptr ? given->list_null : expr.list_null) return {"false", "false"};
    if (list.size() > kMostElements) throw NotInKernels{"a list of many values"};
    const exec::FunctionInfo* function = exec::find_function(expr.function);
    if (function == nullptr || function->definition.empty() || function->may_fault ||
        function->swapped)
        throw NotInKernels{"ANY of a list with this operator"};
    const TextValue arg = write(expr.args[0], out);
    const std::string value = name();
    const std::string known = name();
    bool has_null = false;
    out += fmt::format("bool {} = false;\n", value);
    const plan::Type element{function->types[1], 0, 0, 0};
    for (const column::Scalar& each : list) {
        if (!each.known()) {
            has_null = true;
            continue;
        }
        out += fmt::format("{} |= {}({}, {});\n", value, function->definition, arg.value,
                           scalar(element, each));
    }
    out += fmt::format("const bool {} = ({}){};\n", known, arg.known(),
                       has_null ? " && " + value : "");
    // Of no elements the answer is no, whatever the value.
    return list.empty() ? TextValue{"false", ""} : TextValue{value, known};
}

TextValue ExpressionWriter::look_up(int slot, const Expr& expr, std::string& out) {
    LookUp entry;
    entry.slot = slot;
    entry.predicate = expr;
    entry.word = words_.reserve();
    // Behind the texts stands what the predicate says of NULL.
    const int size = words_.reserve();
    const TextValue code = source_.slot(slot, out);
    const std::string answer = name();
    const std::string index = code.valid.empty()
                                  ? code.value
                                  : fmt::format("({} ? {} : static_cast<uint32_t>({}))", code.valid,
                                                code.value, KernelWords::read(size));
    out += fmt::format("const uint32_t {} = look_up8_if(bytes_at({}) + {}, 1, 0);\n", answer,
                       KernelWords::read(entry.word), index);
    look_ups_.push_back(std::move(entry));
    return {fmt::format("({} == 1)", answer), fmt::format("({} != 2)", answer)};
}

}  // namespace loom::gpu
