#include "plan/narrow.h"

#include <algorithm>

namespace loom::plan {

void remap_columns(Expr& expr, const std::vector<int>& map) {
    if (expr.kind == ExprKind::kColumn) expr.index = map[static_cast<size_t>(expr.index)];
    for (Expr& arg : expr.args) remap_columns(arg, map);
}

namespace {

using Needed = std::vector<bool>;
using Map = std::vector<int>;  // old column to new column, -1: gone

void need(const Expr& expr, Needed& needed, size_t first = 0) {
    for (const int column : columns_of(expr)) {
        const auto c = static_cast<size_t>(column);
        if (c >= first && c - first < needed.size()) needed[c - first] = true;
    }
}

void need(const std::vector<Expr>& exprs, Needed& needed, size_t first = 0) {
    for (const Expr& expr : exprs) need(expr, needed, first);
}

void remap(std::vector<Expr>& exprs, const Map& map) {
    for (Expr& expr : exprs) remap_columns(expr, map);
}

// Keeps the items of `list` that are needed.
template <typename T>
void keep(std::vector<T>& list, const Needed& needed) {
    size_t kept = 0;
    for (size_t i = 0; i < list.size(); ++i)
        if (needed[i]) {
            if (kept != i) list[kept] = std::move(list[i]);
            ++kept;
        }
    list.resize(kept);
}

Map map_of(const Needed& needed) {
    Map map(needed.size(), -1);
    int next = 0;
    for (size_t i = 0; i < needed.size(); ++i)
        if (needed[i]) map[i] = next++;
    return map;
}

bool only_copies(const Operator& op) {
    return std::all_of(op.expressions.begin(), op.expressions.end(),
                       [](const Expr& expr) { return expr.kind == ExprKind::kColumn; });
}

bool drops_probe(JoinType type) {
    return type == JoinType::kRightSemi || type == JoinType::kRightAnti;
}
bool drops_build(JoinType type) {
    return type == JoinType::kSemi || type == JoinType::kAnti;
}

// Makes the needed columns, in their old order, all columns of `op`.
void select_columns(Operator& op, const Needed& needed, const Map& map) {
    Operator project;
    project.kind = OperatorKind::kProject;
    project.rows = op.rows;
    bool trivial = true;
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i]) continue;
        trivial = trivial && map[i] == static_cast<int>(project.expressions.size());
        const Type type = op.output[static_cast<size_t>(map[i])];
        project.expressions.push_back(make_column(map[i], type));
        project.output.push_back(type);
    }
    if (trivial && project.output.size() == op.output.size()) return;
    project.inputs.push_back(std::move(op));
    op = std::move(project);
}

class Narrower {
  public:
    explicit Narrower(const MayRaise& may_raise) : may_raise_(may_raise) {}

    // Narrows `op` to columns that include the needed ones; says where each went.
    Map narrow(Operator& op, const Needed& needed);

  private:
    Map narrow_pass_through(Operator& op, Needed needed);
    Map narrow_project(Operator& op, const Needed& needed);
    Map narrow_join(Operator& op, const Needed& needed);
    Map narrow_aggregate(Operator& op, const Needed& needed);
    Map narrow_append(Operator& op, const Needed& needed);
    Map narrow_shared(Operator& op);
    Map narrow_window(Operator& op, const Needed& needed);

    // Of an aggregate or a window function.
    template <typename Call>
    bool may_raise(const Call& call) const {
        return std::any_of(call.filter.begin(), call.filter.end(), may_raise_) ||
               (!call.args.empty() && may_raise_(make_call(call.function, call.type, call.args)));
    }

    const MayRaise& may_raise_;
};

Map Narrower::narrow_pass_through(Operator& op, Needed needed) {
    need(op.predicates, needed);
    for (const SortKey& key : op.sort_keys) needed[static_cast<size_t>(key.column)] = true;
    Map map = narrow(op.inputs[0], needed);
    remap(op.predicates, map);
    for (SortKey& key : op.sort_keys) key.column = map[static_cast<size_t>(key.column)];
    op.output = op.inputs[0].output;
    return map;
}

// A projection that only copies is left out: what stands above reads the columns below.
Map Narrower::narrow_project(Operator& op, const Needed& needed) {
    Needed kept(needed);
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = kept[i] || may_raise_(op.expressions[i]);
    keep(op.expressions, kept);
    keep(op.output, kept);
    Needed below(op.inputs[0].output.size());
    need(op.expressions, below);
    remap(op.expressions, narrow(op.inputs[0], below));
    Map map = map_of(kept);
    if (!only_copies(op)) return map;
    for (int& column : map)
        if (column >= 0) column = op.expressions[static_cast<size_t>(column)].index;
    Operator input = std::move(op.inputs[0]);
    op = std::move(input);
    return map;
}

Map Narrower::narrow_join(Operator& op, const Needed& needed) {
    const size_t probe_width = op.inputs[0].output.size();
    const size_t build_width = op.inputs[1].output.size();
    Needed probe(probe_width);
    Needed build(build_width);
    // Columns of the output are those of both sides, or of the one that is kept.
    const size_t build_first = drops_probe(op.join) ? 0 : probe_width;
    const bool marks = op.join == JoinType::kMark;
    for (size_t i = 0; i < needed.size(); ++i) {
        if (!needed[i] || (marks && i == probe_width)) continue;
        if (i < build_first)
            probe[i] = true;
        else
            build[i - build_first] = true;
    }
    need(op.probe_keys, probe);
    need(op.build_keys, build);
    for (const Expr& predicate : op.predicates) {
        need(predicate, probe);
        need(predicate, build, probe_width);
    }
    Map probe_map = narrow(op.inputs[0], probe);
    Map build_map = narrow(op.inputs[1], build);
    remap(op.probe_keys, probe_map);
    remap(op.build_keys, build_map);
    const int new_probe_width = static_cast<int>(op.inputs[0].output.size());
    Map joined(probe_map);
    for (const int column : build_map) joined.push_back(column < 0 ? -1 : column + new_probe_width);
    remap(op.predicates, joined);
    if (drops_probe(op.join)) {
        op.output = op.inputs[1].output;
        return build_map;
    }
    if (drops_build(op.join)) {
        op.output = op.inputs[0].output;
        return probe_map;
    }
    op.output = joined_types(op);
    if (!marks) return joined;
    Map marked(probe_map);
    marked.push_back(new_probe_width);
    return marked;
}

Map Narrower::narrow_aggregate(Operator& op, const Needed& needed) {
    const size_t keys = op.group_keys.size();
    Needed kept(needed);
    for (size_t i = 0; i < keys; ++i) kept[i] = true;
    for (size_t i = 0; i < op.aggregates.size(); ++i)
        if (may_raise(op.aggregates[i])) kept[keys + i] = true;
    keep(op.output, kept);
    keep(op.aggregates, Needed(kept.begin() + static_cast<ptrdiff_t>(keys), kept.end()));
    Needed below(op.inputs[0].output.size());
    need(op.group_keys, below);
    for (const Aggregate& aggregate : op.aggregates) {
        need(aggregate.args, below);
        need(aggregate.filter, below);
    }
    const Map map = narrow(op.inputs[0], below);
    remap(op.group_keys, map);
    for (Aggregate& aggregate : op.aggregates) {
        remap(aggregate.args, map);
        remap(aggregate.filter, map);
    }
    return map_of(kept);
}

// All inputs must come out alike.
Map Narrower::narrow_append(Operator& op, const Needed& needed) {
    for (Operator& input : op.inputs) select_columns(input, needed, narrow(input, needed));
    keep(op.output, needed);
    return map_of(needed);
}

// All operators that share rows must go on sharing them, so they keep every column.
Map Narrower::narrow_shared(Operator& op) {
    const Needed all(op.output.size(), true);
    select_columns(op.inputs[0], all, narrow(op.inputs[0], all));
    return map_of(all);
}

Map Narrower::narrow_window(Operator& op, const Needed& needed) {
    const size_t width = op.inputs[0].output.size();
    Needed below(needed.begin(), needed.begin() + static_cast<ptrdiff_t>(width));
    Needed calls(needed.begin() + static_cast<ptrdiff_t>(width), needed.end());
    for (size_t i = 0; i < calls.size(); ++i)
        if (may_raise(op.windows[i])) calls[i] = true;
    keep(op.windows, calls);
    std::vector<Type> types(op.output.begin() + static_cast<ptrdiff_t>(width), op.output.end());
    keep(types, calls);
    need(op.group_keys, below);
    for (const SortKey& key : op.sort_keys) below[static_cast<size_t>(key.column)] = true;
    for (const WindowCall& call : op.windows) {
        need(call.args, below);
        need(call.filter, below);
    }
    for (const auto* exprs : {&op.frame.key, &op.frame.start_value, &op.frame.end_value})
        need(*exprs, below);
    Map map = narrow(op.inputs[0], below);
    remap(op.group_keys, map);
    for (SortKey& key : op.sort_keys) key.column = map[static_cast<size_t>(key.column)];
    for (WindowCall& call : op.windows) {
        remap(call.args, map);
        remap(call.filter, map);
    }
    for (auto* exprs : {&op.frame.key, &op.frame.start_value, &op.frame.end_value})
        remap(*exprs, map);
    op.output = op.inputs[0].output;
    auto next = static_cast<int>(op.output.size());
    for (const bool wanted : calls) map.push_back(wanted ? next++ : -1);
    op.output.insert(op.output.end(), types.begin(), types.end());
    return map;
}

Map Narrower::narrow(Operator& op, const Needed& needed) {
    switch (op.kind) {
        case OperatorKind::kScan:
        case OperatorKind::kRows:
            keep(op.output, needed);
            if (op.columns.size() == needed.size()) keep(op.columns, needed);
            if (op.host_columns.size() == needed.size()) keep(op.host_columns, needed);
            return map_of(needed);
        case OperatorKind::kFilter:
        case OperatorKind::kSort:
        case OperatorKind::kLimit:
            return narrow_pass_through(op, needed);
        case OperatorKind::kProject:
            return narrow_project(op, needed);
        case OperatorKind::kJoin:
            return narrow_join(op, needed);
        case OperatorKind::kAggregate:
            return narrow_aggregate(op, needed);
        case OperatorKind::kAppend:
            return narrow_append(op, needed);
        case OperatorKind::kShared:
            return narrow_shared(op);
        case OperatorKind::kWindow:
            return narrow_window(op, needed);
    }
    return map_of(Needed(needed.size(), true));
}

}  // namespace

void drop_unused_columns(Operator& root, const MayRaise& may_raise) {
    const Needed all(root.output.size(), true);
    const Map map = Narrower(may_raise).narrow(root, all);
    select_columns(root, all, map);
}

}  // namespace loom::plan
