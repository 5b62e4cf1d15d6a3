// From the IR's expressions to nodes with bound kernels. Whatever depends on constants alone is
// computed here, unless that faults: then it stays and faults when a row asks for it.

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include "exec/expr/interpreter.h"
#include "exec/expr/program.h"
#include "exec/expr/widen.h"
#include "sql/decimal.h"

namespace loom::exec {

using column::Int128;
using column::Scalar;
using plan::Expr;
using plan::ExprKind;
using plan::Physical;
using plan::Type;
using plan::TypeId;

namespace {

bool is_integer(Physical physical) {
    return physical == Physical::kInt16 || physical == Physical::kInt32 ||
           physical == Physical::kInt64;
}

// Integers that compare as such with each other, whatever their width.
bool is_number(TypeId id) {
    return id == TypeId::kInt2 || id == TypeId::kInt4 || id == TypeId::kInt8;
}

bool is_integral(Physical physical) {
    return is_integer(physical) || physical == Physical::kInt128;
}

// int2 and int4 to wider integers, integers to numeric.
bool keeps_integer(uint32_t function) {
    return function == 313 || function == 481 || function == 754 || function == 1740 ||
           function == 1781 || function == 1782;
}

template <typename T>
T load(const void* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

struct Limits {
    int64_t low;
    int64_t high;
};

Limits limits(Physical physical) {
    if (physical == Physical::kInt16) return {INT16_MIN, INT16_MAX};
    if (physical == Physical::kInt32) return {INT32_MIN, INT32_MAX};
    return {INT64_MIN, INT64_MAX};
}

class Compiler {
  public:
    Compiler(const std::vector<plan::ParameterValue>* parameters, int* slots, std::string* reason)
        : parameters_(parameters), slots_(slots), reason_(reason) {}

    std::unique_ptr<Node> compile(const Expr& expr);

  private:
    using Result = std::unique_ptr<Node>;

    Result refuse(std::string reason) {
        if (reason_ != nullptr) *reason_ = std::move(reason);
        return nullptr;
    }
    Result make(NodeKind kind, Type type) {
        auto node = std::make_unique<Node>();
        node->kind = kind;
        node->type = type;
        node->physical = plan::physical(type);
        node->slot = (*slots_)++;
        return node;
    }
    Result constant(Type type, const Scalar& scalar) {
        Result node = make(NodeKind::kConstant, type);
        node->constant = true;
        if (!set_constant(type, scalar, &node->value))
            return refuse(fmt::format("a constant that {} cannot hold", to_string(type)));
        return node;
    }
    // Without its value, a parameter counts as a NULL that may not be folded.
    bool trial() const noexcept { return parameters_ == nullptr; }

    Result column(const Expr& expr);
    Result parameter(const Expr& expr);
    Result call(const Expr& expr);
    Result logic(const Expr& expr, NodeKind kind);
    Result array(const Expr& expr);
    Result array_of(const Expr& expr, const std::vector<Scalar>& list, bool list_null);
    bool compile_args(const Expr& expr, Node* node);
    Result choice(const Expr& expr, NodeKind kind);
    Result pair(const Expr& expr, NodeKind kind);
    Result host(const Expr& expr);
    bool fit(Type type, Result* arm);
    bool bind_pair(const Expr& expr, Type a, Type b, TypeId result, Node* node);
    Result finish(Result node);
    void fold(Node* node);
    Result range_of_call(Result node);
    void merge_ranges(Node* node);

    const std::vector<plan::ParameterValue>* parameters_;
    int* slots_;
    std::string* reason_;
};

bool Compiler::compile_args(const Expr& expr, Node* node) {
    for (const Expr& arg : expr.args) {
        Result compiled = compile(arg);
        if (compiled == nullptr) return false;
        node->args.push_back(std::move(compiled));
    }
    return true;
}

// Derives what a node knows of its arguments, and folds it.
Compiler::Result Compiler::finish(Result node) {
    node->constant = node->kind != NodeKind::kHost;
    for (const Result& arg : node->args) {
        node->may_fault |= arg->may_fault;
        node->asks_host |= arg->asks_host;
        node->constant &= arg->constant;
        node->columns.insert(node->columns.end(), arg->columns.begin(), arg->columns.end());
    }
    std::sort(node->columns.begin(), node->columns.end());
    node->columns.erase(std::unique(node->columns.begin(), node->columns.end()),
                        node->columns.end());
    if (node->constant && !trial()) fold(node.get());
    return node;
}

void Compiler::fold(Node* node) {
    try {
        Interpreter interpreter(*slots_, nullptr);
        const Vector value = interpreter.evaluate(*node, {{}, 1});
        ConstantValue folded;
        const int width = plan::width(node->physical);
        folded.validity[0] = value.is_null(0) ? 0 : 0xff;
        if (!value.is_null(0)) {
            std::memcpy(folded.value, value.values, static_cast<size_t>(width));
            if (node->physical == Physical::kBytes) {
                const auto& view = value.as<column::BytesView>()[0];
                folded.set_bytes(view.data, view.size);
            }
        }
        node->kind = NodeKind::kConstant;
        node->value = std::move(folded);
        node->args.clear();
        node->may_fault = false;
    } catch (const SqlFault&) {
    } catch (const Unrepresentable&) {
    }
}

Compiler::Result Compiler::column(const Expr& expr) {
    Result node = make(NodeKind::kColumn, expr.type);
    node->column = expr.index;
    node->columns = {expr.index};
    return node;
}

Compiler::Result Compiler::parameter(const Expr& expr) {
    if (trial()) return constant(expr.type, {});
    if (expr.index < 0 || static_cast<size_t>(expr.index) >= parameters_->size())
        return refuse(fmt::format("no value for parameter {}", expr.index));
    return constant(expr.type, (*parameters_)[static_cast<size_t>(expr.index)].value);
}

Compiler::Result Compiler::call(const Expr& expr) {
    Result node = make(NodeKind::kCall, expr.type);
    std::string reason;
    if (!bind_function(expr.function, expr.args, &node->function, &reason))
        return refuse(std::move(reason));
    if (node->function.type != expr.type)
        return refuse(fmt::format("function {} yields {}, not {}", expr.function,
                                  to_string(node->function.type), to_string(expr.type)));
    if (find(expr.function)->comparison == Comparison::kOrder)
        return refuse("a three-way comparison, of whose result only the sign is defined");
    node->may_fault = node->function.may_fault;
    if (!compile_args(expr, node.get())) return nullptr;
    node = finish(std::move(node));
    if (node->kind != NodeKind::kCall) return node;
    return range_of_call(std::move(node));
}

// Makes a constant node one of a 128-bit numeric.
void set_unscaled(Node* constant, Type type, Int128 unscaled) {
    constant->type = type;
    constant->physical = plan::physical(type);
    set_constant(type, Scalar::of_int(unscaled), &constant->value);
}

// `integer op constant` becomes a range.
Compiler::Result Compiler::range_of_call(Result node) {
    const Function* function = find(node->function.oid);
    const Comparison comparison = function->comparison;
    if (comparison == Comparison::kNone || comparison == Comparison::kOrder || trial()) return node;
    const auto known_constant = [](const Node& arg) {
        return arg.kind == NodeKind::kConstant && !arg.value.is_null();
    };
    const bool swapped = known_constant(*node->args[0]);
    if (!swapped && !known_constant(*node->args[1])) return node;
    Node& value = *node->args[swapped ? 0 : 1];
    Result* operand = &node->args[swapped ? 1 : 0];
    const bool decimal = value.physical == Physical::kDecimal;
    if ((!decimal && !is_integral(value.physical)) || !is_integral((*operand)->physical))
        return node;
    if (value.type.id != (*operand)->type.id &&
        !(is_number(value.type.id) && is_number((*operand)->type.id)))
        return node;

    // The constant in units of the operand: its floor, and whether that is it.
    plan::Decimal number;
    if (decimal)
        number = load<plan::Decimal>(value.value.value);
    else if (value.physical == Physical::kInt128)
        number = {load<Int128>(value.value.value), value.type.scale};
    else
        number = {integer_value(value.physical, value.value.value), value.type.scale};
    const int scale = (*operand)->type.scale;
    sql::Fault fault;
    Int128 floor =
        sql::decimal_round<sql::Rounding::kDown>({number.unscaled, number.scale}, scale, fault);
    if (fault.bits() != 0) return node;
    const bool exact = sql::decimal_compare({number.unscaled, number.scale}, {floor, scale}) == 0;
    if (decimal && exact && (*operand)->physical == Physical::kInt128 &&
        sql::has_38_digits(floor)) {
        // Rows of one scale are compared in it.
        set_unscaled(&value, plan::make_numeric(plan::kMaxPrecision, scale), floor);
        const Expr args[] = {plan::make_column(0, node->args[0]->type),
                             plan::make_column(1, node->args[1]->type)};
        std::string ignored;
        bind_function(node->function.oid, args, &node->function, &ignored);
    }
    // Casts that keep the value are looked through.
    while ((*operand)->kind == NodeKind::kCall && keeps_integer((*operand)->function.oid))
        operand = &(*operand)->args[0];
    if (!is_integer((*operand)->physical)) return node;

    const Limits all = limits((*operand)->physical);
    Int128 low = all.low;
    Int128 high = all.high;
    const bool inclusive =
        comparison == Comparison::kLessEqual || comparison == Comparison::kGreaterEqual;
    const bool less = comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
    if (comparison == Comparison::kEqual || comparison == Comparison::kNotEqual) {
        low = exact ? floor : 1;
        high = exact ? floor : 0;
    } else if (less != swapped) {
        high = exact && !inclusive ? floor - 1 : floor;
    } else {
        low = exact && inclusive ? floor : floor + 1;
    }
    Result range = make(NodeKind::kRange, node->type);
    range->negated = comparison == Comparison::kNotEqual;
    low = std::max<Int128>(low, all.low);
    high = std::min<Int128>(high, all.high);
    if (low > high) {
        low = 1;
        high = 0;
    }
    range->low = static_cast<int64_t>(low);
    range->high = static_cast<int64_t>(high);
    range->args.push_back(std::move(*operand));
    return finish(std::move(range));
}

// Ranges of one column that stand side by side in an AND become one.
void Compiler::merge_ranges(Node* node) {
    const auto plain = [](const Node& arg) {
        return arg.kind == NodeKind::kRange && !arg.negated &&
               arg.args[0]->kind == NodeKind::kColumn;
    };
    std::vector<Result> merged;
    for (Result& arg : node->args) {
        const auto earlier =
            !plain(*arg)
                ? merged.end()
                : std::find_if(merged.begin(), merged.end(), [&](const Result& other) {
                      return plain(*other) && other->args[0]->column == arg->args[0]->column;
                  });
        if (earlier == merged.end()) {
            merged.push_back(std::move(arg));
            continue;
        }
        (*earlier)->low = std::max((*earlier)->low, arg->low);
        (*earlier)->high = std::min((*earlier)->high, arg->high);
    }
    node->args = std::move(merged);
}

Compiler::Result Compiler::logic(const Expr& expr, NodeKind kind) {
    Result node = make(kind, expr.type);
    for (const Expr& arg : expr.args)
        if (kind != NodeKind::kIsNull && kind != NodeKind::kIsNotNull &&
            arg.type.id != TypeId::kBool)
            return refuse("a condition that is no boolean");
    if (!compile_args(expr, node.get())) return nullptr;
    if (kind == NodeKind::kAnd) merge_ranges(node.get());
    if ((kind == NodeKind::kAnd || kind == NodeKind::kOr) && node->args.size() == 1)
        return std::move(node->args[0]);
    return finish(std::move(node));
}

// Brings an arm of a choice to the type of the whole.
bool Compiler::fit(Type type, Result* arm) {
    Node& node = **arm;
    if (node.kind == NodeKind::kConstant && node.value.is_null()) {
        node.type = type;
        node.physical = plan::physical(type);
        return true;
    }
    if (node.type == type) return true;
    if (node.type.id != type.id || type.id != TypeId::kNumeric) {
        refuse(fmt::format("a choice between {} and {}", to_string(node.type), to_string(type)));
        return false;
    }
    const bool to_decimals = plan::is_decimal(type);
    if (!to_decimals && (plan::is_decimal(node.type) || node.type.scale != type.scale)) {
        refuse("a choice between numerics of different display scale");
        return false;
    }
    if (!to_decimals && node.type.precision > type.precision) {
        refuse("a choice whose type is too narrow for its values");
        return false;
    }
    const Physical physical = plan::physical(type);
    if (node.physical == physical) {
        node.type = type;
        return true;
    }
    Result wide = make(NodeKind::kCall, type);
    wide->function = to_decimals ? to_decimal(node.type) : widening(type);
    wide->args.push_back(std::move(*arm));
    *arm = finish(std::move(wide));
    return true;
}

// Binds `function` to two values that a choice compares.
bool Compiler::bind_pair(const Expr& expr, Type a, Type b, TypeId result, Node* node) {
    const std::vector<Expr> args{plan::make_column(0, a), plan::make_column(1, b)};
    std::string reason;
    if (!bind_function(expr.function, args, &node->function, &reason)) {
        refuse(std::move(reason));
        return false;
    }
    if (node->function.type.id == result) return true;
    refuse("a comparison by a function that is none");
    return false;
}

// CASE, COALESCE, GREATEST, LEAST.
Compiler::Result Compiler::choice(const Expr& expr, NodeKind kind) {
    Result node = make(kind, expr.type);
    if (expr.args.empty() || (kind == NodeKind::kCase && expr.args.size() % 2 == 0))
        return refuse("a choice without a default");
    if (!compile_args(expr, node.get())) return nullptr;
    for (size_t i = 0; i < node->args.size(); ++i) {
        const bool condition = kind == NodeKind::kCase && i % 2 == 0 && i + 1 < node->args.size();
        if (condition && node->args[i]->type.id != TypeId::kBool)
            return refuse("a condition that is no boolean");
        if (!condition && !fit(expr.type, &node->args[i])) return nullptr;
    }
    if ((kind == NodeKind::kGreatest || kind == NodeKind::kLeast) &&
        !bind_pair(expr, expr.type, expr.type, TypeId::kInt4, node.get()))
        return nullptr;
    return finish(std::move(node));
}

// NULLIF, IS DISTINCT FROM.
Compiler::Result Compiler::pair(const Expr& expr, NodeKind kind) {
    if (expr.args.size() != 2) return refuse("a comparison of other than two values");
    Result node = make(kind, expr.type);
    if (!bind_pair(expr, expr.args[0].type, expr.args[1].type, TypeId::kBool, node.get()))
        return nullptr;
    if (kind == NodeKind::kNullIf && expr.type != expr.args[0].type)
        return refuse("NULLIF of another type than its first argument");
    node->may_fault = node->function.may_fault;
    if (!compile_args(expr, node.get())) return nullptr;
    return finish(std::move(node));
}

// What the host computes may raise any error, and is not folded: there is no host to ask yet.
Compiler::Result Compiler::host(const Expr& expr) {
    Result node = make(NodeKind::kHost, expr.type);
    node->host = expr.index;
    node->may_fault = true;
    node->asks_host = true;
    if (!compile_args(expr, node.get())) return nullptr;
    return finish(std::move(node));
}

Compiler::Result Compiler::array(const Expr& expr) {
    if (expr.args.size() != 1) return refuse("an array comparison over more than one value");
    if (expr.index < 0) return array_of(expr, expr.list, expr.list_null);
    if (trial()) return array_of(expr, {}, false);
    if (static_cast<size_t>(expr.index) >= parameters_->size())
        return refuse(fmt::format("no value for parameter {}", expr.index));
    const plan::ParameterValue& value = (*parameters_)[static_cast<size_t>(expr.index)];
    return array_of(expr, value.list, value.list_null);
}

Compiler::Result Compiler::array_of(const Expr& expr, const std::vector<Scalar>& list,
                                    bool list_null) {
    const bool any = expr.kind == ExprKind::kAnyOf;
    const Function* function = find(expr.function);
    if (function == nullptr)
        return refuse(fmt::format("function {} is not known to the engine", expr.function));
    if (function->info.arguments != 2 || function->info.result != TypeId::kBool)
        return refuse("an array comparison by something else than an operator");
    // Elements of a numeric array come in the scale of the value.
    Type element = plan::make_type(function->info.types[1]);
    if (element.id == TypeId::kNumeric) element = expr.args[0].type;

    Result node = make(any ? NodeKind::kAny : NodeKind::kAll, expr.type);
    Expr sample = plan::make_constant(element, {});
    const std::vector<Expr> args{expr.args[0], sample};
    std::string reason;
    if (!bind_function(expr.function, args, &node->function, &reason))
        return refuse(std::move(reason));
    node->may_fault = node->function.may_fault;
    if (!compile_args(expr, node.get())) return nullptr;
    if (list_null) return constant(expr.type, {});
    if (list.empty() && !trial()) {
        // Even a NULL has no element to compare with; a fault of the value remains.
        if (!node->args[0]->may_fault) return constant(expr.type, Scalar::of_int(any ? 0 : 1));
        node->may_fault = true;
        return finish(std::move(node));
    }

    const Comparison comparison = function->comparison;
    const bool equality =
        any ? comparison == Comparison::kEqual : comparison == Comparison::kNotEqual;
    const Physical physical = node->args[0]->physical;
    const TypeId id = node->args[0]->type.id;
    const bool integers =
        is_integer(physical) && (id == element.id || (is_number(id) && is_number(element.id)));
    const bool strings = physical == Physical::kBytes && id == element.id && id != TypeId::kBpchar;
    if (equality && (integers || strings)) {
        node->kind = NodeKind::kMembers;
        node->negated = !any;
        std::vector<int64_t> values;
        std::vector<std::string> texts;
        for (const Scalar& scalar : list) {
            ConstantValue value;
            if (!set_constant(element, scalar, &value))
                return refuse(fmt::format("an element that {} cannot hold", to_string(element)));
            if (value.is_null())
                node->list_has_null = true;
            else if (strings)
                texts.push_back(scalar.bytes);
            else
                values.push_back(integer_value(plan::physical(element), value.value));
        }
        node->members.set_integers(std::move(values));
        node->members.set_strings(std::move(texts));
        return finish(std::move(node));
    }
    for (const Scalar& scalar : list) {
        Result value = constant(element, scalar);
        if (value == nullptr) return nullptr;
        node->args.push_back(std::move(value));
    }
    return finish(std::move(node));
}

Compiler::Result Compiler::compile(const Expr& expr) {
    switch (expr.kind) {
        case ExprKind::kColumn:
            return column(expr);
        case ExprKind::kConstant:
            return constant(expr.type, expr.value);
        case ExprKind::kParameter:
            return parameter(expr);
        case ExprKind::kCall:
            return call(expr);
        case ExprKind::kAnd:
            return logic(expr, NodeKind::kAnd);
        case ExprKind::kOr:
            return logic(expr, NodeKind::kOr);
        case ExprKind::kNot:
            return logic(expr, NodeKind::kNot);
        case ExprKind::kIsNull:
            return logic(expr, NodeKind::kIsNull);
        case ExprKind::kIsNotNull:
            return logic(expr, NodeKind::kIsNotNull);
        case ExprKind::kIsTrue:
            return logic(expr, NodeKind::kIsTrue);
        case ExprKind::kIsNotTrue:
            return logic(expr, NodeKind::kIsNotTrue);
        case ExprKind::kIsFalse:
            return logic(expr, NodeKind::kIsFalse);
        case ExprKind::kIsNotFalse:
            return logic(expr, NodeKind::kIsNotFalse);
        case ExprKind::kAnyOf:
        case ExprKind::kAllOf:
            return array(expr);
        case ExprKind::kIsDistinct:
            return pair(expr, NodeKind::kDistinct);
        case ExprKind::kNullIf:
            return pair(expr, NodeKind::kNullIf);
        case ExprKind::kCase:
            return choice(expr, NodeKind::kCase);
        case ExprKind::kCoalesce:
            return choice(expr, NodeKind::kCoalesce);
        case ExprKind::kGreatest:
            return choice(expr, NodeKind::kGreatest);
        case ExprKind::kLeast:
            return choice(expr, NodeKind::kLeast);
        case ExprKind::kHost:
            return host(expr);
    }
    return refuse("an expression of a kind that the engine does not know");
}

}  // namespace

void ConstantValue::set_bytes(const uint8_t* data, int64_t size) {
    bytes.assign(data, data + size);
    const column::BytesView view{bytes.data(), size};
    std::memcpy(value, &view, sizeof view);
}

Vector constant_vector(Type type, const ConstantValue& value) {
    Vector out;
    out.type = type;
    out.form = Form::kConstant;
    out.length = 1;
    out.validity = value.is_null() ? value.validity : nullptr;
    out.values = value.value;
    return out;
}

int64_t integer_value(Physical physical, const void* value) {
    switch (physical) {
        case Physical::kBool:
            return *static_cast<const uint8_t*>(value);
        case Physical::kInt16:
            return *static_cast<const int16_t*>(value);
        case Physical::kInt32:
            return *static_cast<const int32_t*>(value);
        default:
            return *static_cast<const int64_t*>(value);
    }
}

bool set_constant(Type type, const Scalar& scalar, ConstantValue* out) {
    out->validity[0] = scalar.known() ? 0xff : 0;
    if (!scalar.known()) return true;
    const auto put = [&](const auto& value) { std::memcpy(out->value, &value, sizeof value); };
    const Physical physical = plan::physical(type);
    switch (physical) {
        case Physical::kBool:
        case Physical::kInt16:
        case Physical::kInt32:
        case Physical::kInt64: {
            if (scalar.kind != Scalar::Kind::kInt) return false;
            const Limits all = physical == Physical::kBool ? Limits{0, 1} : limits(physical);
            if (scalar.integer < all.low || scalar.integer > all.high) return false;
            put(static_cast<int64_t>(scalar.integer));  // little-endian: the low bytes come first
            return true;
        }
        case Physical::kInt128:
            if (scalar.kind != Scalar::Kind::kInt) return false;
            put(scalar.integer);
            return true;
        case Physical::kFloat32:
            if (scalar.kind != Scalar::Kind::kFloat) return false;
            put(static_cast<float>(scalar.number));
            return true;
        case Physical::kFloat64:
            if (scalar.kind != Scalar::Kind::kFloat) return false;
            put(scalar.number);
            return true;
        case Physical::kBytes:
            if (scalar.kind != Scalar::Kind::kBytes) return false;
            out->set_bytes(reinterpret_cast<const uint8_t*>(scalar.bytes.data()),
                           static_cast<int64_t>(scalar.bytes.size()));
            return true;
        case Physical::kInterval:
        case Physical::kUuid:
            if (scalar.kind != Scalar::Kind::kBytes || scalar.bytes.size() != 16) return false;
            std::memcpy(out->value, scalar.bytes.data(), 16);
            return true;
        case Physical::kDecimal: {
            const std::optional<plan::Decimal> value = plan::decimal_of(scalar);
            if (value) put(*value);
            return value.has_value();
        }
    }
    return false;
}

std::unique_ptr<Node> compile(const Expr& expr, const std::vector<plan::ParameterValue>* parameters,
                              int* slots, std::string* reason) {
    return Compiler(parameters, slots, reason).compile(expr);
}

}  // namespace loom::exec
