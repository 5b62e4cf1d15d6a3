// Aggregates that need the rows of a group in order: percentiles, mode, string_agg and array_agg
// with ORDER BY.
// A window over the groups has their results, one a group; an aggregate takes them from there.

#include <algorithm>

#include "exec/query.h"
#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/layout.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
}

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;

bool needs_order(const Aggref* call) {
    switch (call->aggfnoid) {
        case F_PERCENTILE_CONT_FLOAT8_FLOAT8:
        case F_PERCENTILE_DISC_FLOAT8_ANYELEMENT:
        case F_MODE:
            return true;
        case F_STRING_AGG_TEXT_TEXT:
        case F_ARRAY_AGG_ANYNONARRAY:
            return call->aggorder != NIL && call->aggdistinct == NIL;
        default:
            return false;
    }
}

namespace {

bool is_fraction(const Expr& expr) {
    if (expr.kind != ExprKind::kConstant) return false;
    return !expr.value.known() || (expr.value.number >= 0 && expr.value.number <= 1);
}

}  // namespace

// Adds what an aggregate reads to `exprs`, the columns of the rows to sort. `groups_are_rows`:
// there is no group without a row.
bool Builder::add_ordered_call(const Scope& scope, Aggref* call, bool groups_are_rows,
                               std::vector<Expr>* exprs, OrderedCall* out) {
    const char* name = pg_call([&] { return get_func_name(call->aggfnoid); });
    const std::string what = std::string("aggregate ") + (name != nullptr ? name : "?");
    std::vector<Expr> filter;
    if (call->aggfilter != nullptr) {
        auto translated = translate(reinterpret_cast<Node*>(call->aggfilter), scope, what.c_str());
        if (!translated) return false;
        filter.push_back(std::move(*translated));
    }
    std::vector<int> places;  // of the arguments, by their numbers
    const ListCell* cell;
    foreach (cell, call->args) {
        auto* expr = reinterpret_cast<Node*>(lfirst_node(TargetEntry, cell)->expr);
        auto value = translate(expr, scope, what.c_str());
        if (!value) return false;
        if (has_many_lengths(expr, value->type)) {
            refuse(what + ": values of char(n) with more than one n");
            return false;
        }
        places.push_back(static_cast<int>(exprs->size()));
        // These aggregates leave NULLs out, but for array_agg.
        exprs->push_back(plan::value_if(filter, std::move(*value)));
    }
    const bool is_array = call->aggfnoid == F_ARRAY_AGG_ANYNONARRAY;
    foreach (cell, call->aggorder) {
        const auto* clause = lfirst_node(SortGroupClause, cell);
        const auto* entry =
            pg_call([&] { return get_sortgroupref_tle(clause->tleSortGroupRef, call->args); });
        const Oid collation = exprCollation(reinterpret_cast<Node*>(entry->expr));
        const auto keys = sort_keys(call->args, 1, &entry->resno, &clause->sortop, &collation,
                                    &clause->nulls_first);
        if (!keys) return false;
        plan::SortKey key = (*keys)[0];
        key.column = places[static_cast<size_t>(key.column)];
        // NULL values do not count; where they lie is up to us.
        if (call->aggkind == AGGKIND_ORDERED_SET) key.nulls_first = false;
        out->keys.push_back(key);
    }
    plan::WindowCall& window = out->window;
    window.function = call->aggfnoid;
    const auto add = [&](const Expr& arg) { window.args.push_back(arg); };
    add(plan::make_column(places[0], (*exprs)[static_cast<size_t>(places[0])].type));
    if (call->aggfnoid == F_STRING_AGG_TEXT_TEXT) {
        add(plan::make_column(places[1], (*exprs)[static_cast<size_t>(places[1])].type));
    } else if (call->aggdirectargs != NIL) {
        auto fraction =
            translate(static_cast<Node*>(linitial(call->aggdirectargs)), {}, what.c_str());
        if (!fraction) return false;
        // PostgreSQL looks at the fraction of an aggregate without rows, too; a window without rows
        // does not.
        if (groups_are_rows || is_fraction(*fraction)) {
            add(*fraction);
        } else {
            refuse(what + ": a fraction that may be none");
            return false;
        }
    }
    std::vector<plan::Type> types;
    for (const Expr& arg : window.args) types.push_back(arg.type);
    if (is_array) {
        auto layout = array_layout(exprType(reinterpret_cast<Node*>(call)), types[0]);
        if (layout) window.layout.push_back(std::move(*layout));
        if (!filter.empty()) {
            window.filter.push_back(
                plan::make_column(static_cast<int>(exprs->size()), filter[0].type));
            exprs->push_back(filter[0]);
        }
    }
    const auto type = exec::window_type(call->aggfnoid, types,
                                        window.layout.empty() ? nullptr : window.layout.data());
    // Equal values of a numeric with scales of their own may be shown with other digits.
    if (!type || plan::is_decimal(*type)) {
        refuse(what + " of this type is not one of the engine's");
        return false;
    }
    window.type = *type;
    return true;
}

bool Builder::add_ordered_sets(Core& source, const std::vector<Expr>& groups, List* calls,
                               std::vector<plan::Aggregate>* aggregates) {
    if (!std::all_of(groups.begin(), groups.end(),
                     [](const Expr& group) { return group.kind == ExprKind::kColumn; })) {
        refuse("group: an expression of an enclosing query");
        return false;
    }
    std::vector<Expr> exprs;
    for (size_t c = 0; c < source.op.output.size(); ++c)
        exprs.push_back(plan::make_column(static_cast<int>(c), source.op.output[c]));
    std::vector<OrderedCall> ordered;
    const ListCell* cell;
    foreach (cell, calls)
        if (!add_ordered_call(source.scope, lfirst_node(Aggref, cell), !groups.empty(), &exprs,
                              &ordered.emplace_back()))
            return false;
    Operator op = project(std::move(source.op), exprs);
    for (OrderedCall& call : ordered) {
        Keys keys;
        for (const Expr& group : groups) keys.push_back({group.index, false, false});
        keys.insert(keys.end(), call.keys.begin(), call.keys.end());
        if (!add_sort(op, keys)) return false;
        Operator window;
        window.kind = OperatorKind::kWindow;
        window.rows = op.rows;
        window.output = op.output;
        window.group_keys = groups;
        window.sort_keys = call.keys;
        const plan::Type type = call.window.type;
        window.windows.push_back(std::move(call.window));
        window.output.push_back(type);
        window.inputs.push_back(std::move(op));
        op = std::move(window);
        plan::Aggregate& aggregate = aggregates->emplace_back();
        aggregate.function = exec::kAnyValue;  // the one that is not NULL
        aggregate.type = type;
        aggregate.args = {plan::make_column(static_cast<int>(op.output.size()) - 1, type)};
    }
    for (size_t c = source.scope.size(); c < op.output.size(); ++c)
        source.scope.push_back({nullptr, op.output[c], nullptr});
    source.op = std::move(op);
    return check(source.op);
}

}  // namespace loom::pg
