// Conditions: comparisons, lists, patterns, subqueries.

#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "query_maker.h"

namespace loom::test {

using plan::TypeId;

namespace {

// Equality seldom holds for two random values.
constexpr const char* kComparisons[] = {" = ",  " <> ", " <> ", " < ", " < ",
                                        " <= ", " <= ", " > ",  " > ", " >= "};

// Rows for which a subquery may run once each.
constexpr double kMostOuterRows = 40;

}  // namespace

TypeId QueryMaker::type_of_scope(const Scope& scope) {
    if (!scope.columns.empty() && random_.chance(80)) return random_.pick(scope.columns).type;
    return random_.pick({TypeId::kInt4, TypeId::kInt8, TypeId::kText, TypeId::kNumeric,
                         TypeId::kFloat8, TypeId::kDate, TypeId::kInterval});
}

Value QueryMaker::comparison(int depth, const Scope& scope) {
    TypeId left = type_of_scope(scope);
    TypeId right = left;
    // Types that compare with each other without a cast.
    if (random_.chance(15)) {
        if (left == TypeId::kInt2 || left == TypeId::kInt4 || left == TypeId::kInt8)
            right = random_.pick({TypeId::kInt2, TypeId::kInt4, TypeId::kInt8});
        else if (left == TypeId::kFloat4)
            right = TypeId::kFloat8;
        else if (left == TypeId::kDate || left == TypeId::kTimestamp)
            right = random_.pick({TypeId::kDate, TypeId::kTimestamp, TypeId::kTimestampTz});
    }
    Value a = expression(left, depth - 1, scope);
    Value b = random_.chance(50) ? constant(right) : expression(right, depth - 1, scope);
    if (random_.chance(12)) {
        const char* not_distinct = random_.pick({" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "});
        return {typed(TypeId::kBool,
                      sql("(", {std::move(a.tree), std::move(b.tree)}, not_distinct, ")")),
                TypeId::kBool};
    }
    if (random_.chance(15)) {
        SqlTree bounds =
            sql("", {std::move(b.tree), expression(right, depth - 1, scope).tree}, " AND ");
        return {typed(TypeId::kBool, sql("(", {std::move(a.tree), std::move(bounds)},
                                         random_.pick({" BETWEEN ", " NOT BETWEEN "}), ")")),
                TypeId::kBool};
    }
    return {typed(TypeId::kBool, sql("(", {std::move(a.tree), std::move(b.tree)},
                                     kComparisons[random_.below(std::size(kComparisons))], ")")),
            TypeId::kBool};
}

// IN lists, and operators over arrays.
Value QueryMaker::membership(int depth, const Scope& scope) {
    const TypeId type = type_of_scope(scope);
    Value tested = expression(type, depth - 1, scope);
    std::vector<SqlTree> elements;
    for (int i = random_.between(1, random_.chance(10) ? 40 : 5); i > 0; --i)
        elements.push_back(constant(type).tree);
    // There are no arrays of arrays.
    if (type == TypeId::kOpaque || random_.chance(70)) {
        const char* in = random_.pick({" IN ", " NOT IN "});
        return {typed(TypeId::kBool, sql("(",
                                         {std::move(tested.tree),
                                          sql_list(1, "(", std::move(elements), ", ", ")")},
                                         in, ")")),
                TypeId::kBool};
    }
    const std::string op = fmt::format("{}{}", kComparisons[random_.below(std::size(kComparisons))],
                                       random_.pick({"ANY", "ALL"}));
    SqlTree array =
        sql_list(0, "(ARRAY[", std::move(elements), ", ", fmt::format("]::{}[])", type_name(type)));
    if (array.children.size() == 1) array.least = 1;
    return {typed(TypeId::kBool, sql("(", {std::move(tested.tree), std::move(array)}, op, ")")),
            TypeId::kBool};
}

Value QueryMaker::regex(const Scope& scope) {
    Value text = expression(TypeId::kText, 1, scope);
    SqlTree pattern = sql(random_.pick({"'^a'",
                                        "'a$'",
                                        "'b|日'",
                                        "'^.?$'",
                                        "'[^a-z]'",
                                        "'(a|b)+_'",
                                        "''",
                                        "'^$'",
                                        "'row 1.*[02468]$'",
                                        "'x{2}'",
                                        "'[à-ÿ]'",
                                        "'\\\\'",
                                        "'\\.'",
                                        "'\\d\\d'",
                                        "'^\\w+$'",
                                        "'(.)\\1'",
                                        "'(?i)A'",
                                        "'[[:alpha:]]$'",
                                        "'a[_-]?b'",
                                        "'row (1|2)[0-9]{2}$'"}));
    return {typed(TypeId::kBool,
                  sql("(", {std::move(text.tree), std::move(pattern)},
                      random_.pick({" ~ ", " ~ ", " !~ ", " ~* ", " !~* ", " SIMILAR TO "}), ")")),
            TypeId::kBool};
}

Value QueryMaker::like(const Scope& scope) {
    Value text = expression(TypeId::kText, 1, scope);
    SqlTree pattern =
        sql(random_.pick({"'a%'", "'%a'", "'%b%'", "'_'", "'a_b'", "'a\\_b'", "'%\\%'", "''", "'%'",
                          "'__%'", "'日_'", "'%é'", "'row 1%x%'", "'a\\\\b'", "'%x_y%'"}));
    return {typed(TypeId::kBool, sql("(", {std::move(text.tree), std::move(pattern)},
                                     random_.pick({" LIKE ", " NOT LIKE "}), ")")),
            TypeId::kBool};
}

// A column of each side that can be compared.
std::optional<std::pair<std::string, std::string>> QueryMaker::comparable_columns(
    const Scope& scope, const Scope& inner) {
    const Visible& mine = random_.pick(scope.columns);
    std::vector<Visible> found;
    for (const Visible& column : inner.columns)
        if (column.type == mine.type) found.push_back(column);
    if (found.empty()) return std::nullopt;
    return std::pair{mine.sql, random_.pick(found).sql};
}

// IN and EXISTS, mostly with a condition that ties the subquery to the row.
std::optional<Value> QueryMaker::subquery_condition(const Scope& scope) {
    if (scope.columns.empty() || levels_ > 3) return std::nullopt;
    Scope inner;
    inner.outer = &scope;
    ++levels_;
    SqlTree tables = from(inner, 0);
    --levels_;
    const Visible mine = random_.pick(scope.columns);
    std::vector<SqlTree> conditions;
    std::vector<Visible> partners;
    for (const Visible& column : inner.columns)
        if (column.type == mine.type) partners.push_back(column);
    if (partners.empty()) return std::nullopt;
    const Visible& partner = random_.pick(partners);
    Scope alone = inner;
    alone.outer = nullptr;
    if (random_.chance(50)) conditions.push_back(condition(1, alone).tree);
    const bool exists = random_.chance(50);
    if (exists) {
        conditions.push_back(
            typed(TypeId::kBool, sql(fmt::format("{} = {}", partner.sql, mine.sql))));
        // A condition over both sides without a key makes a nested loop.
        if (random_.chance(20) && scope.rows * inner.rows < 100'000)
            conditions.push_back(comparison(1, inner).tree);
    }
    SqlTree value = typed(mine.type, sql(mine.sql));
    std::string columns = partner.sql;
    // PostgreSQL compares rows that have a NULL one by one.
    if (!exists && scope.rows * inner.rows < 1'000'000) {
        const auto second = comparable_columns(scope, inner);
        if (second && random_.chance(30)) {
            value = sql(fmt::format("({}, {})", mine.sql, second->first));
            columns += ", " + second->second;
        }
        const auto tie = comparable_columns(scope, inner);
        if (tie && random_.chance(20))
            conditions.push_back(
                typed(TypeId::kBool, sql(fmt::format("{} = {}", tie->second, tie->first))));
    }
    SqlTree where = sql_list(0, " WHERE ", std::move(conditions), " AND ");
    if (exists)
        return Value{
            typed(TypeId::kBool, sql(random_.pick({"EXISTS (SELECT 1", "NOT EXISTS (SELECT 1"}),
                                     {std::move(tables), std::move(where)}, "", ")")),
            TypeId::kBool};
    SqlTree subquery =
        sql(fmt::format("(SELECT {}", columns), {std::move(tables), std::move(where)}, "", ")");
    return Value{typed(TypeId::kBool, sql("(", {std::move(value), subquery},
                                          random_.chance(60) ? " IN " : " NOT IN ", ")")),
                 TypeId::kBool};
}

// One value of one row: an aggregate without groups. Computed once, or, for few rows, once a row.
std::optional<Value> QueryMaker::scalar_subquery(TypeId type, const Scope& scope) {
    static constexpr TypeId kWithoutOrder[] = {TypeId::kBool, TypeId::kBytea, TypeId::kUuid};
    if (levels_ > 2 || std::find(std::begin(kWithoutOrder), std::end(kWithoutOrder), type) !=
                           std::end(kWithoutOrder))
        return std::nullopt;
    Scope inner;
    ++levels_;
    SqlTree tables = from(inner, 0);
    std::vector<SqlTree> conditions;
    if (random_.chance(60)) conditions.push_back(condition(1, inner).tree);
    const Value argument = canonical(leaf(type, inner));
    --levels_;
    if (argument.type != type) return std::nullopt;
    if (scope.rows <= kMostOuterRows && !scope.columns.empty() && random_.chance(70)) {
        const Visible& mine = random_.pick(scope.columns);
        for (const Visible& column : inner.columns) {
            if (column.type != mine.type) continue;
            conditions.push_back(
                typed(TypeId::kBool, sql(fmt::format("{} = {}", column.sql, mine.sql))));
            break;
        }
    }
    const char* name = type == TypeId::kInt8 && random_.chance(40) ? "count(" : nullptr;
    if (name == nullptr) name = random_.pick({"min(", "max("});
    SqlTree call = sql(name, {argument.tree}, "", ")");
    return Value{typed(type, sql("(SELECT ",
                                 {std::move(call), std::move(tables),
                                  sql_list(0, " WHERE ", std::move(conditions), " AND ")},
                                 "", ")")),
                 type, true};
}

Value QueryMaker::condition(int depth, const Scope& scope) {
    if (depth <= 0) return comparison(0, scope);
    const int choice = random_.between(0, 99);
    if (choice < 45) return comparison(depth, scope);
    if (choice < 57) return membership(depth, scope);
    if (choice < 62) return like(scope);
    if (choice < 65) return regex(scope);
    if (choice < 75) {
        const TypeId type = type_of_scope(scope);
        SqlTree tested = expression(type, depth - 1, scope).tree;
        return {typed(TypeId::kBool, sql("(", {std::move(tested)}, "",
                                         random_.pick({" IS NULL)", " IS NOT NULL)"}))),
                TypeId::kBool};
    }
    if (choice < 82) {
        SqlTree tested = condition(depth - 1, scope).tree;
        return {typed(TypeId::kBool,
                      sql("(", {std::move(tested)}, "",
                          random_.pick({" IS TRUE)", " IS NOT TRUE)", " IS FALSE)",
                                        " IS NOT FALSE)", " IS UNKNOWN)", " IS NOT UNKNOWN)"}))),
                TypeId::kBool};
    }
    if (choice < 88)
        return {typed(TypeId::kBool, sql("(NOT ", {condition(depth - 1, scope).tree}, "", ")")),
                TypeId::kBool};
    std::vector<SqlTree> parts;
    for (int i = random_.between(2, 3); i > 0; --i)
        parts.push_back(condition(depth - 1, scope).tree);
    return {typed(TypeId::kBool,
                  sql_list(1, "(", std::move(parts), random_.pick({" AND ", " OR "}), ")")),
            TypeId::kBool};
}

}  // namespace loom::test
