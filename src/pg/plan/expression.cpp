#include "pg/plan/expression.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "exec/expression.h"
#include "exec/functions.h"
#include "pg/bridge/bridge.h"
#include "pg/node/value.h"
#include "pg/plan/outer_reference.h"
#include "pg/plan/regex.h"
#include "pg/plan/sql_type.h"
#include "pg/plan/time_zone.h"
#include "plan/numeric_expr.h"
#include "plan/numeric_type.h"

extern "C" {
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::Type;
using plan::TypeId;

int find_leaf(const Scope& scope, const Node* node) {
    return pg_call([&] { return find_leaf_maylongjmp(scope, node); });
}

int find_leaf_maylongjmp(const Scope& scope, const Node* node) noexcept {
    for (size_t i = 0; i < scope.size(); ++i) {
        const Node* leaf = scope[i].node;
        if (leaf == nullptr || nodeTag(leaf) != nodeTag(node)) continue;
        if (IsA(node, Var)) {
            const auto* a = reinterpret_cast<const Var*>(leaf);
            const auto* b = reinterpret_cast<const Var*>(node);
            if (a->varno == b->varno && a->varattno == b->varattno) return static_cast<int>(i);
        } else if (equal(leaf, node)) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

bool cannot_fault(const Expr& expr) {
    if (expr.kind == ExprKind::kHost) return false;
    // A call that returns a boolean is a comparison or LIKE.
    if (expr.kind == ExprKind::kCall && expr.type.id != TypeId::kBool) return false;
    return std::all_of(expr.args.begin(), expr.args.end(), cannot_fault);
}

namespace {

constexpr Type kBool = plan::make_type(TypeId::kBool);

Expr make(ExprKind kind, Type type, std::vector<Expr> args) {
    Expr expr;
    expr.kind = kind;
    expr.type = type;
    expr.args = std::move(args);
    return expr;
}

std::string function_name(Oid function) {
    const char* name = pg_call([&] { return get_func_name(function); });
    return name != nullptr ? name : "?";
}

std::string type_name(Oid type, int32 typmod = -1) {
    return pg_call([&] { return format_type_with_typemod(type, typmod); });
}

bool is_null_constant(const Expr& expr) {
    return expr.kind == ExprKind::kConstant && !expr.value.known();
}

// What only execution can bind: columns, aggregates, subplans, sets, and the parameters among the
// Bitmapset `varying`.
bool depends_on_rows(Node* node, void* varying) {
    if (node == nullptr) return false;
    switch (nodeTag(node)) {
        case T_Param: {
            const auto* param = reinterpret_cast<Param*>(node);
            return param->paramkind == PARAM_EXEC &&
                   bms_is_member(param->paramid, static_cast<Bitmapset*>(varying));
        }
        case T_Var:
        case T_Aggref:
        case T_GroupingFunc:
        case T_WindowFunc:
        case T_SubPlan:
        case T_AlternativeSubPlan:
        case T_CaseTestExpr:
        case T_CoerceToDomainValue:
        case T_CurrentOfExpr:
        case T_NextValueExpr:
            return true;
        default:
            return walk_expression(node, depends_on_rows, varying);
    }
}

bool is_text(const Expr& expr) {
    return plan::is_text(expr.type.id);
}

// Functions of text whose results depend on no collation, as long as equal means equal bytes.
bool ignores_collation(const std::string& name) {
    static constexpr std::string_view kNames[] = {"texteq",      "textne",       "textlike",
                                                  "textnlike",   "like",         "notlike",
                                                  "bpcharlike",  "bpcharnlike",  "bpchareq",
                                                  "bpcharne",    "starts_with",  "length",
                                                  "char_length", "octet_length", "bit_length",
                                                  "substring",   "substr",       "textcat",
                                                  "strpos",      "position",     "replace",
                                                  "left",        "right",        "btrim",
                                                  "ltrim",       "rtrim",        "lpad",
                                                  "rpad",        "repeat",       "reverse",
                                                  "text",        "varchar",      "bpchar",
                                                  "split_part",  "translate",    "md5",
                                                  "ascii",       "count",        "character_length",
                                                  "extract",     "date_part",    "date_trunc",
                                                  "timezone"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// Those among them that want one all the same, to know that it is deterministic.
bool asks_for_collation(const std::string& name) {
    static constexpr std::string_view kNames[] = {
        "texteq",  "textne",     "textlike", "textnlike",   "like",
        "notlike", "bpcharlike", "bpchareq", "bpcharnlike", "bpcharne",
        "strpos",  "replace",    "position", "starts_with", "split_part"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

constexpr Oid kFirstUserObject = 16384;
constexpr const char* kNoSuchExpression = "the engine has no such expression";

}  // namespace

Translator::Result Translator::refuse(std::string reason) {
    if (reason_.empty()) reason_ = std::move(reason);
    return std::nullopt;
}

bool Translator::is_host_expression(Node* node) const {
    return pg_call([&] {
        return !depends_on_rows(node, outer_.varying) && !contain_volatile_functions(node) &&
               !expression_returns_set(node);
    });
}

std::optional<Expr> Translator::translate(Node* node, const Scope& scope) {
    Result result = translate_with_outer(node, scope);
    if (!result || !has_outer(*result)) return result;
    return refuse("a value of an enclosing query");
}

std::optional<Expr> Translator::translate_with_outer(Node* node, const Scope& scope) {
    scope_ = &scope;
    reason_.clear();
    case_tests_.clear();
    const Mark before = mark();
    Result result = walk(node);
    if (result) {
        reason_.clear();
        if (exec::supports(*result, &reason_)) return result;
        go_back(before);
        result = host_call(node);
        if (result && exec::supports(*result, nullptr)) return result;
    }
    go_back(before);
    return refuse(kNoSuchExpression);
}

std::optional<Expr> Translator::translate_natively(Node* node, const Scope& scope) {
    const HostCalls allowed = std::exchange(calls_allowed_, HostCalls::kNone);
    Result result = translate(node, scope);
    calls_allowed_ = allowed;
    return result;
}

// Prefers what the engine computes itself; what has no columns may be left to the backend.
Translator::Result Translator::walk(Node* node) {
    if (node == nullptr) return refuse("an expression is missing");
    pg_call([] { check_stack_depth(); });
    const Mark before = mark();
    const std::string reason = reason_;
    Result result = native(node);
    if (result && !plan::columns_of(*result).empty()) return result;
    if (IsA(node, Const)) return result;
    if (result && exec::supports(*result, nullptr)) return result;
    if (is_host_expression(node)) {
        go_back(before);
        reason_ = reason;
        const Oid oid = exprType(node);
        return host_parameter(node, engine_type(oid, exprTypmod(node)), false);
    }
    if (result) return result;
    go_back(before);
    result = host_call(node);
    if (result) reason_ = reason;
    return result;
}

// Leaves an expression to PostgreSQL, as a step of the engine's plan.
Translator::Result Translator::host_call(Node* node) {
    if (calls_allowed_ == HostCalls::kNone) return std::nullopt;
    if (!may_be_host_call(node, calls_allowed_ == HostCalls::kLeakproof)) return std::nullopt;
    const auto type = engine_type(exprType(node), exprTypmod(node));
    if (!type) return std::nullopt;
    const HostLeaves leaves = host_leaves(node);
    if (!leaves.is_closed || leaves.nodes == NIL) return std::nullopt;
    const Mark before = mark();
    Expr expr = make(ExprKind::kHost, *type, {});
    const ListCell* cell;
    foreach (cell, leaves.nodes) {
        auto* leaf = static_cast<Node*>(lfirst(cell));
        // A leaf itself has been tried.
        Result arg = leaf == node ? std::nullopt : walk(leaf);
        if (!arg) {
            go_back(before);
            return std::nullopt;
        }
        expr.args.push_back(std::move(*arg));
    }
    HostCall call = make_host_call(node, leaves);
    call.type = *type;
    call.reason = reason_.empty() ? kNoSuchExpression : reason_;
    expr.value = column::Scalar::of_bytes(call.text);
    const auto known = std::find_if(calls_.begin(), calls_.end(), [&](const HostCall& other) {
        return pg_call([&] { return equal(other.expr, call.expr); });
    });
    expr.index = static_cast<int32_t>(known - calls_.begin());
    if (known == calls_.end()) calls_.push_back(std::move(call));
    return expr;
}

Translator::Result Translator::host_parameter(Node* node, std::optional<Type> type, bool is_list) {
    if (!type)
        return refuse("a parameter of type " + type_name(exprType(node), exprTypmod(node)) +
                      " has no type of the engine");
    Expr expr;
    expr.kind = ExprKind::kParameter;
    expr.type = *type;
    for (size_t i = 0; i < parameters_.size(); ++i) {
        const HostParameter& known = parameters_[i];
        if (known.type == *type && known.is_list == is_list &&
            pg_call([&] { return equal(known.expr, node); })) {
            expr.index = static_cast<int32_t>(i);
            return expr;
        }
    }
    expr.index = static_cast<int32_t>(parameters_.size());
    parameters_.push_back({node, *type, is_list});
    return expr;
}

Translator::Result Translator::native(Node* node) {
    switch (nodeTag(node)) {
        case T_Var:
        case T_Aggref:
        case T_GroupingFunc:
        case T_WindowFunc:
        case T_SubPlan: {
            const int column = find_leaf(*scope_, node);
            if (column >= 0) {
                const Leaf& leaf = (*scope_)[static_cast<size_t>(column)];
                return leaf.value ? *leaf.value : plan::make_column(column, leaf.type);
            }
            if (IsA(node, SubPlan)) return refuse("a subquery that runs once a row");
            if (IsA(node, GroupingFunc)) return refuse("GROUPING without grouping sets");
            if (IsA(node, WindowFunc))
                return refuse("window function " +
                              function_name(reinterpret_cast<WindowFunc*>(node)->winfnoid));
            if (IsA(node, Aggref))
                return refuse("aggregate " +
                              function_name(reinterpret_cast<Aggref*>(node)->aggfnoid));
            return refuse("a column of type " + type_name(exprType(node), exprTypmod(node)) +
                          " cannot be read by the engine");
        }
        case T_Const:
            return walk_constant(reinterpret_cast<Const*>(node));
        case T_Param:
            return walk_parameter(reinterpret_cast<Param*>(node));
        case T_FuncExpr: {
            auto* call = reinterpret_cast<FuncExpr*>(node);
            if (call->funcretset || call->funcvariadic) return refuse("a set or variadic function");
            return walk_call(call->funcid, call->args, call->inputcollid, "function");
        }
        case T_OpExpr: {
            auto* call = reinterpret_cast<OpExpr*>(node);
            if (call->opretset) return refuse("an operator that returns a set");
            return walk_call(call->opfuncid, call->args, call->inputcollid, "function");
        }
        case T_DistinctExpr:
        case T_NullIfExpr: {
            auto* call = reinterpret_cast<OpExpr*>(node);
            Result equality = walk_call(call->opfuncid, call->args, call->inputcollid, "function");
            if (!equality) return std::nullopt;
            const bool distinct = IsA(node, DistinctExpr);
            equality->kind = distinct ? ExprKind::kIsDistinct : ExprKind::kNullIf;
            if (!distinct) equality->type = equality->args[0].type;
            return equality;
        }
        case T_ScalarArrayOpExpr:
            return walk_array_operator(reinterpret_cast<ScalarArrayOpExpr*>(node));
        case T_BoolExpr:
            return walk_boolean(reinterpret_cast<BoolExpr*>(node));
        case T_NullTest:
            return walk_null_test(reinterpret_cast<NullTest*>(node));
        case T_BooleanTest:
            return walk_boolean_test(reinterpret_cast<BooleanTest*>(node));
        case T_CaseExpr:
            return walk_case(reinterpret_cast<CaseExpr*>(node));
        case T_CaseTestExpr:
            if (case_tests_.empty()) return refuse("a placeholder of CASE");
            return case_tests_.back();
        case T_CoalesceExpr:
            return walk_choice(ExprKind::kCoalesce, reinterpret_cast<CoalesceExpr*>(node)->args,
                               InvalidOid);
        case T_MinMaxExpr: {
            auto* expr = reinterpret_cast<MinMaxExpr*>(node);
            const Oid compare = pg_call(
                [&] { return lookup_type_cache(expr->minmaxtype, TYPECACHE_CMP_PROC)->cmp_proc; });
            if (pg_call([&] { return type_is_collatable(expr->minmaxtype); }) &&
                !orders_by_bytes(expr->inputcollid))
                return refuse("the collation does not order text by bytes");
            return walk_choice(expr->op == IS_GREATEST ? ExprKind::kGreatest : ExprKind::kLeast,
                               expr->args, compare);
        }
        case T_RelabelType:
            return walk_relabel(reinterpret_cast<RelabelType*>(node));
        case T_AlternativeSubPlan:
            return refuse("a subquery that runs once a row");
        case T_CoerceViaIO:
            return refuse("a cast by way of text");
        default:
            return std::nullopt;
    }
}

Translator::Result Translator::walk_parameter(const Param* param) {
    if (param->paramkind != PARAM_EXEC) return std::nullopt;
    // In the condition of an IN such a parameter stands for a column of the subquery.
    const int column = find_leaf(*scope_, reinterpret_cast<const Node*>(param));
    if (column >= 0) return plan::make_column(column, (*scope_)[static_cast<size_t>(column)].type);
    for (const OuterParameters::Known& known : outer_.known)
        if (known.number == param->paramid)
            return plan::make_column(kOuterColumn + known.number, known.type);
    if (bms_is_member(param->paramid, outer_.varying))
        return refuse("a value of an enclosing query");
    return std::nullopt;
}

Translator::Result Translator::walk_constant(const Const* constant) {
    const auto type = engine_type(constant->consttype, constant->consttypmod);
    if (constant->consttype == NUMERICOID) {
        // NULL takes the scale of what it meets (unify); others bring theirs along.
        if (constant->constisnull) return plan::make_constant(plan::make_numeric(1, 0), {});
        const auto number = scaled_number(constant->constvalue);
        if (!number) return refuse("a numeric constant that 38 digits cannot hold");
        if (number->scale > plan::kMaxPrecision)
            return plan::make_constant(plan::make_decimal(),
                                       plan::decimal_scalar({number->unscaled, number->scale}));
        return plan::make_constant(
            plan::make_numeric(std::max({number->digits, number->scale, 1}), number->scale),
            column::Scalar::of_int(number->unscaled));
    }
    if (!type) return refuse("a constant of type " + type_name(constant->consttype));
    if (constant->constisnull) return plan::make_constant(*type, {});
    auto scalar = to_scalar(constant->constvalue, *type);
    if (!scalar) return refuse("a constant that the engine cannot hold");
    return plan::make_constant(*type, std::move(*scalar));
}

bool Translator::all_args(List* args, std::vector<Expr>* out) {
    const ListCell* cell;
    foreach (cell, args) {
        Result arg = walk(static_cast<Node*>(lfirst(cell)));
        if (!arg) return false;
        out->push_back(std::move(*arg));
    }
    return true;
}

bool Translator::allows_collation(Oid function, Oid collation, const std::vector<Expr>& args) {
    if (std::none_of(args.begin(), args.end(), is_text)) return true;
    if (is_c_collation(collation)) return true;
    if (!OidIsValid(collation)) {
        // PostgreSQL says which collations are in conflict.
        const std::string name = function_name(function);
        return ignores_collation(name) && !asks_for_collation(name);
    }
    if (!has_plain_equality(collation)) {
        refuse("the collation is not deterministic");
        return false;
    }
    const std::string name = function_name(function);
    if (ignores_collation(name)) return true;
    if (is_regex(function) && regex_ignores_collation(function, collation)) return true;
    static constexpr std::string_view kOrders[] = {
        "text_lt",  "text_le",  "text_gt",       "text_ge",       "bttextcmp", "text_larger",
        "bpcharlt", "bpcharle", "bpchargt",      "bpcharge",      "bpcharcmp", "text_smaller",
        "min",      "max",      "bpchar_larger", "bpchar_smaller"};
    if (std::find(std::begin(kOrders), std::end(kOrders), name) != std::end(kOrders)) {
        if (orders_by_bytes(collation)) return true;
        refuse("the collation does not order text by bytes");
        return false;
    }
    refuse("function " + name + " depends on the collation");
    return false;
}

Translator::Result Translator::walk_call(Oid function, List* args, Oid collation,
                                         const char* what) {
    if (function >= kFirstUserObject)
        return refuse(std::string(what) + " " + function_name(function) +
                      " is not one of PostgreSQL's own");
    std::vector<Expr> arguments;
    if (!all_args(args, &arguments) || !allows_collation(function, collation, arguments))
        return std::nullopt;
    if (Result zoned = zoned_call(function, arguments)) return zoned;
    std::string reason;
    if (exec::find_function(function) == nullptr)
        return refuse(std::string(what) + " " + function_name(function) +
                      " is not one of the engine's");
    if (is_regex(function) && arguments[1].kind == ExprKind::kConstant)
        arguments[1].index = regex_locale(collation);
    const auto type = exec::result_type(function, arguments, &reason);
    if (!type)
        return refuse(reason.empty() ? std::string(what) + " " + function_name(function) : reason);
    if (is_regex(function) && !is_valid_regex(function, collation, arguments[1].value.bytes))
        return refuse("a regular expression that is none");
    return plan::make_call(function, *type, std::move(arguments));
}

Translator::Result Translator::session_zone_argument() {
    auto zone = session_zone_constant();
    if (!zone) return std::nullopt;
    session_zone_ = session_zone_name();
    return plan::make_constant(plan::make_type(TypeId::kText),
                               column::Scalar::of_bytes(std::move(*zone)));
}

// Functions of moments in a time zone, the session's or a named one: by way of its local time. What
// is not among them, or in a zone that the engine has no table for, is nothing.
Translator::Result Translator::zoned_call(Oid function, std::vector<Expr>& args) {
    constexpr Type kLocal = plan::make_type(TypeId::kTimestamp);
    constexpr Type kMoment = plan::make_type(TypeId::kTimestampTz);
    std::string ignored;
    const auto in_zone = [&](Oid by, Type type, Expr value) -> Result {
        Result zone = session_zone_argument();
        if (!zone) return std::nullopt;
        return plan::make_call(by, type, {std::move(*zone), std::move(value)});
    };
    const auto local = [&](Expr moment) {
        return in_zone(F_TIMEZONE_TEXT_TIMESTAMPTZ, kLocal, std::move(moment));
    };
    const auto over_local = [&](Oid by, std::vector<Expr> before, Expr moment) -> Result {
        Result value = local(std::move(moment));
        if (!value) return std::nullopt;
        before.push_back(std::move(*value));
        const auto type = exec::result_type(by, before, &ignored);
        if (!type) return std::nullopt;
        return plan::make_call(by, *type, std::move(before));
    };
    const auto named = [&](Expr& zone) {
        if (zone.kind != ExprKind::kConstant || !zone.value.known()) return false;
        auto bytes = zone_constant(zone.value.bytes);
        if (bytes) zone.value.bytes = std::move(*bytes);
        return bytes.has_value();
    };
    switch (function) {
        case F_TIMEZONE_TEXT_TIMESTAMPTZ:
        case F_TIMEZONE_TEXT_TIMESTAMP:
            if (!named(args[0])) return std::nullopt;
            return plan::make_call(function,
                                   function == F_TIMEZONE_TEXT_TIMESTAMPTZ ? kLocal : kMoment,
                                   std::move(args));
        case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
            if (!named(args[2])) return std::nullopt;
            return plan::make_call(function, kMoment, std::move(args));
        case F_DATE_TRUNC_TEXT_TIMESTAMPTZ: {
            Result zone = session_zone_argument();
            if (!zone) return std::nullopt;
            args.push_back(std::move(*zone));
            const auto type = exec::result_type(F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, args, &ignored);
            if (!type) return std::nullopt;
            return plan::make_call(F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT, *type, std::move(args));
        }
        case F_TIMESTAMP_TIMESTAMPTZ:
            return local(std::move(args[0]));
        case F_TIMESTAMPTZ_TIMESTAMP:
            return in_zone(F_TIMEZONE_TEXT_TIMESTAMP, kMoment, std::move(args[0]));
        case F_TIMESTAMPTZ_DATE: {
            Expr midnight = plan::make_call(F_TIMESTAMP_DATE, kLocal, {std::move(args[0])});
            return in_zone(F_TIMEZONE_TEXT_TIMESTAMP, kMoment, std::move(midnight));
        }
        case F_DATE_TIMESTAMPTZ:
            return over_local(F_DATE_TIMESTAMP, {}, std::move(args[0]));
        case F_EXTRACT_TEXT_TIMESTAMPTZ:
        case F_DATE_PART_TEXT_TIMESTAMPTZ:
            // Seconds since 1970 are the moment's, not those of local time.
            if (args[0].kind != ExprKind::kConstant || args[0].value.bytes == "epoch")
                return std::nullopt;
            return over_local(function == F_EXTRACT_TEXT_TIMESTAMPTZ ? F_EXTRACT_TEXT_TIMESTAMP
                                                                     : F_DATE_PART_TEXT_TIMESTAMP,
                              {args[0]}, std::move(args[1]));
        case F_TIMESTAMPTZ_PL_INTERVAL:
        case F_TIMESTAMPTZ_MI_INTERVAL:
            return zoned_sum(function, args);
        default:
            return std::nullopt;
    }
}

// A moment and months and days, which are counted in local time, one after the other.
Translator::Result Translator::zoned_sum(Oid function, const std::vector<Expr>& args) {
    constexpr Type kLocal = plan::make_type(TypeId::kTimestamp);
    constexpr Type kMoment = plan::make_type(TypeId::kTimestampTz);
    plan::Interval span;
    const column::Scalar& value = args[1].value;
    if (args[1].kind != ExprKind::kConstant || value.bytes.size() != sizeof span)
        return std::nullopt;
    std::memcpy(&span, value.bytes.data(), sizeof span);
    if (span.months == 0 && span.days == 0) return std::nullopt;
    const auto part = [&](const plan::Interval& interval) {
        return plan::make_constant(args[1].type,
                                   column::Scalar::of_bytes(std::string(
                                       reinterpret_cast<const char*>(&interval), sizeof interval)));
    };
    const Oid local_sum =
        function == F_TIMESTAMPTZ_PL_INTERVAL ? F_TIMESTAMP_PL_INTERVAL : F_TIMESTAMP_MI_INTERVAL;
    Expr sum = args[0];
    for (const plan::Interval& step :
         {plan::Interval{0, 0, span.months}, plan::Interval{0, span.days, 0}}) {
        if (step.months == 0 && step.days == 0) continue;
        const Result zone = session_zone_argument();
        if (!zone) return std::nullopt;
        Expr local = plan::make_call(F_TIMEZONE_TEXT_TIMESTAMPTZ, kLocal, {*zone, std::move(sum)});
        local = plan::make_call(local_sum, kLocal, {std::move(local), part(step)});
        sum = plan::make_call(F_TIMEZONE_TEXT_TIMESTAMP, kMoment, {*zone, std::move(local)});
    }
    if (span.microseconds == 0) return sum;
    return plan::make_call(function, kMoment,
                           {std::move(sum), part(plan::Interval{span.microseconds, 0, 0})});
}

Translator::Result Translator::walk_array_operator(const ScalarArrayOpExpr* expr) {
    Result left = walk(static_cast<Node*>(linitial(expr->args)));
    if (!left) return std::nullopt;
    auto* array = static_cast<Node*>(lsecond(expr->args));
    if (expr->opfuncid >= kFirstUserObject) return refuse("an operator of an extension");
    const Oid element = pg_call([&] { return get_base_element_type(exprType(array)); });
    std::optional<Type> type = element == NUMERICOID && left->type.id == TypeId::kNumeric
                                   ? left->type
                                   : engine_type(element, -1);
    if (!type) return refuse("an array of " + type_name(element));
    Expr result = make(expr->useOr ? ExprKind::kAnyOf : ExprKind::kAllOf, kBool, {});
    result.function = expr->opfuncid;
    result.args.push_back(std::move(*left));
    if (!allows_collation(expr->opfuncid, expr->inputcollid, result.args)) return std::nullopt;
    if (IsA(array, Const)) {
        const auto* constant = reinterpret_cast<Const*>(array);
        result.list_null = constant->constisnull;
        if (result.list_null) return result;
        auto list = to_scalars(constant->constvalue, *type);
        if (!list && element == NUMERICOID) {
            // Elements with more digits behind the point than the value's type has.
            list = to_scalars(constant->constvalue, plan::make_decimal());
            result.args[0] = plan::as_decimal(std::move(result.args[0]));
        }
        if (!list) return refuse("an array element that the engine cannot hold");
        result.list = std::move(*list);
        return result;
    }
    if (!is_host_expression(array)) return refuse("an array that depends on rows");
    const Result parameter = host_parameter(array, type, true);
    if (!parameter) return std::nullopt;
    result.index = parameter->index;
    return result;
}

Translator::Result Translator::walk_boolean(const BoolExpr* expr) {
    std::vector<Expr> args;
    if (!all_args(expr->args, &args)) return std::nullopt;
    const ExprKind kind = expr->boolop == AND_EXPR  ? ExprKind::kAnd
                          : expr->boolop == OR_EXPR ? ExprKind::kOr
                                                    : ExprKind::kNot;
    return make(kind, kBool, std::move(args));
}

Translator::Result Translator::unary(ExprKind kind, Node* arg) {
    Result inner = walk(arg);
    if (!inner) return std::nullopt;
    return make(kind, kBool, {std::move(*inner)});
}

Translator::Result Translator::walk_null_test(const NullTest* test) {
    if (test->argisrow) return refuse("IS NULL of a row");
    return unary(test->nulltesttype == IS_NULL ? ExprKind::kIsNull : ExprKind::kIsNotNull,
                 reinterpret_cast<Node*>(test->arg));
}

Translator::Result Translator::walk_boolean_test(const BooleanTest* test) {
    auto* arg = reinterpret_cast<Node*>(test->arg);
    switch (test->booltesttype) {
        case IS_TRUE:
            return unary(ExprKind::kIsTrue, arg);
        case IS_NOT_TRUE:
            return unary(ExprKind::kIsNotTrue, arg);
        case IS_FALSE:
            return unary(ExprKind::kIsFalse, arg);
        case IS_NOT_FALSE:
            return unary(ExprKind::kIsNotFalse, arg);
        case IS_UNKNOWN:
            return unary(ExprKind::kIsNull, arg);
        case IS_NOT_UNKNOWN:
            return unary(ExprKind::kIsNotNull, arg);
    }
    return std::nullopt;
}

// Gives all values one type; NULL constants take the type of the others.
bool Translator::unify(std::vector<Expr*> values, Type* type) {
    std::optional<Type> common;
    for (const Expr* value : values) {
        if (is_null_constant(*value)) continue;
        if (!common) {
            common = value->type;
        } else if (common->id == TypeId::kNumeric && value->type.id == TypeId::kNumeric) {
            common = plan::numeric_choice_type(*common, value->type);
        } else if (!(*common == value->type)) {
            refuse("values of different types to choose from");
            return false;
        }
    }
    if (!common) common = values.front()->type;
    for (Expr* value : values)
        if (is_null_constant(*value)) value->type = *common;
    *type = *common;
    return true;
}

Translator::Result Translator::walk_case(const CaseExpr* expr) {
    const bool with_value = expr->arg != nullptr;
    if (with_value) {
        Result value = walk(reinterpret_cast<Node*>(expr->arg));
        if (!value) return std::nullopt;
        case_tests_.push_back(std::move(*value));
    }
    std::vector<Expr> args;
    const ListCell* cell;
    bool ok = true;
    foreach (cell, expr->args) {
        auto* when = lfirst_node(CaseWhen, cell);
        Result condition = walk(reinterpret_cast<Node*>(when->expr));
        // The value of this CASE means nothing inside its results' own CASEs.
        std::vector<Expr> tests = std::exchange(case_tests_, {});
        Result result = condition ? walk(reinterpret_cast<Node*>(when->result)) : std::nullopt;
        case_tests_ = std::move(tests);
        if (!(ok = result.has_value())) break;
        args.push_back(std::move(*condition));
        args.push_back(std::move(*result));
    }
    if (with_value) case_tests_.pop_back();
    if (!ok) return std::nullopt;
    if (expr->defresult != nullptr) {
        Result otherwise = walk(reinterpret_cast<Node*>(expr->defresult));
        if (!otherwise) return std::nullopt;
        args.push_back(std::move(*otherwise));
    } else {
        args.push_back(plan::make_constant(args[1].type, {}));
    }
    std::vector<Expr*> values;
    for (size_t i = 1; i < args.size(); i += 2) values.push_back(&args[i]);
    if (args.size() % 2 == 1) values.push_back(&args.back());
    Type type;
    if (!unify(values, &type)) return std::nullopt;
    return make(ExprKind::kCase, type, std::move(args));
}

Translator::Result Translator::walk_choice(ExprKind kind, List* list, Oid function) {
    std::vector<Expr> args;
    if (!all_args(list, &args)) return std::nullopt;
    std::vector<Expr*> values;
    values.reserve(args.size());
    for (Expr& arg : args) values.push_back(&arg);
    Type type;
    if (!unify(values, &type)) return std::nullopt;
    Expr result = make(kind, type, std::move(args));
    result.function = function;
    return result;
}

// Between types of one representation (text and varchar) a cast does nothing.
Translator::Result Translator::walk_relabel(const RelabelType* relabel) {
    Result arg = walk(reinterpret_cast<Node*>(relabel->arg));
    if (!arg) return std::nullopt;
    const Oid source = exprType(reinterpret_cast<Node*>(relabel->arg));
    const auto from = engine_type(source, -1);
    const auto to = engine_type(relabel->resulttype, -1);
    if (source == relabel->resulttype || (from && to && *from == *to)) return arg;
    return refuse("a cast from " + type_name(source) + " to " + type_name(relabel->resulttype));
}

}  // namespace loom::pg
