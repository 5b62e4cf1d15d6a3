#pragma once
// Correlation: conditions of a subquery that compare its rows with a row of the query around it.
// Instead of running the subquery once for each outer row, they are taken out of it and become the
// conditions of a join.

#include <functional>
#include <string>
#include <vector>

#include "pg/plan/expression.h"

namespace loom::pg {

/// A condition taken out of a subtree, over the columns of the operator that it is kept with and
/// outer columns.
struct Lifted {
    plan::Expr predicate;
    /// `predicate` is a strict equality with the operator's columns in args[0] alone and outer
    /// columns in args[1] alone, of a kind that join keys and groups have.
    bool is_key = false;

    const plan::Expr& inner() const { return predicate.args[0]; }
    const plan::Expr& outer() const { return predicate.args[1]; }
};

/// Returns whether an expression has outer columns.
bool has_outer(const plan::Expr& expr);
/// Returns the columns of an expression that are not outer ones.
std::vector<int> inner_columns(const plan::Expr& expr);
/// Replaces each column that is no outer one by what `map` says.
void renumber(plan::Expr& expr, const std::function<int(int)>& map);
/// Compares two expressions of columns, constants and calls for being the same; false for others.
bool same_expression(const plan::Expr& a, const plan::Expr& b);
/// Returns whether evaluation can neither raise an error nor fail.
bool never_faults(const plan::Expr& expr);

/// What outer columns are in terms of the operator outside.
struct OuterValues {
    std::vector<int> numbers;        ///< of parameters
    std::vector<plan::Expr> values;  ///< over the columns of the outer operator
};
/// Makes parameter `number` known as `value`, and adds it to `values`.
void add_outer(OuterParameters& parameters, int number, const plan::Expr& value,
               OuterValues* values);
/// Restores what was known when it dies.
class OuterScope {
  public:
    explicit OuterScope(OuterParameters& outer) : outer_(outer), saved_(outer) {}
    ~OuterScope() { outer_ = std::move(saved_); }
    OuterScope(const OuterScope&) = delete;
    OuterScope& operator=(const OuterScope&) = delete;

  private:
    OuterParameters& outer_;
    OuterParameters saved_;
};
/// Returns whether an expression has one of these outer columns.
bool reads_outer(const plan::Expr& expr, const OuterValues& outer);
/// Replaces the outer columns that `outer` has by their values.
void insert_outer(plan::Expr& expr, const OuterValues& outer);

/// Gives both sides of a key one type, if equality of the two types allows it.
bool match_types(plan::Expr& probe, plan::Expr& build);
/// Returns whether `op` is the equality of its types' default operator classes.
bool is_default_equality(Oid op);

/// Returns whether a clause is an equality that may become a key, whatever its sides.
bool is_key_clause(const Node* clause);
/// Turns a condition with outer columns into a Lifted. `may_be_key`: is_key_clause().
Lifted lift(plan::Expr predicate, bool may_be_key);

}  // namespace loom::pg
