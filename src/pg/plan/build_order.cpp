// Sorts, limits, and what is known of the order of rows.

#include <algorithm>

#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "access/stratnum.h"
#include "utils/typcache.h"
}

namespace loom::pg {

using plan::Expr;
using plan::ExprKind;
using plan::Operator;
using plan::OperatorKind;
using plan::TypeId;

namespace {

// Turns the arrays of a Sort into keys. `reason` says why not.
std::optional<plan::SortKey> sort_key(const List* tlist, AttrNumber index, Oid op, Oid collation,
                                      bool nulls_first, std::string* reason) {
    plan::SortKey key;
    key.column = index - 1;
    key.nulls_first = nulls_first;
    const auto* entry = static_cast<TargetEntry*>(list_nth(tlist, index - 1));
    auto* expr = reinterpret_cast<Node*>(entry->expr);
    const Oid type = exprType(expr);
    const TypeCacheEntry* cache =
        pg_call([&] { return lookup_type_cache(type, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR); });
    if (op != cache->lt_opr && op != cache->gt_opr) {
        *reason = "sort: an operator that is not the type's own";
        return std::nullopt;
    }
    key.descending = op == cache->gt_opr;
    const auto engine = engine_type(type, -1);
    if (engine && plan::is_text(engine->id) && !orders_by_bytes(collation)) {
        *reason = "sort: the collation does not order text by bytes";
        return std::nullopt;
    }
    return key;
}

}  // namespace

std::optional<Builder::Keys> Builder::sort_keys(const List* tlist, int columns,
                                                const AttrNumber* indexes, const Oid* operators,
                                                const Oid* collations, const bool* nulls_first) {
    Keys keys;
    std::string reason;
    for (int i = 0; i < columns; ++i) {
        auto key =
            sort_key(tlist, indexes[i], operators[i], collations[i], nulls_first[i], &reason);
        if (!key) return refuse<Keys>(reason);
        keys.push_back(*key);
    }
    return keys;
}

bool Builder::are_present(const Keys& keys, const Scope& scope) {
    for (const plan::SortKey& key : keys)
        if (scope[static_cast<size_t>(key.column)].node == nullptr) {
            refuse("sort: a key that the engine cannot read");
            return false;
        }
    return true;
}

namespace {

// Whether rows come in the order of `keys`: a window keeps that of its input.
bool is_sorted(const Operator& op, const std::vector<plan::SortKey>& keys) {
    if (op.kind == OperatorKind::kWindow) return is_sorted(op.inputs[0], keys);
    return op.kind == OperatorKind::kSort && op.count.empty() &&
           op.sort_keys.size() >= keys.size() &&
           std::equal(keys.begin(), keys.end(), op.sort_keys.begin());
}

}  // namespace

bool Builder::add_sort(Operator& op, const Keys& keys) {
    if (is_sorted(op, keys)) return true;
    Operator sort;
    sort.kind = OperatorKind::kSort;
    sort.rows = op.rows;
    sort.sort_keys = keys;
    sort.output = op.output;
    sort.inputs.push_back(std::move(op));
    op = std::move(sort);
    return check(op);
}

std::optional<Core> Builder::sort(Sort* node, Order order) {
    Plan* input = outerPlan(node);
    auto core = pass_through(&node->plan, Order::kAny);
    if (!core || order == Order::kAny) return core;
    const auto keys = sort_keys(input->targetlist, node->numCols, node->sortColIdx,
                                node->sortOperators, node->collations, node->nullsFirst);
    if (!keys || !are_present(*keys, core->scope) || !add_sort(core->op, *keys))
        return std::nullopt;
    return core;
}

std::optional<Core> Builder::merge_append(MergeAppend* node, Order order) {
    auto core = append(&node->plan, node->mergeplans);
    if (!core || order == Order::kAny) return core;
    const auto keys = sort_keys(node->plan.targetlist, node->numCols, node->sortColIdx,
                                node->sortOperators, node->collations, node->nullsFirst);
    if (!keys || !are_present(*keys, core->scope) || !add_sort(core->op, *keys))
        return std::nullopt;
    return core;
}

namespace {

bool is_null_constant(const Node* node) {
    return IsA(node, Const) && reinterpret_cast<const Const*>(node)->constisnull;
}

// Rows that a sort below has to deliver: count plus offset, where both are known.
std::optional<Expr> rows_below(const Operator& limit) {
    if (limit.count.empty()) return std::nullopt;
    const Expr& count = limit.count[0];
    if (limit.offset.empty()) return count;
    const Expr& offset = limit.offset[0];
    if (count.kind != ExprKind::kConstant || offset.kind != ExprKind::kConstant)
        return std::nullopt;
    const column::Int128 sum = count.value.integer + offset.value.integer;
    if (sum > INT64_MAX) return std::nullopt;
    return plan::make_constant(count.type, column::Scalar::of_int(sum));
}

}  // namespace

std::optional<Core> Builder::limit(Limit* node) {
    if (node->limitOption != LIMIT_OPTION_COUNT) return refuse("WITH TIES");
    auto core = pass_through(&node->plan, Order::kKept);
    if (!core) return std::nullopt;
    if (!core->lifted.empty()) return refuse("limit: a value of an enclosing query");
    Operator op;
    op.kind = OperatorKind::kLimit;
    op.rows = node->plan.plan_rows;
    op.output = core->op.output;
    if (node->limitCount != nullptr && !is_null_constant(node->limitCount)) {
        auto count = translate(node->limitCount, {}, "limit");
        if (!count || count->type.id != TypeId::kInt8) return std::nullopt;
        op.count.push_back(std::move(*count));
    }
    if (node->limitOffset != nullptr && !is_null_constant(node->limitOffset)) {
        auto offset = translate(node->limitOffset, {}, "limit");
        if (!offset || offset->type.id != TypeId::kInt8) return std::nullopt;
        op.offset.push_back(std::move(*offset));
    }
    for (const std::vector<Expr>* part : {&op.count, &op.offset})
        if (!part->empty() && (*part)[0].kind == ExprKind::kConstant &&
            (*part)[0].value.integer < 0)
            return refuse("a negative limit");
    if (core->op.kind == OperatorKind::kSort && core->op.count.empty())
        if (auto rows = rows_below(op)) core->op.count.push_back(std::move(*rows));
    op.inputs.push_back(std::move(core->op));
    core->op = std::move(op);
    if (!check(core->op)) return std::nullopt;
    return core;
}

namespace {

// Where a node's target list shows column `column` of the node below, or -1.
int position_above(const List* tlist, int varno, int column) {
    const ListCell* cell;
    int position = 0;
    foreach (cell, tlist) {
        const auto* entry = lfirst_node(TargetEntry, cell);
        if (IsA(entry->expr, Var)) {
            const auto* var = reinterpret_cast<const Var*>(entry->expr);
            if (var->varno == varno && var->varattno == column + 1) return position;
        }
        ++position;
    }
    return -1;
}

std::vector<plan::SortKey> carry(const std::vector<plan::SortKey>& below, const List* tlist,
                                 int varno) {
    std::vector<plan::SortKey> keys;
    for (plan::SortKey key : below) {
        key.column = position_above(tlist, varno, key.column);
        if (key.column < 0) break;
        keys.push_back(key);
    }
    return keys;
}

bool loses_order(const Plan* plan) {
    if (IsA(plan, SetOp)) return reinterpret_cast<const SetOp*>(plan)->strategy != SETOP_SORTED;
    if (!IsA(plan, Agg)) return false;
    const auto* agg = reinterpret_cast<const Agg*>(plan);
    return agg->aggstrategy != AGG_SORTED || (agg->groupingSets != NIL && !keeps_order(agg));
}

}  // namespace

std::optional<Builder::Keys> Builder::order_of(Plan* plan) {
    switch (nodeTag(plan)) {
        case T_Sort:
        case T_IncrementalSort: {
            auto* node = reinterpret_cast<Sort*>(plan);
            return sort_keys(outerPlan(plan)->targetlist, node->numCols, node->sortColIdx,
                             node->sortOperators, node->collations, node->nullsFirst);
        }
        case T_Agg:
        case T_SetOp:
        case T_Group:
        case T_Unique:
        case T_Limit:
        case T_Material:
        case T_WindowAgg:
        case T_Result: {
            if (outerPlan(plan) == nullptr || loses_order(plan)) return Keys{};
            const auto below = order_of(outerPlan(plan));
            if (!below) return std::nullopt;
            return carry(*below, plan->targetlist, OUTER_VAR);
        }
        case T_SubqueryScan: {
            auto* node = reinterpret_cast<SubqueryScan*>(plan);
            const auto below = order_of(node->subplan);
            if (!below) return std::nullopt;
            return carry(*below, plan->targetlist, static_cast<int>(node->scan.scanrelid));
        }
        case T_FunctionScan: {
            const auto* scan = reinterpret_cast<const FunctionScan*>(plan);
            if (scan->funcordinality) return std::nullopt;
            return Keys{};
        }
        case T_SeqScan:
        case T_SampleScan:
        case T_BitmapHeapScan:
        case T_ValuesScan:
        case T_ForeignScan:
        case T_HashJoin:
        case T_Hash:
        case T_Append:
            return Keys{};
        default:
            return std::nullopt;
    }
}

}  // namespace loom::pg
