#pragma once
// SQL as a tree, so that a query that shows a difference can be made smaller by taking parts away.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plan/type.h"

namespace loom::test {

/// A piece of SQL: `before child between child ... after`.
struct SqlTree {
    std::string before;
    std::vector<SqlTree> children;
    std::string between;
    std::string after;
    /// Children that must stay when the tree is made smaller; nothing: all. A tree that may be
    /// empty and is prints nothing.
    std::optional<size_t> least;
    /// What an expression yields: another one of the type may stand in its place.
    std::optional<plan::TypeId> type;
    /// Of a parameter: its values in turn. Each is an expression without columns.
    std::vector<std::string> values;
};

/// Makes a tree without children.
SqlTree sql(std::string text);
/// Makes a tree that needs all of its children.
SqlTree sql(std::string before, std::vector<SqlTree> children, std::string between = "",
            std::string after = "");
/// Makes a list, of which `least` children must stay.
SqlTree sql_list(size_t least, std::string before, std::vector<SqlTree> children,
                 std::string between, std::string after = "");
/// Says what an expression yields.
SqlTree typed(plan::TypeId type, SqlTree tree);

/// The parameters of a printed query, in order.
using Parameters = std::vector<const SqlTree*>;

/// Prints a tree; parameters as $n, and appends them, or, without `parameters`, as their value
/// number `turn`.
std::string print(const SqlTree& tree, Parameters* parameters, size_t turn = 0);

/// Calls `accept` with smaller and smaller trees; it says whether to go on from there. Ends when
/// nothing more can be taken away.
template <typename Accept>
void reduce(SqlTree& tree, Accept&& accept);

/// Returns the trees that are `tree` with one thing less, the boldest first. Each is a step that
/// reduce() tries.
std::vector<SqlTree> smaller(const SqlTree& tree);

template <typename Accept>
void reduce(SqlTree& tree, Accept&& accept) {
    for (bool found = true; found;) {
        found = false;
        for (SqlTree& candidate : smaller(tree)) {
            if (!accept(candidate)) continue;
            tree = std::move(candidate);
            found = true;
            break;
        }
    }
}

}  // namespace loom::test
