// FROM clauses: tables, subqueries, joins.

#include <algorithm>

#include <fmt/core.h>

#include "query_maker.h"

namespace loom::test {

using plan::TypeId;

namespace {

// Rows that a join may yield, and pairs that one without a key may look at.
constexpr double kMostRows = 60'000;
constexpr double kMostPairs = 400'000;

bool is_integer(TypeId type) {
    return type == TypeId::kInt2 || type == TypeId::kInt4 || type == TypeId::kInt8;
}

// Whether a column finds partners in other tables.
bool is_key(const Visible& column) {
    return column.sql.ends_with(".id") || column.sql.ends_with(".k4") ||
           column.sql.ends_with(".k8") || column.sql.ends_with(".far");
}

}  // namespace

QueryMaker::Source QueryMaker::table(const std::string& alias, int64_t largest) {
    std::vector<TableInfo> fitting;
    for (const TableInfo& info : tables())
        if (info.rows <= largest) fitting.push_back(info);
    // Empty tables and tables of one row say little most of the time.
    TableInfo info = random_.pick(fitting);
    for (int i = 0; i < 4 && info.rows < 2 && random_.chance(94); ++i) info = random_.pick(fitting);
    const char* schema =
        random_.chance(aliases_ == 1 ? 95 : 82) ? random_.pick({"parquet", "arrow"}) : "heap";
    Source source;
    source.tree = sql(fmt::format("{}.{} {}", schema, info.name, alias));
    source.rows = static_cast<double>(info.rows);
    for (const ColumnInfo& column : table_columns()) {
        const double distinct =
            column.distinct > 0 ? static_cast<double>(column.distinct) : source.rows / 3;
        source.columns.push_back({alias + "." + column.name, column.type, column.is_canonical,
                                  column.is_tame,
                                  column.name == "id" ? source.rows : std::max(distinct, 1.0)});
    }
    return source;
}

QueryMaker::Source QueryMaker::source(const std::string& alias, int depth) {
    if (!shared_.empty() && random_.chance(40)) {
        Source shared = shared_[0];
        shared.tree = sql("q " + alias);
        for (Visible& column : shared.columns) column.sql = alias + "." + column.sql;
        return shared;
    }
    if (depth <= 0 || random_.chance(75)) return table(alias, random_.chance(60) ? 800 : 5000);
    Select inner = select(depth - 1);
    Source source;
    source.rows = inner.rows;
    source.tree = sql("(", {std::move(inner.tree)}, "", ") " + alias);
    for (Visible& column : inner.outputs) {
        column.sql = alias + "." + column.sql;
        source.columns.push_back(std::move(column));
    }
    return source;
}

// Adds a table to a FROM clause: the join's words and condition, or nothing if it would be too
// much work.
std::optional<SqlTree> QueryMaker::join(Scope& scope, Source right, int depth) {
    const char* words = random_.pick({" JOIN ", " JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ",
                                      " RIGHT JOIN ", " FULL JOIN "});
    Scope both;
    both.columns = scope.columns;
    both.columns.insert(both.columns.end(), right.columns.begin(), right.columns.end());
    std::vector<SqlTree> conditions;
    double rows = scope.rows * right.rows;
    const bool keyless = random_.chance(8) && rows < kMostPairs;
    if (!keyless) {
        // The first pair of columns that keeps the result small.
        const Visible* best[2] = {nullptr, nullptr};
        const bool wants_key = random_.chance(60);
        for (int attempt = 0; attempt < 90 && best[0] == nullptr; ++attempt) {
            const Visible& a = random_.pick(scope.columns);
            const Visible& b = random_.pick(right.columns);
            if (wants_key && attempt < 60 && !(is_key(a) && is_key(b))) continue;
            const bool joinable = a.type == b.type || (is_integer(a.type) && is_integer(b.type));
            const double estimate = scope.rows * right.rows / std::max(a.distinct, b.distinct);
            if (!joinable || estimate > kMostRows) continue;
            best[0] = &a;
            best[1] = &b;
            rows = std::max(estimate, 1.0);
        }
        if (best[0] == nullptr) return std::nullopt;
        SqlTree left = typed(best[0]->type, sql(best[0]->sql));
        if (random_.chance(10))
            left = sql("(", {expression(best[0]->type, 1, scope).tree}, "", ")");
        conditions.push_back(sql("", {std::move(left), sql(best[1]->sql)}, " = "));
        if (random_.chance(25) && rows < kMostRows)
            conditions.push_back(condition(std::min(depth, 1), both).tree);
    } else {
        conditions.push_back(comparison(1, both).tree);
        if (words[1] == 'F') words = " LEFT JOIN ";
        rows /= 2;
    }
    const bool inner = words[1] == 'J';
    scope.rows = inner ? rows : std::max({rows, scope.rows, right.rows}) + right.rows;
    scope.columns = std::move(both.columns);
    // Outer joins put NULLs in place of columns, which changes nothing of what is known here.
    return sql("", {sql(words), std::move(right.tree),
                    sql_list(1, " ON ", std::move(conditions), " AND ")});
}

// The same with a column of one name, which is then a column of the join, too.
std::optional<SqlTree> QueryMaker::join_using(Scope& scope, const Source& right, bool is_last) {
    const std::string name = random_.pick({"id", "k4", "k8", "far"});
    auto find = [&](const std::vector<Visible>& columns) {
        return std::find_if(columns.begin(), columns.end(), [&](const Visible& column) {
            return column.sql.ends_with("." + name);
        });
    };
    const auto left_key = find(scope.columns);
    const auto right_key = find(right.columns);
    if (left_key == scope.columns.end() || right_key == right.columns.end()) return std::nullopt;
    const double rows = scope.rows * right.rows / std::max(left_key->distinct, right_key->distinct);
    if (rows > kMostRows) return std::nullopt;
    const Visible merged{name, left_key->type, true, true, left_key->distinct};
    scope.rows = std::max({rows, scope.rows, right.rows}) + right.rows;
    scope.columns.insert(scope.columns.end(), right.columns.begin(), right.columns.end());
    if (is_last) scope.columns.push_back(merged);
    return sql(random_.pick({" JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN "}),
               {right.tree, sql(" USING (" + name + ")")});
}

SqlTree QueryMaker::from(Scope& scope, int depth) {
    auto alias = [&] { return fmt::format("t{}", ++aliases_); };
    Source first = source(alias(), depth);
    scope.columns = std::move(first.columns);
    scope.rows = first.rows;
    std::vector<SqlTree> joins;
    const int more = random_.pick({0, 0, 0, 1, 1, 1, 2, 3}) - (depth <= 0 ? 1 : 0);
    for (int i = 0; i < more; ++i) {
        if (random_.chance(7)) {
            auto joined = join_lateral(scope, alias());
            if (joined) joins.push_back(std::move(*joined));
            continue;
        }
        Source right = source(alias(), depth - 1);
        if (i == 0 && random_.chance(12)) {
            auto joined = join_using(scope, right, more == 1);
            if (joined) {
                joins.push_back(std::move(*joined));
                continue;
            }
        }
        auto joined = join(scope, std::move(right), depth);
        if (joined) joins.push_back(std::move(*joined));
    }
    return sql(" FROM ", {std::move(first.tree), sql_list(0, "", std::move(joins), "")});
}

}  // namespace loom::test
