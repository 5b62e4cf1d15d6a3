#include "exec/expr/registry.h"

#include <algorithm>

#include <fmt/core.h>

namespace loom::exec {

namespace {

struct Registry {
    std::vector<Function> functions;  // by OID
    std::vector<FunctionInfo> infos;  // parallel to it

    Registry() {
        add_comparisons(functions);
        add_integer_functions(functions);
        add_numeric_functions(functions);
        add_float_functions(functions);
        add_text_functions(functions);
        add_calendar_functions(functions);
        add_regex_functions(functions);
        add_zone_functions(functions);
        std::sort(functions.begin(), functions.end(),
                  [](const Function& a, const Function& b) { return a.info.oid < b.info.oid; });
        for (const Function& function : functions) infos.push_back(function.info);
    }
};

const Registry& registry() {
    static const Registry instance;
    return instance;
}

bool arguments_fit(const FunctionInfo& info, std::span<const plan::Expr> args,
                   std::string* reason) {
    bool fit = static_cast<int>(args.size()) == info.arguments;
    for (size_t i = 0; fit && i < args.size(); ++i) fit = args[i].type.id == info.types[i];
    if (!fit) {
        *reason = fmt::format("function {} with other argument types", info.name);
        return false;
    }
    for (size_t i = 0; i < args.size(); ++i)
        if ((info.constant_arguments >> i & 1) != 0 && args[i].kind != plan::ExprKind::kConstant) {
            *reason = fmt::format("function {} whose argument {} is no constant", info.name, i + 1);
            return false;
        }
    return true;
}

}  // namespace

const Function* find(uint32_t oid) {
    const std::vector<Function>& all = registry().functions;
    const auto at = std::lower_bound(
        all.begin(), all.end(), oid,
        [](const Function& function, uint32_t key) { return function.info.oid < key; });
    return at != all.end() && at->info.oid == oid ? &*at : nullptr;
}

bool bind_function(uint32_t oid, std::span<const plan::Expr> args, BoundFunction* bound,
                   std::string* reason) {
    const Function* function = find(oid);
    if (function == nullptr) {
        *reason = fmt::format("function {} is not known to the engine", oid);
        return false;
    }
    if (!arguments_fit(function->info, args, reason)) return false;
    bound->oid = oid;
    bound->kernel = function->kernel;
    bound->may_fault = function->info.may_fault;
    bound->type = plan::make_type(function->info.result);
    return function->bind == nullptr || function->bind(args, bound, reason);
}

std::span<const FunctionInfo> registered_functions() {
    return registry().infos;
}

const FunctionInfo* find_function(uint32_t oid) {
    const Function* function = find(oid);
    return function == nullptr ? nullptr : &function->info;
}

BoundDefinition definition_of(uint32_t oid, std::span<const plan::Expr> arguments) {
    BoundFunction bound;
    std::string ignored;
    const Function* function = find(oid);
    if (function == nullptr || !bind_function(oid, arguments, &bound, &ignored)) return {};
    BoundDefinition definition = std::move(bound.definition);
    if (definition.name.empty()) definition.name = function->info.definition;
    definition.may_fault = bound.may_fault;
    definition.takes_fault = definition.takes_fault || bound.may_fault;
    definition.swapped = function->info.swapped;
    return definition;
}

bool may_raise(const plan::Expr& expr) {
    using plan::ExprKind;
    if (expr.kind == ExprKind::kHost) return true;
    if (expr.kind == ExprKind::kCall || expr.kind == ExprKind::kAnyOf ||
        expr.kind == ExprKind::kAllOf) {
        const FunctionInfo* function = find_function(expr.function);
        if (function == nullptr || function->may_fault) return true;
        // Whether a function of numerics may raise, their precision decides.
        const auto is_numeric = [](const plan::Expr& value) {
            return value.type.id == plan::TypeId::kNumeric;
        };
        if (is_numeric(expr) || std::any_of(expr.args.begin(), expr.args.end(), is_numeric))
            return true;
    }
    return std::any_of(expr.args.begin(), expr.args.end(), may_raise);
}

std::optional<plan::Type> result_type(uint32_t oid, std::span<const plan::Expr> arguments,
                                      std::string* reason) {
    BoundFunction bound;
    std::string ignored;
    if (!bind_function(oid, arguments, &bound, reason == nullptr ? &ignored : reason))
        return std::nullopt;
    return bound.type;
}

}  // namespace loom::exec
