#include "gpu/codegen/expression_text.h"

#include <algorithm>
#include <bit>
#include <optional>

#include <fmt/core.h>

#include "exec/expression.h"

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

bool fits_64(__int128 value) {
    return value >= INT64_MIN && value <= INT64_MAX;
}

std::string narrow(const TextValue& value) {
    return value.wide ? fmt::format("static_cast<int64_t>({})", value.value) : value.value;
}

void refuse_texts(const Expr& expr, std::string_view what) {
    if (plan::physical(expr.type) == Physical::kBytes)
        throw NotInKernels{fmt::format("{} of texts", what)};
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
        case Physical::kInt128:
            return "Int128";
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
    if (is_looked_up(expr)) return look_up(*only_slot(expr), expr, out);
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
        case ExprKind::kAllOf:
            return any_of(expr, out);
        case ExprKind::kGreatest:
        case ExprKind::kLeast:
            return extreme(expr, out);
        case ExprKind::kIsDistinct:
        case ExprKind::kNullIf:
            return pair(expr, out);
        default:
            throw NotInKernels{"an expression of this kind"};
    }
}

bool ExpressionWriter::is_looked_up(const Expr& expr) const {
    if (expr.kind == ExprKind::kColumn) return false;
    const std::optional<int> slot = only_slot(expr);
    return slot && expr.type.id == plan::TypeId::kBool && source_.has_dictionary(*slot);
}

// A number of up to 128 bits.
std::string ExpressionWriter::integer(__int128 value) {
    const std::string low = words_.add(static_cast<uint64_t>(value));
    if (fits_64(value)) return fmt::format("static_cast<int64_t>({})", low);
    return fmt::format("int128_of({}, {})", low, words_.add(static_cast<uint64_t>(value >> 64)));
}

TextValue ExpressionWriter::scalar(plan::Type type, const column::Scalar& value) {
    switch (plan::physical(type)) {
        case Physical::kBool:
        case Physical::kInt16:
        case Physical::kInt32:
        case Physical::kInt64:
            return {fmt::format("static_cast<{}>({})", value_type(type),
                                words_.add(static_cast<uint64_t>(value.integer))),
                    ""};
        case Physical::kInt128:
            return {integer(value.integer), "", !fits_64(value.integer)};
        case Physical::kFloat32:
        case Physical::kFloat64:
            return {fmt::format("static_cast<{}>(double_of({}))", value_type(type),
                                words_.add(std::bit_cast<uint64_t>(value.number))),
                    ""};
        default:
            throw NotInKernels{"a constant of type " + plan::to_string(type)};
    }
}

TextValue ExpressionWriter::constant(const Expr& expr) {
    const column::Scalar& value = expr.kind == ExprKind::kConstant
                                      ? expr.value
                                      : parameters_[static_cast<size_t>(expr.index)].value;
    if (!value.known()) return {fmt::format("{}{{}}", variable(expr).type), "false"};
    return scalar(expr.type, value);
}

ExpressionWriter::Variable ExpressionWriter::variable(const Expr& expr) const {
    if (plan::physical(expr.type) == Physical::kInt128 && facts_.bounds(expr).fits_64())
        return {"int64_t", false};
    return {value_type(expr.type), plan::physical(expr.type) == Physical::kInt128};
}

exec::BoundDefinition ExpressionWriter::definition(uint32_t function,
                                                   const std::vector<Expr>& args) const {
    exec::BoundDefinition found = exec::definition_of(function, args);
    if (!found.name.empty()) return found;
    const exec::FunctionInfo* info = exec::find_function(function);
    throw NotInKernels{fmt::format("function {}", info == nullptr ? "" : info->name.c_str())};
}

// Numerics of many digits are computed in 64 bits where bounds of the values say that they fit.
ExpressionWriter::Call ExpressionWriter::apply(const exec::BoundDefinition& definition,
                                               const std::vector<TextValue>& args,
                                               const std::vector<ValueBounds>& bounds,
                                               plan::Type type, ValueBounds result) {
    const auto constant = [&](size_t i) {
        return i < definition.constants.size() ? definition.constants[i] : __int128{1};
    };
    bool aligned =
        !definition.aligned_64.empty() && (type.id != plan::TypeId::kNumeric || result.fits_64());
    for (size_t i = 0; aligned && i < args.size(); ++i) {
        __int128 low = 0;
        __int128 high = 0;
        aligned =
            bounds[i].none() || (!__builtin_mul_overflow(bounds[i].low, constant(i), &low) &&
                                 !__builtin_mul_overflow(bounds[i].high, constant(i), &high) &&
                                 fits_64(low) && fits_64(high) && fits_64(constant(i)));
    }
    const bool modulo = !definition.modulo_64.empty() && result.fits_64();
    std::vector<std::string> list;
    for (const TextValue& arg : args) list.push_back(aligned || modulo ? narrow(arg) : arg.value);
    if (definition.swapped) std::swap(list[0], list[1]);
    for (const __int128 each : definition.constants)
        list.push_back(integer(modulo ? static_cast<int64_t>(each) : each));
    Call made;
    made.may_fault = definition.may_fault && !aligned && !modulo;
    made.wide = plan::physical(type) == Physical::kInt128 && !aligned && !modulo;
    if (definition.takes_fault && !aligned && !modulo) list.emplace_back("fault");
    std::string all;
    for (const std::string& each : list) all += (all.empty() ? "" : ", ") + each;
    made.text = fmt::format("{}({})",
                            modulo    ? definition.modulo_64
                            : aligned ? definition.aligned_64
                                      : definition.name,
                            all);
    return made;
}

TextValue ExpressionWriter::call(const Expr& expr, std::string& out) {
    const exec::BoundDefinition function = definition(expr.function, expr.args);
    std::vector<TextValue> args;
    std::vector<ValueBounds> bounds;
    std::string valid;
    // What a definition does not take (a field's name, digits) is a constant that is no NULL.
    const auto first = static_cast<size_t>(function.first_argument);
    const size_t end =
        function.arguments < 0 ? expr.args.size() : first + static_cast<size_t>(function.arguments);
    for (size_t i = first; i < end; ++i) {
        const Expr& arg = expr.args[i];
        refuse_texts(arg, "a function");
        args.push_back(write(arg, out));
        bounds.push_back(facts_.bounds(arg));
        const TextValue& value = args.back();
        if (!value.valid.empty()) valid += (valid.empty() ? "" : " & ") + value.valid;
    }
    const Call made = apply(function, args, bounds, expr.type, facts_.bounds(expr));
    const std::string value = name();
    const bool numeric = plan::physical(expr.type) == Physical::kInt128;
    const std::string type = numeric && !made.wide ? "int64_t" : value_type(expr.type);
    if (valid.empty()) {
        out += fmt::format("const {} {} = {};\n", type, value, made.text);
        return {value, "", made.wide};
    }
    const std::string known = name();
    out += fmt::format("const bool {} = {};\n", known, valid);
    // What is not there has no value that could fault.
    if (made.may_fault)
        out += fmt::format("{0} {1} = {{}};\nif ({2}) {1} = {3};\n", type, value, known, made.text);
    else
        out += fmt::format("const {} {} = {};\n", type, value, made.text);
    return {value, known, made.wide};
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
    const Variable holder = variable(expr);
    out += fmt::format("{} {} = {{}};\nbool {} = false;\ndo {{\n", holder.type, value, known);
    source_.open_block();
    const auto take = [&](const Expr& arm) {
        const TextValue result = write(arm, out);
        out += fmt::format("{} = {}; {} = {};\n", value,
                           holder.wide ? result.value : narrow(result), known, result.known());
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
    return {value, known, holder.wide};
}

TextValue ExpressionWriter::coalesce(const Expr& expr, std::string& out) {
    const std::string value = name();
    const std::string known = name();
    const Variable holder = variable(expr);
    out += fmt::format("{} {} = {{}};\nbool {} = false;\ndo {{\n", holder.type, value, known);
    source_.open_block();
    for (const Expr& arg : expr.args) {
        const TextValue part = write(arg, out);
        out += fmt::format("if ({}) {{ {} = {}; {} = true; break; }}\n", part.known(), value,
                           holder.wide ? part.value : narrow(part), known);
    }
    source_.close_block();
    out += "} while (false);\n";
    return {value, known, holder.wide};
}

// GREATEST, LEAST: NULL arguments do not count.
TextValue ExpressionWriter::extreme(const Expr& expr, std::string& out) {
    refuse_texts(expr, "GREATEST or LEAST");
    const exec::BoundDefinition order = definition(
        expr.function, {plan::make_column(0, expr.type), plan::make_column(1, expr.type)});
    if (order.may_fault || order.swapped) throw NotInKernels{"GREATEST or LEAST of such values"};
    const std::string value = name();
    const std::string known = name();
    const Variable holder = variable(expr);
    const ValueBounds all = facts_.bounds(expr);
    out += fmt::format("{} {} = {{}};\nbool {} = false;\n", holder.type, value, known);
    for (const Expr& arg : expr.args) {
        const TextValue part = write(arg, out);
        const Call compared =
            apply(order, {part, {value, "", holder.wide}}, {facts_.bounds(arg), all},
                  plan::make_type(plan::TypeId::kInt4), {});
        out += fmt::format("if ({0} && (!{1} || {2} {3} 0)) {{ {4} = {5}; {1} = true; }}\n",
                           part.known(), known, compared.text,
                           expr.kind == ExprKind::kGreatest ? ">" : "<", value,
                           holder.wide ? part.value : narrow(part));
    }
    return {value, known, holder.wide};
}

// IS DISTINCT FROM, NULLIF.
TextValue ExpressionWriter::pair(const Expr& expr, std::string& out) {
    for (const Expr& arg : expr.args) refuse_texts(arg, "a comparison");
    const exec::BoundDefinition equality = definition(expr.function, expr.args);
    if (equality.may_fault) throw NotInKernels{"a comparison that may fault"};
    const TextValue first = write(expr.args[0], out);
    const TextValue second = write(expr.args[1], out);
    const Call compared =
        apply(equality, {first, second}, {facts_.bounds(expr.args[0]), facts_.bounds(expr.args[1])},
              plan::make_type(plan::TypeId::kBool), {});
    const std::string same = name();
    out += fmt::format("const bool {} = ({}) && ({}) && {};\n", same, first.known(), second.known(),
                       compared.text);
    if (expr.kind == ExprKind::kNullIf) {
        const std::string known = name();
        out += fmt::format("const bool {} = ({}) && !{};\n", known, first.known(), same);
        return {first.value, known, first.wide};
    }
    const std::string distinct = name();
    out += fmt::format("const bool {} = !{} && (({}) || ({}));\n", distinct, same, first.known(),
                       second.known());
    return {distinct, ""};
}

// ANY is true as soon as one element is, ALL false.
TextValue ExpressionWriter::any_of(const Expr& expr, std::string& out) {
    const bool any = expr.kind == ExprKind::kAnyOf;
    const plan::ParameterValue* given =
        expr.index >= 0 ? &parameters_[static_cast<size_t>(expr.index)] : nullptr;
    const std::vector<column::Scalar>& list = given != nullptr ? given->list : expr.list;
    if (given != nullptr ? given->list_null : expr.list_null) return {"false", "false"};
    if (list.size() > kMostElements) throw NotInKernels{"a list of many values"};
    refuse_texts(expr.args[0], "ANY");
    const exec::FunctionInfo* info = exec::find_function(expr.function);
    if (info == nullptr) throw NotInKernels{"ANY of a list with this operator"};
    // Elements of numerics come in the scale of the value.
    plan::Type element{info->types[1], 0, 0, 0};
    if (element.id == plan::TypeId::kNumeric) element = expr.args[0].type;
    const exec::BoundDefinition function =
        definition(expr.function, {expr.args[0], plan::make_constant(element, {})});
    if (function.may_fault || function.swapped)
        throw NotInKernels{"ANY of a list with this operator"};
    const TextValue arg = write(expr.args[0], out);
    const ValueBounds bounds = facts_.bounds(expr.args[0]);
    const std::string value = name();
    const std::string known = name();
    bool has_null = false;
    out += fmt::format("bool {} = {};\n", value, !any);
    for (const column::Scalar& each : list) {
        if (!each.known()) {
            has_null = true;
            continue;
        }
        const Call compared =
            apply(function, {arg, scalar(element, each)}, {bounds, {each.integer, each.integer}},
                  plan::make_type(plan::TypeId::kBool), {});
        out += fmt::format("{} {}= {};\n", value, any ? "|" : "&", compared.text);
    }
    out += fmt::format("const bool {} = ({}){};\n", known, arg.known(),
                       !has_null ? std::string()
                       : any     ? " && " + value
                                 : " && !" + value);
    // Of no elements the answer is no, or all, whatever the value.
    return list.empty() ? TextValue{any ? "false" : "true", ""} : TextValue{value, known};
}

TextValue ExpressionWriter::look_up(int slot, const Expr& expr, std::string& out) {
    LookUp entry;
    entry.slot = slot;
    entry.predicate = expr;
    const std::string answer = look_up(std::move(entry), "uint8_t", out);
    return {fmt::format("({} == 1)", answer), fmt::format("({} != 2)", answer)};
}

std::string ExpressionWriter::text_number(int slot, std::shared_ptr<const ComputedTexts> texts,
                                          std::string& out) {
    LookUp entry;
    entry.slot = slot;
    entry.texts = std::move(texts);
    return look_up(std::move(entry), "uint32_t", out);
}

// Behind the texts stands what the table says of NULL.
std::string ExpressionWriter::look_up(LookUp entry, std::string_view type, std::string& out) {
    entry.word = words_.reserve();
    const int size = words_.reserve();
    const TextValue code = source_.slot(entry.slot, out);
    const std::string found = name();
    const std::string index = code.valid.empty()
                                  ? code.value
                                  : fmt::format("({} ? {} : static_cast<uint32_t>({}))", code.valid,
                                                code.value, KernelWords::read(size));
    out += fmt::format("const uint32_t {} = look_up{}_if(bytes_at<{}>({}) + {}, 1, 0);\n", found,
                       type == "uint8_t" ? 8 : 32, type, KernelWords::read(entry.word), index);
    look_ups_.push_back(std::move(entry));
    return found;
}

}  // namespace loom::gpu
