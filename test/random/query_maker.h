#pragma once
// Makes random queries over the tables of tables.h.
//
// What PostgreSQL itself leaves open is not asked for, so that two runs must agree:
// - sums and averages of floats, unless they are sums of small whole numbers: they depend on the
//   order of the rows;
// - LIMIT, unless the order is total;
// - which of several equal values stands for a group, a minimum or a place in an order, where
//   equal values print differently: numerics of several display scales, char(n) and intervals are
//   not used for that, floats only where the comparison takes both zeros for one.

#include <optional>
#include <string>
#include <vector>

#include "exec/functions.h"
#include "random.h"
#include "sql_tree.h"
#include "tables.h"

namespace loom::test {

/// What a query can refer to.
struct Visible {
    std::string sql;
    plan::TypeId type = plan::TypeId::kInt4;
    bool is_canonical = true;
    bool is_tame = true;
    double distinct = 1;
};

/// The columns of a FROM clause, at most `rows` rows, and what surrounds it.
struct Scope {
    std::vector<Visible> columns;
    double rows = 1;
    const Scope* outer = nullptr;
};

struct Value {
    SqlTree tree;
    plan::TypeId type = plan::TypeId::kInt4;
    bool is_canonical = true;
};

/// A SELECT with its output columns, which are named c1, c2, ...
struct Select {
    SqlTree tree;
    std::vector<Visible> outputs;
    double rows = 1;
    std::vector<size_t> order;  ///< output columns that the rows are ordered by
};

/// How a query is run.
enum class Form : uint8_t { kPlain, kPrepared, kCursor };

struct RandomQuery {
    SqlTree tree;
    std::vector<size_t> order;
    bool zeros_alike = false;  ///< a zero of either sign may stand for the other
    Form form = Form::kPlain;
    /// Settings of the session, name and value.
    std::vector<std::pair<std::string, std::string>> settings;
    /// For kCursor: rows to fetch at a time.
    int fetch = 1;
    bool scrolls = false;
};

class QueryMaker {
  public:
    explicit QueryMaker(uint64_t seed) : random_(seed) {}
    RandomQuery make();

  private:
    // expressions.cpp
    Value expression(plan::TypeId type, int depth, const Scope& scope);
    Value leaf(plan::TypeId type, const Scope& scope);
    Value constant(plan::TypeId type);
    std::string literal(plan::TypeId type);
    std::optional<Value> call(plan::TypeId type, int depth, const Scope& scope);
    /// Something that the engine does not have.
    std::optional<Value> foreign_call(plan::TypeId type, int depth, const Scope& scope);
    std::optional<Value> infix(plan::TypeId type, int depth, const Scope& scope);
    Value choice(plan::TypeId type, int depth, const Scope& scope);
    Value condition_case(plan::TypeId type, int depth, const Scope& scope);
    // conditions.cpp
    Value condition(int depth, const Scope& scope);
    Value comparison(int depth, const Scope& scope);
    Value membership(int depth, const Scope& scope);
    Value like(const Scope& scope);
    Value regex(const Scope& scope);
    std::optional<std::pair<std::string, std::string>> comparable_columns(const Scope& scope,
                                                                          const Scope& inner);
    std::optional<Value> subquery_condition(const Scope& scope);
    std::optional<Value> scalar_subquery(plan::TypeId type, const Scope& scope);
    plan::TypeId type_of_scope(const Scope& scope);
    // sources.cpp
    struct Source {
        SqlTree tree;
        std::vector<Visible> columns;
        double rows = 1;
    };
    Source table(const std::string& alias, int64_t largest);
    Source source(const std::string& alias, int depth);
    SqlTree from(Scope& scope, int depth);
    std::optional<SqlTree> join(Scope& scope, Source right, int depth);
    std::optional<SqlTree> join_using(Scope& scope, const Source& right, bool is_last);
    std::optional<SqlTree> join_lateral(Scope& scope, const std::string& alias);
    // selects.cpp
    Select select(int depth);
    Select select_rows(int depth, const std::vector<plan::TypeId>* types);
    Select select_groups(int depth);
    Select select_union(int depth);
    SqlTree where(Scope& scope, int depth);
    Value aggregate(const Scope& scope);
    Value aggregate_in_order(const Scope& scope);
    Value key(const Scope& scope, int depth);
    Value canonical(Value value);
    Value window(const Scope& scope);
    void order_and_limit(Select& select, std::vector<SqlTree>& clauses);

    Random random_;
    int aliases_ = 0;
    int levels_ = 0;       ///< SELECTs around what is being made
    bool is_tame_ = true;  ///< few errors
    bool has_parameters_ = false;
    bool zeros_alike_ = false;
    std::vector<Source> shared_;  ///< tables of the WITH clause
};

/// Returns PostgreSQL's name of a type, without a modifier.
std::string type_name(plan::TypeId type);

}  // namespace loom::test
