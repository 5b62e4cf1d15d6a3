#include "sql_tree.h"

#include <functional>

#include <fmt/core.h>

namespace loom::test {

SqlTree sql(std::string text) {
    SqlTree tree;
    tree.before = std::move(text);
    return tree;
}

SqlTree sql(std::string before, std::vector<SqlTree> children, std::string between,
            std::string after) {
    SqlTree tree;
    tree.before = std::move(before);
    tree.children = std::move(children);
    tree.between = std::move(between);
    tree.after = std::move(after);
    return tree;
}

SqlTree sql_list(size_t least, std::string before, std::vector<SqlTree> children,
                 std::string between, std::string after) {
    SqlTree tree =
        sql(std::move(before), std::move(children), std::move(between), std::move(after));
    tree.least = least;
    return tree;
}

SqlTree typed(plan::TypeId type, SqlTree tree) {
    tree.type = type;
    return tree;
}

std::string print(const SqlTree& tree, Parameters* parameters, size_t turn) {
    if (!tree.values.empty()) {
        if (parameters == nullptr) return tree.values[turn % tree.values.size()];
        parameters->push_back(&tree);
        return fmt::format("${}", parameters->size());
    }
    if (tree.least == 0 && tree.children.empty()) return "";
    std::string text = tree.before;
    for (size_t i = 0; i < tree.children.size(); ++i)
        text += (i > 0 ? tree.between : "") + print(tree.children[i], parameters, turn);
    return text + tree.after;
}

namespace {

// Appends expressions below `tree` that may take its place.
void collect(const SqlTree& tree, plan::TypeId type, std::vector<const SqlTree*>* found) {
    for (const SqlTree& child : tree.children) {
        if (child.type == type)
            found->push_back(&child);
        else
            collect(child, type, found);
    }
}

bool is_leaf(const SqlTree& tree) {
    return tree.children.empty();
}

// Visits the nodes top down. `place` writes a changed node into a copy of the whole tree.
void visit(const SqlTree& node, const std::function<void(SqlTree)>& place) {
    if (node.least && node.children.size() > *node.least)
        for (size_t i = node.children.size(); i-- > 0;) {
            SqlTree shorter = node;
            shorter.children.erase(shorter.children.begin() + static_cast<ptrdiff_t>(i));
            place(std::move(shorter));
        }
    if (node.type && !is_leaf(node)) {
        std::vector<const SqlTree*> inside;
        collect(node, *node.type, &inside);
        for (const SqlTree* expression : inside) place(*expression);
        place(typed(*node.type,
                    sql(fmt::format("NULL::{}", *node.type == plan::TypeId::kNumeric
                                                    ? "numeric"
                                                    : to_string(plan::make_type(*node.type))))));
    }
    for (size_t i = 0; i < node.children.size(); ++i)
        visit(node.children[i], [&](SqlTree changed) {
            SqlTree copy = node;
            copy.children[i] = std::move(changed);
            place(std::move(copy));
        });
}

}  // namespace

std::vector<SqlTree> smaller(const SqlTree& tree) {
    std::vector<SqlTree> trees;
    visit(tree, [&](SqlTree changed) { trees.push_back(std::move(changed)); });
    return trees;
}

}  // namespace loom::test
