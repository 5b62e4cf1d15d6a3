// SELECTs: rows, groups, unions; their order and limit.

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "query_maker.h"

namespace loom::test {

using plan::TypeId;

namespace {

// Rows that a query returns at most without a LIMIT.
constexpr double kMostResultRows = 6000;
// Rows that a LATERAL subquery is computed for, without and with subqueries of its own, and pairs
// of rows.
constexpr double kMostLateralRows = 800;
constexpr double kMostNestedRows = 40;
constexpr double kMostLateralPairs = 100'000;

bool is_float(TypeId type) {
    return type == TypeId::kFloat4 || type == TypeId::kFloat8;
}

Visible output(size_t number, const Value& value, double rows) {
    return {fmt::format("c{}", number), value.type, value.is_canonical, true,
            std::max(rows / 3, 1.0)};
}

SqlTree named(SqlTree tree, size_t number) {
    return sql("", {std::move(tree)}, "", fmt::format(" AS c{}", number));
}

SqlTree clauses_of(std::vector<SqlTree> clauses) {
    return sql("", std::move(clauses));
}

}  // namespace

// Makes equal values print alike. The last SELECT may keep zeros of two signs, which the
// comparison then takes for one.
Value QueryMaker::canonical(Value value) {
    if (value.is_canonical) return value;
    value.is_canonical = true;
    if (is_float(value.type)) {
        if (levels_ == 1 && random_.chance(60)) {
            zeros_alike_ = true;
            return value;
        }
        const std::string zero = fmt::format(" + '0'::{})", type_name(value.type));
        value.tree = typed(value.type, sql("(", {std::move(value.tree)}, "", zero));
    } else if (value.type == TypeId::kNumeric) {
        value.tree = typed(value.type, sql("round(", {std::move(value.tree)}, "", ", 2)"));
    } else {
        value.tree = typed(TypeId::kText, sql("(", {std::move(value.tree)}, "", ")::text"));
        value.type = TypeId::kText;
    }
    return value;
}

Value QueryMaker::key(const Scope& scope, int depth) {
    const TypeId type = type_of_scope(scope);
    return canonical(random_.chance(65) ? leaf(type, scope) : expression(type, depth, scope));
}

// An aggregate that needs its rows in order.
Value QueryMaker::aggregate_in_order(const Scope& scope) {
    const char* fraction = random_.pick({"0.5", "0", "1", "0.25", "0.999", "NULL"});
    const char* direction = random_.pick({"", " DESC", " NULLS FIRST"});
    if (random_.chance(25)) {
        const TypeId number = random_.pick({TypeId::kInt4, TypeId::kInt8, TypeId::kInt2});
        SqlTree call = sql(fmt::format("percentile_cont({}) WITHIN GROUP (ORDER BY ", fraction),
                           {expression(number, 1, scope).tree}, "", fmt::format("{})", direction));
        return {typed(TypeId::kFloat8, std::move(call)), TypeId::kFloat8, false};
    }
    if (random_.chance(30)) {
        const SqlTree text = expression(TypeId::kText, 1, scope).tree;
        SqlTree call = sql("string_agg(", {text, text}, " COLLATE \"C\", ';' ORDER BY ",
                           fmt::format(" COLLATE \"C\"{})", direction));
        return {typed(TypeId::kText, std::move(call)), TypeId::kText, true};
    }
    if (random_.chance(25)) {
        const SqlTree number = expression(TypeId::kInt4, 1, scope).tree;
        SqlTree call =
            sql("array_agg(", {number, number}, " ORDER BY ", fmt::format("{})", direction));
        return {typed(TypeId::kOpaque, std::move(call)), TypeId::kOpaque, true};
    }
    const TypeId type = random_.pick({TypeId::kInt4, TypeId::kInt8, TypeId::kDate,
                                      TypeId::kTimestamp, TypeId::kText, TypeId::kText});
    const std::string head =
        random_.chance(40) ? "mode()" : fmt::format("percentile_disc({})", fraction);
    SqlTree call =
        sql(head + " WITHIN GROUP (ORDER BY ", {expression(type, 1, scope).tree}, "",
            fmt::format("{}{})", type == TypeId::kText ? " COLLATE \"C\"" : "", direction));
    return {typed(type, std::move(call)), type, true};
}

Value QueryMaker::aggregate(const Scope& scope) {
    auto whole = [&](const char* name, TypeId argument, TypeId result, bool is_canonical) {
        const bool distinct = random_.chance(12);
        Value of = expression(argument, 1, scope);
        // Of equal numerics DISTINCT keeps the first one, whose digits a sum shows.
        if (distinct && argument == TypeId::kNumeric) of = canonical(std::move(of));
        const std::string head = fmt::format("{}({}", name, distinct ? "DISTINCT " : "");
        SqlTree tree = sql(head, {std::move(of.tree)}, "", ")");
        return Value{typed(result, std::move(tree)), result, is_canonical};
    };
    const TypeId any = type_of_scope(scope);
    Value value;
    switch (random_.below(12)) {
        case 11:
            value = aggregate_in_order(scope);
            break;
        case 0:
            value = {typed(TypeId::kInt8, sql("count(*)")), TypeId::kInt8};
            break;
        case 1:
            value = whole(random_.pick({"count", "count", "loom.approx_count_distinct"}), any,
                          TypeId::kInt8, true);
            if (random_.chance(25)) {
                const TypeId number = random_.pick({TypeId::kInt4, TypeId::kInt2});
                value.tree = typed(TypeId::kInt8, sql("regr_count(",
                                                      {expression(number, 1, scope).tree,
                                                       expression(number, 1, scope).tree},
                                                      ", ", ")"));
            }
            break;
        case 2:
            value = whole("sum", TypeId::kInt4, TypeId::kInt8, true);
            break;
        case 3:
            value = whole("sum", TypeId::kInt8, TypeId::kNumeric, true);
            break;
        case 4:
            value = whole("sum", TypeId::kNumeric, TypeId::kNumeric, false);
            break;
        case 5:
            value =
                whole("avg",
                      random_.pick({TypeId::kInt2, TypeId::kInt4, TypeId::kInt8, TypeId::kNumeric}),
                      TypeId::kNumeric, false);
            break;
        case 6:
            value = whole(random_.pick({"bool_and", "bool_or", "every"}), TypeId::kBool,
                          TypeId::kBool, true);
            break;
        case 7: {
            const TypeId bits = random_.pick({TypeId::kInt2, TypeId::kInt4, TypeId::kInt8});
            value = whole(random_.pick({"bit_and", "bit_or", "bit_xor"}), bits, bits, true);
            break;
        }
        case 8: {
            // Whole numbers up to 40 add up to the same in any order.
            std::vector<SqlTree> small;
            for (const Visible& column : scope.columns)
                if (column.type == TypeId::kFloat8 && column.sql.ends_with(".g8"))
                    small.push_back(sql(column.sql));
            if (!small.empty()) {
                SqlTree call = sql(random_.pick({"sum(", "avg("}), {random_.pick(small)}, "", ")");
                if (random_.chance(30))
                    call = sql(random_.pick({"regr_avgx(", "regr_avgy("}),
                               {random_.pick(small), random_.pick(small)}, ", ", ")");
                value = {typed(TypeId::kFloat8, std::move(call)), TypeId::kFloat8, true};
                break;
            }
            [[fallthrough]];
        }
        default: {
            // PostgreSQL knows no least boolean, bytea or uuid.
            const TypeId type =
                any == TypeId::kBool || any == TypeId::kBytea || any == TypeId::kUuid
                    ? TypeId::kInt4
                    : any;
            Value argument = canonical(expression(type, 1, scope));
            const TypeId result = argument.type;
            SqlTree call = sql(random_.pick({"min(", "max("}), {std::move(argument.tree)}, "", ")");
            value = {typed(result, std::move(call)), result, true};
        }
    }
    if (random_.chance(20))
        value.tree = typed(value.type, sql("", {std::move(value.tree), condition(1, scope).tree},
                                           " FILTER (WHERE ", ")"));
    return value;
}

// Window functions that yield the same for all rows that their order leaves equal.
Value QueryMaker::window(const Scope& scope) {
    const char* name = random_.pick({"count(*)", "rank()", "dense_rank()", "sum(1)"});
    std::vector<SqlTree> parts;
    if (random_.chance(60)) parts.push_back(sql("PARTITION BY ", {key(scope, 0).tree}));
    if (random_.chance(30)) {
        // A frame by differences of values.
        const std::pair<TypeId, std::array<const char*, 3>> ordered =
            random_.pick({std::pair{TypeId::kInt4, std::array{"1", "40", "2000000"}},
                          std::pair{TypeId::kInt8, std::array{"0", "7", "9000000000"}},
                          std::pair{TypeId::kFloat8, std::array{"0.5", "1e3", "0"}},
                          std::pair{TypeId::kNumeric, std::array{"1.25", "100", "0"}},
                          std::pair{TypeId::kDate, std::array{"'3 days'", "'1 month'", "'1:00'"}},
                          std::pair{TypeId::kTimestamp,
                                    std::array{"'90 minutes'", "'1 year'", "'1 month 2 days'"}}});
        const auto distance = [&] { return ordered.second[random_.between(0, 2)]; };
        parts.push_back(
            sql("ORDER BY ", {leaf(ordered.first, scope).tree}, "",
                fmt::format("{} RANGE BETWEEN {}{} AND {}{}",
                            random_.pick({"", " DESC", " NULLS FIRST", " DESC NULLS LAST"}),
                            distance(), random_.pick({" PRECEDING", " PRECEDING", " FOLLOWING"}),
                            distance(), random_.pick({" FOLLOWING", " FOLLOWING", " PRECEDING"}))));
    } else {
        parts.push_back(sql("ORDER BY ", {key(scope, 0).tree}));
    }
    SqlTree tree = sql(fmt::format("{} OVER (", name), std::move(parts), " ", ")");
    return {typed(TypeId::kInt8, std::move(tree)), TypeId::kInt8, true};
}

// A subquery that is computed for each row of what is there: what it refers to may be constant for
// one row, and so may what its own subqueries yield.
std::optional<SqlTree> QueryMaker::join_lateral(Scope& scope, const std::string& alias) {
    if (levels_ > 2 || scope.columns.empty() || scope.rows > kMostLateralRows) return std::nullopt;
    const bool nests = scope.rows <= kMostNestedRows;
    Scope inner;
    inner.outer = &scope;
    ++levels_;
    SqlTree tables = from(inner, 0);
    std::optional<Select> select;
    if (scope.rows * inner.rows <= kMostLateralPairs) {
        std::vector<SqlTree> conditions;
        const Visible& mine = random_.pick(scope.columns);
        for (const Visible& column : inner.columns) {
            if (column.type != mine.type || !random_.chance(60)) continue;
            conditions.push_back(
                typed(TypeId::kBool, sql(fmt::format("{} = {}", column.sql, mine.sql))));
            inner.rows = std::max(inner.rows / column.distinct, 1.0);
            break;
        }
        Scope alone = inner;
        alone.outer = nullptr;
        if (random_.chance(50)) conditions.push_back(condition(1, nests ? inner : alone).tree);
        // True or not for a row of what is outside.
        if (nests && random_.chance(50)) {
            auto fixed = subquery_condition(scope);
            if (fixed) conditions.push_back(std::move(fixed->tree));
        }
        std::vector<SqlTree> outputs;
        std::vector<SqlTree> order;
        select.emplace();
        select->rows = inner.rows;
        for (int i = random_.between(1, 3); i > 0; --i) {
            const TypeId type = type_of_scope(inner);
            std::optional<Value> value;
            if (nests && random_.chance(30)) value = scalar_subquery(type, scope);
            if (!value) value = canonical(expression(type, 1, inner));
            const size_t number = outputs.size() + 1;
            select->outputs.push_back(output(number, *value, inner.rows));
            outputs.push_back(named(std::move(value->tree), number));
            order.push_back(sql(std::to_string(number)));
        }
        std::vector<SqlTree> clauses;
        clauses.push_back(sql_list(1, "SELECT ", std::move(outputs), ", "));
        clauses.push_back(std::move(tables));
        clauses.push_back(sql_list(0, " WHERE ", std::move(conditions), " AND "));
        if (random_.chance(60)) {
            const size_t keys = order.size();
            const int limit = random_.pick({1, 2, 5, 20});
            clauses.push_back(sql_list(keys, " ORDER BY ", std::move(order), ", "));
            clauses.push_back(sql(fmt::format(" LIMIT {}", limit)));
            select->rows = std::min<double>(select->rows, limit);
        }
        select->tree = clauses_of(std::move(clauses));
    }
    --levels_;
    if (!select) return std::nullopt;
    scope.rows = std::max(scope.rows * select->rows, 1.0);
    for (Visible& column : select->outputs) {
        column.sql = alias + "." + column.sql;
        scope.columns.push_back(std::move(column));
    }
    const bool outer = random_.chance(40);
    return sql(outer ? " LEFT JOIN LATERAL (" : " CROSS JOIN LATERAL (", {std::move(select->tree)},
               "", ") " + alias + (outer ? " ON true" : ""));
}

SqlTree QueryMaker::where(Scope& scope, int depth) {
    std::vector<SqlTree> conditions;
    for (int i = random_.pick({0, 0, 0, 1, 1, 1, 2}); i > 0; --i) {
        std::optional<Value> value;
        if (random_.chance(22)) value = subquery_condition(scope);
        conditions.push_back(value ? std::move(value->tree) : condition(depth, scope).tree);
    }
    return sql_list(0, " WHERE ", std::move(conditions), " AND ");
}

void QueryMaker::order_and_limit(Select& select, std::vector<SqlTree>& clauses) {
    const bool total = std::all_of(select.outputs.begin(), select.outputs.end(),
                                   [](const Visible& column) { return column.is_canonical; });
    const bool too_many = select.rows > kMostResultRows && levels_ == 1;
    const bool limited = total && (too_many || random_.chance(30));
    if (!limited && (levels_ > 1 || random_.chance(50))) return;
    std::vector<size_t> columns;
    for (size_t i = 0; i < select.outputs.size(); ++i)
        if (limited || random_.chance(60)) columns.push_back(i);
    random_.shuffle(columns);
    std::vector<SqlTree> keys;
    bool known = true;
    for (const size_t column : columns) {
        // Of rows that differ, values that print differently may be equal.
        known = known && select.outputs[column].is_canonical;
        if (known) select.order.push_back(column);
        keys.push_back(sql(fmt::format("{}{}{}", column + 1, random_.pick({"", " ASC", " DESC"}),
                                       random_.pick({"", "", " NULLS FIRST", " NULLS LAST"}))));
    }
    clauses.push_back(sql_list(limited ? keys.size() : 0, " ORDER BY ", std::move(keys), ", "));
    if (!limited) return;
    const int limit = random_.chance(4) ? 0 : random_.pick({1, 2, 10, 100, 1000, 3000});
    clauses.push_back(sql_list(0, "", {sql(fmt::format(" LIMIT {}", limit))}, ""));
    if (random_.chance(25))
        clauses.push_back(
            sql_list(0, "",
                     {sql(fmt::format(" OFFSET {}",
                                      random_.chance(5) ? 100'000 : random_.pick({0, 1, 5, 200})))},
                     ""));
    select.rows = std::min<double>(select.rows, limit);
}

Select QueryMaker::select_rows(int depth, const std::vector<TypeId>* types) {
    Scope scope;
    SqlTree tables = from(scope, depth);
    SqlTree filter = where(scope, 2);
    Select result;
    result.rows = scope.rows;
    const bool must_limit = levels_ == 1 && scope.rows > kMostResultRows;
    const bool distinct = types == nullptr && random_.chance(12);
    const size_t width =
        types != nullptr ? types->size() : static_cast<size_t>(random_.between(1, 5));
    std::vector<SqlTree> outputs;
    for (size_t i = 0; i < width; ++i) {
        const TypeId type = types != nullptr ? (*types)[i] : type_of_scope(scope);
        Value value = types == nullptr && levels_ == 1 && random_.chance(6)
                          ? window(scope)
                          : expression(type, random_.between(0, 3), scope);
        const bool fixed_type = types != nullptr;
        if ((distinct || must_limit || random_.chance(20)) && !fixed_type)
            value = canonical(std::move(value));
        result.outputs.push_back(output(i + 1, value, scope.rows));
        outputs.push_back(named(std::move(value.tree), i + 1));
    }
    std::vector<SqlTree> clauses;
    clauses.push_back(
        sql_list(1, distinct ? "SELECT DISTINCT " : "SELECT ", std::move(outputs), ", "));
    clauses.push_back(std::move(tables));
    clauses.push_back(std::move(filter));
    if (types == nullptr) order_and_limit(result, clauses);
    result.tree = clauses_of(std::move(clauses));
    return result;
}

Select QueryMaker::select_groups(int depth) {
    Scope scope;
    SqlTree tables = from(scope, depth);
    SqlTree filter = where(scope, 2);
    Select result;
    std::vector<SqlTree> outputs;
    std::vector<SqlTree> groups;
    const int keys = random_.pick({0, 0, 1, 1, 1, 2, 2, 3});
    result.rows = keys == 0 ? 1 : scope.rows;
    for (int i = 0; i < keys; ++i) {
        Value value = key(scope, 2);
        groups.push_back(sql(std::to_string(outputs.size() + 1)));
        result.outputs.push_back(output(outputs.size() + 1, value, scope.rows));
        outputs.push_back(named(std::move(value.tree), outputs.size() + 1));
    }
    for (int i = random_.between(keys == 0 ? 1 : 0, 4); i > 0; --i) {
        Value value = aggregate(scope);
        result.outputs.push_back(output(outputs.size() + 1, value, scope.rows));
        outputs.push_back(named(std::move(value.tree), outputs.size() + 1));
    }
    std::vector<SqlTree> having;
    if (random_.chance(25)) {
        Value tested = aggregate(scope);
        const TypeId type = tested.type;
        having.push_back(typed(TypeId::kBool, sql("", {std::move(tested.tree), constant(type).tree},
                                                  random_.pick({" > ", " <= ", " <> ", " = "}))));
    }
    std::vector<SqlTree> clauses;
    clauses.push_back(sql_list(1, "SELECT ", std::move(outputs), ", "));
    clauses.push_back(std::move(tables));
    clauses.push_back(std::move(filter));
    clauses.push_back(sql_list(0, " GROUP BY ", std::move(groups), ", "));
    clauses.push_back(sql_list(0, " HAVING ", std::move(having), " AND "));
    order_and_limit(result, clauses);
    result.tree = clauses_of(std::move(clauses));
    return result;
}

Select QueryMaker::select_union(int depth) {
    std::vector<TypeId> types;
    for (int i = random_.between(1, 4); i > 0; --i)
        types.push_back(random_.pick(table_columns()).type);
    // An integer constant and a text NULL would be united as other types than they are alone.
    std::vector<SqlTree> parts;
    Select result;
    result.rows = 0;
    for (int i = random_.between(2, 3); i > 0; --i) {
        Select part = select_rows(depth, &types);
        result.rows += part.rows;
        if (result.outputs.empty()) result.outputs = part.outputs;
        parts.push_back(std::move(part.tree));
    }
    const bool plain_types = std::none_of(types.begin(), types.end(), [](TypeId type) {
        return is_float(type) || type == TypeId::kNumeric || type == TypeId::kBpchar;
    });
    const char* words =
        plain_types
            ? random_.pick({" UNION ALL ", " UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT "})
            : " UNION ALL ";
    for (Visible& column : result.outputs) column.is_canonical = plain_types;
    std::vector<SqlTree> clauses;
    clauses.push_back(sql_list(1, "", std::move(parts), words));
    order_and_limit(result, clauses);
    result.tree = clauses_of(std::move(clauses));
    return result;
}

Select QueryMaker::select(int depth) {
    ++levels_;
    const int choice = random_.between(0, 99);
    Select result = choice < 45   ? select_rows(depth, nullptr)
                    : choice < 90 ? select_groups(depth)
                                  : select_union(depth);
    --levels_;
    return result;
}

RandomQuery QueryMaker::make() {
    RandomQuery query;
    is_tame_ = random_.chance(80);
    query.form = random_.pick({Form::kPlain, Form::kPlain, Form::kPlain, Form::kPlain, Form::kPlain,
                               Form::kPrepared, Form::kCursor});
    has_parameters_ = query.form == Form::kPrepared;
    std::vector<SqlTree> with;
    if (random_.chance(8)) {
        // A subquery of its own: its SELECT is not the last one.
        ++levels_;
        Select shared = select(1);
        --levels_;
        Source source;
        source.columns = shared.outputs;
        source.rows = shared.rows;
        with.push_back(
            sql(random_.pick({"q AS (", "q AS MATERIALIZED (", "q AS NOT MATERIALIZED ("}),
                {std::move(shared.tree)}, "", ")"));
        shared_.push_back(std::move(source));
    }
    Select last = select(2);
    query.tree = sql("", {sql_list(0, "WITH ", std::move(with), ", ", " "), std::move(last.tree)});
    query.order = std::move(last.order);
    query.zeros_alike = zeros_alike_;
    query.fetch = random_.pick({1, 7, 100, 4096, 5000});
    query.scrolls = random_.chance(30);
    auto set = [&](const char* name, std::string value) {
        query.settings.emplace_back(name, std::move(value));
    };
    set("pg_loom.threads", std::to_string(random_.between(1, 3)));
    set("pg_loom.force", random_.chance(50) ? "on" : "off");
    set("TimeZone", random_.pick({"UTC", "UTC", "America/New_York", "Asia/Kolkata"}));
    if (random_.chance(10)) set("enable_hashagg", "off");
    if (random_.chance(5)) set("enable_hashjoin", "off");
    if (random_.chance(5)) set("pg_loom.skip_with_statistics", "off");
    if (random_.chance(3)) set("pg_loom.memory", "64kB");
    if (has_parameters_)
        set("plan_cache_mode", random_.pick({"auto", "force_generic_plan", "force_custom_plan"}));
    return query;
}

}  // namespace loom::test
