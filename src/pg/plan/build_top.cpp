// The top of a piece: what of its expressions the engine computes, and what PostgreSQL makes of the
// engine's columns.

#include <algorithm>
#include <utility>

#include "exec/functions.h"
#include "pg/bridge/bridge.h"
#include "pg/guc/settings.h"
#include "pg/plan/builder.h"
#include "pg/plan/may_raise.h"
#include "plan/narrow.h"

extern "C" {
#include "utils/fmgroids.h"
}

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;

namespace {

bool is_leaf(const Node* node) {
    return IsA(node, Var) || IsA(node, Aggref) || IsA(node, GroupingFunc) || IsA(node, WindowFunc);
}

// A subquery is a leaf where the engine has its value, and computing it harms nobody.
bool is_leaf_maylongjmp(Node* node, const Scope& scope) {
    if (!IsA(node, SubPlan)) return is_leaf(node);
    const int position = find_leaf_maylongjmp(scope, node);
    if (position < 0) return false;
    const auto& value = scope[static_cast<size_t>(position)].value;
    return value == nullptr || never_faults(*value);
}

struct Collecting {
    const Scope* scope;
    List* leaves;
};

bool collect_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    auto* collecting = static_cast<Collecting*>(arg);
    if (!is_leaf_maylongjmp(node, *collecting->scope))
        return walk_expression(node, collect_maylongjmp, arg);
    collecting->leaves = lappend(collecting->leaves, node);
    return false;
}

// Copies a column of the scan tuple to stand for `original`, whose modifier and collation may
// differ from those of the column that it reads: clients are told them.
Var* var_like_maylongjmp(const Var* column, const Node* original) {
    Var* var = copy_object_maylongjmp(column);
    var->vartypmod = exprTypmod(original);
    var->varcollid = exprCollation(original);
    return var;
}

// Puts columns of the scan tuple in the place of leaves.
struct Rebasing {
    const Scope* scope;
    Var** columns;  // by position in the scope
};

Node* rebase_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return nullptr;
    const auto* rebasing = static_cast<Rebasing*>(arg);
    if (!is_leaf_maylongjmp(node, *rebasing->scope))
        return mutate_expression(node, rebase_maylongjmp, arg);
    const int position = find_leaf_maylongjmp(*rebasing->scope, node);
    return reinterpret_cast<Node*>(var_like_maylongjmp(rebasing->columns[position], node));
}

// The engine's values are new ones: they tell nothing of how a table stores them.
bool reads_storage_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    constexpr auto is_told = [](Oid function, void*) {
        return function == F_PG_COLUMN_SIZE || function == F_PG_COLUMN_COMPRESSION;
    };
    return check_functions_in_node(node, is_told, nullptr) ||
           walk_expression(node, reads_storage_maylongjmp, nullptr);
}

bool is_worthwhile(const Operator& op) {
    switch (op.kind) {
        case OperatorKind::kFilter:
        case OperatorKind::kJoin:
        case OperatorKind::kAggregate:
        case OperatorKind::kSort:
        case OperatorKind::kLimit:
        case OperatorKind::kWindow:
            return true;
        default:
            return std::any_of(op.inputs.begin(), op.inputs.end(), is_worthwhile);
    }
}

// Lays out the tuple that the engine hands to PostgreSQL, and PostgreSQL's expressions over it.
class TopLayout {
  public:
    TopLayout(Plan* plan, const Core& core) : plan_(plan), core_(core) {}

    // Adds an expression that the engine computes.
    Var* add(Node* original, plan::Expr expr) {
        const Leaf* leaf = expr.kind == ExprKind::kColumn
                               ? &core_.scope[static_cast<size_t>(expr.index)]
                               : nullptr;
        // Casts between text and varchar are columns to the engine, but not to PostgreSQL.
        if (leaf == nullptr || leaf->node == nullptr || leaf->value != nullptr ||
            exprType(leaf->node) != exprType(original))
            return append(original, std::move(expr));
        const Var* read = column(expr.index);
        return pg_call([&] { return var_like_maylongjmp(read, original); });
    }

    // Rewrites an expression that PostgreSQL computes; null if the engine lacks what it reads.
    Node* keep(Node* node) {
        if (pg_call([&] { return reads_storage_maylongjmp(node, nullptr); })) return nullptr;
        Collecting collecting{&core_.scope, NIL};
        pg_call([&] { collect_maylongjmp(node, &collecting); });
        const ListCell* cell;
        foreach (cell, collecting.leaves) {
            const int position = find_leaf(core_.scope, static_cast<Node*>(lfirst(cell)));
            if (position < 0) return nullptr;
            column(position);
        }
        Rebasing rebasing{&core_.scope, columns_.data()};
        return pg_call([&] { return rebase_maylongjmp(node, &rebasing); });
    }

    std::vector<plan::Expr> take_outputs() { return std::move(outputs_); }
    List* scan_tlist() const { return scan_tlist_; }

  private:
    Var* column(int position) {
        if (columns_.size() < core_.scope.size()) columns_.resize(core_.scope.size(), nullptr);
        Var*& var = columns_[static_cast<size_t>(position)];
        const Leaf& leaf = core_.scope[static_cast<size_t>(position)];
        if (var == nullptr)
            var = append(leaf.node,
                         leaf.value ? *leaf.value : plan::make_column(position, leaf.type));
        return var;
    }

    Var* append(Node* original, plan::Expr expr) {
        outputs_.push_back(std::move(expr));
        return pg_call([&] {
            const auto number = static_cast<AttrNumber>(list_length(scan_tlist_) + 1);
            auto* shown = reinterpret_cast<::Expr*>(in_terms_of_relations(original, plan_));
            scan_tlist_ = lappend(scan_tlist_, makeTargetEntry(shown, number, nullptr, false));
            return makeVar(INDEX_VAR, number, exprType(original), exprTypmod(original),
                           exprCollation(original), 0);
        });
    }

    Plan* plan_;
    const Core& core_;
    std::vector<Var*> columns_;
    std::vector<plan::Expr> outputs_;
    List* scan_tlist_ = NIL;
};

}  // namespace

std::optional<BuiltPlan> Builder::build_top(Plan* plan) {
    // A Hash belongs to its join, and a Material spares PostgreSQL to do the work again, as the
    // rows of a CTE do.
    if (IsA(plan, Hash) || IsA(plan, Material) || IsA(plan, CteScan)) return refuse<BuiltPlan>("");
    top_ = true;
    auto built = core(plan, Order::kKept);
    if (!built) return std::nullopt;
    BuiltPlan result;
    const ListCell* cell;
    std::vector<Expr> predicates;
    List* kept_quals = NIL;
    bool kept_raises = false;
    foreach (cell, substituted(plan->qual, *built)) {
        auto* clause = static_cast<Node*>(lfirst(cell));
        if (has_subplans(clause)) {
            if (!add_filter(*built, std::exchange(predicates, {}), plan->plan_rows))
                return std::nullopt;
            add_subplans(*built, clause, true);
        }
        auto predicate = translator_.translate(clause, built->scope);
        // A clause may come before one that PostgreSQL keeps only if nobody can tell.
        if (predicate && (kept_quals == NIL || (!kept_raises && cannot_fault(*predicate)))) {
            predicates.push_back(std::move(*predicate));
            continue;
        }
        if (!predicate) result.not_pushed.push_back("Filter: " + translator_.reason());
        kept_raises = kept_raises || may_raise(clause);
        pg_call([&] { kept_quals = lappend(kept_quals, clause); });
    }
    if (!add_filter(*built, predicates, plan->plan_rows)) return std::nullopt;
    TopLayout layout(plan, *built);
    foreach (cell, substituted(plan->targetlist, *built)) {
        const auto* entry = lfirst_node(TargetEntry, cell);
        auto* original = reinterpret_cast<Node*>(entry->expr);
        add_subplans(*built, original, false);
        auto expr = translator_.translate_natively(original, built->scope);
        Node* kept = nullptr;
        // Of rows that PostgreSQL's filter drops nothing may be computed that could fault.
        const bool faults = expr && kept_quals != NIL && !cannot_fault(*expr);
        if (expr && !faults && !plan::columns_of(*expr).empty()) {
            kept = reinterpret_cast<Node*>(layout.add(original, std::move(*expr)));
        } else {
            if (faults)
                result.not_pushed.push_back("Output: an error of a row that the filter may drop");
            else if (!expr && !IsA(original, Const))
                result.not_pushed.push_back("Output: " + translator_.reason());
            kept = layout.keep(original);
        }
        if (kept == nullptr) return refuse<BuiltPlan>("output: " + translator_.reason());
        pg_call([&] {
            auto* copy = makeNode(TargetEntry);
            *copy = *entry;
            copy->expr = reinterpret_cast<::Expr*>(copy_object_maylongjmp(kept));
            result.targetlist = lappend(result.targetlist, copy);
        });
    }
    foreach (cell, kept_quals) {
        Node* kept = layout.keep(static_cast<Node*>(lfirst(cell)));
        if (kept == nullptr) return refuse<BuiltPlan>("filter: " + translator_.reason());
        pg_call([&] { result.qual = lappend(result.qual, kept); });
    }
    std::vector<Expr> outputs = layout.take_outputs();
    result.root = is_identity(outputs, built->op.output.size())
                      ? std::move(built->op)
                      : project(std::move(built->op), std::move(outputs));
    if (!g_force && !g_shim && !is_worthwhile(result.root))
        return refuse<BuiltPlan>("there is nothing to compute");
    plan::drop_unused_columns(result.root, exec::may_raise);
    if (!check(result.root)) return std::nullopt;
    if (!subplan_reason_.empty()) result.not_pushed.push_back("Subquery: " + subplan_reason_);
    result.scan_tlist = layout.scan_tlist();
    result.tables = std::move(tables_);
    result.parameters = translator_.parameters();
    result.calls = translator_.calls();
    result.session_zone = translator_.session_zone();
    for (const HostCall& call : result.calls) {
        std::string line = "Expression, evaluated by PostgreSQL: " + call.reason;
        const auto& lines = result.not_pushed;
        if (std::find(lines.begin(), lines.end(), line) == lines.end())
            result.not_pushed.push_back(std::move(line));
    }
    result.relids = relids_;
    result.nodes = std::move(nodes_);
    result.row_plans = std::move(row_plans_);
    return result;
}

}  // namespace loom::pg
