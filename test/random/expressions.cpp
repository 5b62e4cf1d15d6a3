// Expressions: columns, constants, calls of the engine's functions, choices.

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/core.h>

#include "functions/edge_values.h"
#include "functions/sql_literal.h"
#include "query_maker.h"

namespace loom::test {

using plan::TypeId;

std::string type_name(TypeId type) {
    // Of the types that the engine only hands on there is one.
    if (type == TypeId::kOpaque) return "integer[]";
    return type == TypeId::kNumeric ? "numeric" : to_string(plan::make_type(type));
}

namespace {

bool is_integer(TypeId type) {
    return type == TypeId::kInt2 || type == TypeId::kInt4 || type == TypeId::kInt8;
}

bool is_float(TypeId type) {
    return type == TypeId::kFloat4 || type == TypeId::kFloat8;
}

// Whether equal values of a computed expression print alike. A computed numeric may have any
// display scale, and a float may be a negative zero.
bool is_canonical_type(TypeId type) {
    return type != TypeId::kNumeric && type != TypeId::kBpchar && type != TypeId::kInterval &&
           !is_float(type);
}

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'') result += '\'';
        result += c;
    }
    return result + "'";
}

// Functions whose result grows with a number.
bool makes_long_text(const exec::FunctionInfo& info) {
    return info.name == "repeat" || info.name == "lpad" || info.name == "rpad";
}

const std::vector<const exec::FunctionInfo*>& functions_of(TypeId type) {
    static const auto by_type = [] {
        std::array<std::vector<const exec::FunctionInfo*>, 32> lists;
        for (const exec::FunctionInfo& info : exec::registered_functions())
            lists[static_cast<size_t>(info.result)].push_back(&info);
        return lists;
    }();
    return by_type[static_cast<size_t>(type)];
}

}  // namespace

// Mostly values that the tables have; where errors are welcome, also the ends of the types.
std::string QueryMaker::literal(TypeId type) {
    if (random_.chance(3)) return "NULL::" + type_name(type);
    if (type == TypeId::kOpaque)
        return fmt::format("'{}'::integer[]",
                           random_.pick({"{}", "{1}", "{1,2}", "{NULL,3}", "{{1,2},{3,4}}"}));
    if (!is_tame_ || random_.chance(10)) {
        if (type == TypeId::kNumeric)
            return random_.pick({"99999999999999999999999999999999999999::numeric",
                                 "0.00000000000000000001::numeric", "'NaN'::numeric", "0::numeric",
                                 "-1.005::numeric", "'Infinity'::numeric",
                                 "123456789012345678901234567890123456789012.5::numeric"});
        const plan::Type full = plan::make_type(type);
        return sql_literal(full, random_.pick(edge_values(full)));
    }
    const std::string cast = "::" + type_name(type);
    switch (type) {
        case TypeId::kBool:
            return random_.pick({"true", "false"});
        case TypeId::kInt2:
        case TypeId::kInt4:
        case TypeId::kInt8:
            return fmt::format("({}){}", random_.between(-3, random_.chance(50) ? 9 : 600), cast);
        case TypeId::kFloat4:
        case TypeId::kFloat8:
            return fmt::format("'{}'{}", random_.pick({"0.5", "-1.5", "3", "100", "0.1"}), cast);
        case TypeId::kNumeric:
            return fmt::format(
                "({}){}", random_.pick({"0.5", "-1.50", "3", "100.00", "0.1", "12345.6789"}), cast);
        case TypeId::kDate:
        case TypeId::kTimestamp:
        case TypeId::kTimestampTz:
            return fmt::format("'{}-{:02}-{:02}{}'{}", random_.between(1995, 2030),
                               random_.between(1, 12), random_.between(1, 28),
                               type == TypeId::kDate ? "" : " 12:30:00", cast);
        case TypeId::kTime:
            return fmt::format("'{:02}:30:00'{}", random_.between(0, 23), cast);
        case TypeId::kInterval:
            return fmt::format("'{}'{}",
                               random_.pick({"1 day", "-3 hours", "1 month", "90 minutes",
                                             "1 year 2 days 00:00:00.5", "0"}),
                               cast);
        case TypeId::kText:
        case TypeId::kBpchar:
            return quoted(random_.pick(
                       {"", "a", "ab", "ä", "日本", "zz", "abc", "a_b", "b c", "row 12", "'"})) +
                   cast;
        case TypeId::kBytea:
            return fmt::format("'\\x{}'{}", random_.pick({"", "00", "41ff", "80", "7f01"}), cast);
        case TypeId::kUuid:
            return fmt::format("'7fffffff-0000-4000-8000-{:012x}'{}", random_.below(300), cast);
        case TypeId::kOpaque:
        case TypeId::kOpaqueWord:
            break;
    }
    return "NULL";
}

Value QueryMaker::constant(TypeId type) {
    SqlTree tree = sql(literal(type));
    if (has_parameters_ && random_.chance(60)) {
        tree.values = {tree.before, literal(type), literal(type)};
        tree.before.clear();
    }
    return {typed(type, std::move(tree)), type, true};
}

Value QueryMaker::leaf(TypeId type, const Scope& scope) {
    std::vector<Value> columns;
    for (const Scope* level = &scope; level != nullptr; level = level->outer)
        for (const Visible& column : level->columns) {
            if (column.type != type) continue;
            if (is_tame_ && !column.is_tame && !random_.chance(10)) continue;
            // What surrounds a subquery is asked for on purpose only (subquery_condition).
            if (level != &scope && !random_.chance(10)) continue;
            columns.push_back({typed(type, sql(column.sql)), type, column.is_canonical});
        }
    if (columns.empty() || random_.chance(9)) return constant(type);
    return random_.pick(columns);
}

// Operators as people write them.
std::optional<Value> QueryMaker::infix(TypeId type, int depth, const Scope& scope) {
    const char* sign = nullptr;
    if (is_integer(type))
        sign = random_.pick({" + ", " - ", " * ", " / ", " % ", " & ", " | "});
    else if (type == TypeId::kNumeric || is_float(type))
        sign = random_.pick({" + ", " - ", " * ", " / "});
    else if (type == TypeId::kText)
        sign = " || ";
    if (sign == nullptr) return std::nullopt;
    Value left = expression(type, depth - 1, scope);
    Value right = expression(type, depth - 1, scope);
    const bool divides = sign[1] == '/' || sign[1] == '%';
    if (divides && is_tame_)
        right.tree = typed(type, sql("nullif(", {std::move(right.tree), sql("0")}, ", ", ")"));
    const bool keeps_scale =
        type == TypeId::kNumeric && !divides && left.is_canonical && right.is_canonical;
    return Value{typed(type, sql("(", {std::move(left.tree), std::move(right.tree)}, sign, ")")),
                 type, is_canonical_type(type) || keeps_scale};
}

std::optional<Value> QueryMaker::call(TypeId type, int depth, const Scope& scope) {
    const auto& functions = functions_of(type);
    if (functions.empty()) return std::nullopt;
    const exec::FunctionInfo* info = random_.pick(functions);
    for (int i = 0; i < 4 && is_tame_ && info->may_fault && !random_.chance(15); ++i)
        info = random_.pick(functions);
    std::vector<SqlTree> args;
    for (int i = 0; i < info->arguments; ++i) {
        const TypeId argument = info->types[i];
        if ((info->constant_arguments >> i & 1) != 0) {
            const auto values = constant_arguments(*info, i);
            args.push_back(sql(sql_literal(plan::make_type(argument), random_.pick(values))));
        } else if (makes_long_text(*info) && is_integer(argument)) {
            args.push_back(sql(std::to_string(random_.between(-1, 9))));
        } else {
            args.push_back(expression(argument, depth - 1, scope).tree);
        }
    }
    return Value{
        typed(type, sql(fmt::format("pg_catalog.\"{}\"(", info->name), std::move(args), ", ", ")")),
        type, is_canonical_type(type)};
}

namespace {

// What PostgreSQL has and the engine has not; `%` stands for an argument. None depends on settings
// that a session changes.
struct ForeignCall {
    TypeId result;
    TypeId argument;
    const char* before;
    const char* after;
    bool may_fault;
};

constexpr ForeignCall kForeignCalls[] = {
    {TypeId::kText, TypeId::kText, "initcap(", ")", false},
    {TypeId::kText, TypeId::kText, "regexp_replace(", ", '[a-m]', '<\\&>')", false},
    {TypeId::kText, TypeId::kText, "quote_nullable(", ")", false},
    {TypeId::kText, TypeId::kInt4, "to_char(", ", 'S9990')", false},
    {TypeId::kText, TypeId::kTimestamp, "to_char(", ", 'IYYY-IW HH12')", false},
    {TypeId::kText, TypeId::kInt8, "(", ")::text", false},
    {TypeId::kText, TypeId::kNumeric, "trim_scale(", ")::text", false},
    {TypeId::kText, TypeId::kDate, "(", ")::text", false},
    {TypeId::kText, TypeId::kBytea, "encode(", ", 'hex')", false},
    {TypeId::kInt4, TypeId::kText, "num_nulls(", ")", false},
    {TypeId::kInt4, TypeId::kText, "cardinality(string_to_array(", ", 'a'))", false},
    {TypeId::kInt4, TypeId::kInt4, "(ARRAY[", ", 7])[1]", false},
    {TypeId::kInt4, TypeId::kText, "(", ")::int", true},
    {TypeId::kInt4, TypeId::kOpaque, "cardinality(", ")", false},
    {TypeId::kInt4, TypeId::kOpaque, "(", ")[2]", false},
    {TypeId::kOpaque, TypeId::kInt4, "(ARRAY[1, ", ", NULL])", false},
    {TypeId::kOpaque, TypeId::kOpaque, "(", ")[2:4]", false},
    {TypeId::kBool, TypeId::kOpaque, "(", " @> '{1}')", false},
    {TypeId::kText, TypeId::kOpaque, "(", ")::text", false},
    {TypeId::kInt8, TypeId::kInt8, "hashint8(", ")::bigint", false},
    {TypeId::kNumeric, TypeId::kNumeric, "trim_scale(", ")", false},
    {TypeId::kNumeric, TypeId::kNumeric, "sqrt(abs(", "))", false},
    {TypeId::kFloat8, TypeId::kFloat8, "atan2d(", ", 2)", false},
    {TypeId::kDate, TypeId::kInt4, "make_date(2000, ", ", 1)", true},
    {TypeId::kInterval, TypeId::kInt4, "make_interval(hours => ", ")", false},
    {TypeId::kBool, TypeId::kText, "(", " ~ '(a|b).*\\1')", false},
    {TypeId::kBool, TypeId::kText, "(", " COLLATE \"en-x-icu\" > 'b')", false},
    {TypeId::kBytea, TypeId::kText, "decode(md5(", "), 'hex')", false},
};

}  // namespace

std::optional<Value> QueryMaker::foreign_call(TypeId type, int depth, const Scope& scope) {
    const auto start = random_.below(std::size(kForeignCalls));
    for (size_t i = 0; i < std::size(kForeignCalls); ++i) {
        const ForeignCall& call = kForeignCalls[(start + i) % std::size(kForeignCalls)];
        if (call.result != type || (call.may_fault && is_tame_)) continue;
        SqlTree argument = expression(call.argument, depth - 1, scope).tree;
        return Value{typed(type, sql(call.before, {std::move(argument)}, "", call.after)), type,
                     is_canonical_type(type)};
    }
    return std::nullopt;
}

// CASE with one value or conditions.
Value QueryMaker::condition_case(TypeId type, int depth, const Scope& scope) {
    std::vector<SqlTree> arms;
    std::vector<SqlTree> head;
    const bool with_value = random_.chance(30);
    const TypeId tested = type_of_scope(scope);
    if (with_value) head.push_back(expression(tested, depth - 1, scope).tree);
    for (int i = random_.between(1, 3); i > 0; --i) {
        Value when = with_value ? constant(tested) : condition(depth - 1, scope);
        arms.push_back(sql(
            " WHEN ", {std::move(when.tree), expression(type, depth - 1, scope).tree}, " THEN "));
    }
    std::vector<SqlTree> otherwise;
    if (random_.chance(60)) otherwise.push_back(expression(type, depth - 1, scope).tree);
    SqlTree tree = sql("CASE",
                       {sql(" ", std::move(head)), sql_list(1, "", std::move(arms), ""),
                        sql_list(0, " ELSE ", std::move(otherwise), "")},
                       "", " END");
    return {typed(type, std::move(tree)), type, is_canonical_type(type)};
}

Value QueryMaker::choice(TypeId type, int depth, const Scope& scope) {
    if (random_.chance(45)) return condition_case(type, depth, scope);
    const char* name = random_.pick({"coalesce(", "nullif(", "greatest(", "least("});
    const bool is_pair = name[0] == 'n';
    std::vector<SqlTree> args;
    for (int i = is_pair ? 2 : random_.between(2, 3); i > 0; --i)
        args.push_back(expression(type, depth - 1, scope).tree);
    SqlTree tree = sql(name, std::move(args), ", ", ")");
    if (!is_pair) tree.least = 1;
    return {typed(type, std::move(tree)), type, is_canonical_type(type)};
}

Value QueryMaker::expression(TypeId type, int depth, const Scope& scope) {
    if (type == TypeId::kBool && depth > 0 && random_.chance(60)) return condition(depth, scope);
    if (depth <= 0 || random_.chance(35)) return leaf(type, scope);
    std::optional<Value> value;
    if (random_.chance(4)) value = scalar_subquery(type, scope);
    if (!value && random_.chance(6)) value = foreign_call(type, depth, scope);
    if (!value && random_.chance(30)) value = infix(type, depth, scope);
    if (!value && random_.chance(55)) value = call(type, depth, scope);
    return value ? std::move(*value) : choice(type, depth, scope);
}

}  // namespace loom::test
