// Window functions, and DISTINCT ON, which is the first row of each partition.

#include <algorithm>

#include "exec/query.h"
#include "pg/bridge/bridge.h"
#include "pg/plan/builder.h"
#include "pg/plan/sql_type.h"

extern "C" {
#include "utils/fmgroids.h"
}

namespace loom::pg {

using plan::FrameBound;
using plan::FrameMode;
using plan::Operator;
using plan::OperatorKind;

namespace {

constexpr Oid kFirstUserObject = 16384;

bool find_calls_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    if (!IsA(node, WindowFunc)) return walk_expression(node, find_calls_maylongjmp, arg);
    auto* calls = static_cast<List**>(arg);
    *calls = list_append_unique(*calls, node);
    return false;
}

// A run condition compares results of the node with what is constant; its columns are places in the
// node's own target list.
Node* insert_results_maylongjmp(Node* node, void* tlist) {
    if (node == nullptr) return nullptr;
    if (IsA(node, Var)) {
        const auto place = reinterpret_cast<Var*>(node)->varattno - 1;
        auto* entry = static_cast<TargetEntry*>(list_nth(static_cast<List*>(tlist), place));
        return reinterpret_cast<Node*>(copy_object_maylongjmp(entry->expr));
    }
    return mutate_expression(node, insert_results_maylongjmp, tlist);
}

// Whether a function sees its partition, whatever the frame.
bool ignores_frame(const plan::WindowCall& call) {
    switch (call.function) {
        case F_ROW_NUMBER:
        case F_RANK_:
        case F_DENSE_RANK_:
        case F_PERCENT_RANK_:
        case F_CUME_DIST_:
        case F_NTILE:
        case F_LAG_ANYELEMENT:
        case F_LAG_ANYELEMENT_INT4:
        case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
        case F_LEAD_ANYELEMENT:
        case F_LEAD_ANYELEMENT_INT4:
        case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
            return true;
        default:
            return false;
    }
}

FrameBound start_of(int options) {
    if ((options & FRAMEOPTION_START_CURRENT_ROW) != 0) return FrameBound::kCurrent;
    if ((options & FRAMEOPTION_START_OFFSET_PRECEDING) != 0) return FrameBound::kPreceding;
    if ((options & FRAMEOPTION_START_OFFSET_FOLLOWING) != 0) return FrameBound::kFollowing;
    return FrameBound::kUnbounded;
}

FrameBound end_of(int options) {
    if ((options & FRAMEOPTION_END_CURRENT_ROW) != 0) return FrameBound::kCurrent;
    if ((options & FRAMEOPTION_END_OFFSET_PRECEDING) != 0) return FrameBound::kPreceding;
    if ((options & FRAMEOPTION_END_OFFSET_FOLLOWING) != 0) return FrameBound::kFollowing;
    return FrameBound::kUnbounded;
}

}  // namespace

bool Builder::add_frame(Operator& op, const WindowAgg* node, const Scope& scope) {
    const int options = node->frameOptions;
    if ((options & FRAMEOPTION_EXCLUSION) != 0) {
        refuse("a window frame that leaves rows out");
        return false;
    }
    op.frame.mode = (options & FRAMEOPTION_ROWS) != 0     ? FrameMode::kRows
                    : (options & FRAMEOPTION_GROUPS) != 0 ? FrameMode::kGroups
                                                          : FrameMode::kRange;
    op.frame.start = start_of(options);
    op.frame.end = end_of(options);
    const auto add_offset = [&](Node* offset, std::vector<plan::Expr>& out) {
        if (offset == nullptr) return true;
        auto expr = translate(offset, {}, "window");
        if (!expr) return false;
        out.push_back(std::move(*expr));
        return true;
    };
    if (op.frame.mode == FrameMode::kRange &&
        (node->startOffset != nullptr || node->endOffset != nullptr))
        return add_frame_values(op, node, scope);
    return add_offset(node->startOffset, op.frame.start_offset) &&
           add_offset(node->endOffset, op.frame.end_offset);
}

namespace {

// How values of one type and their distances are compared: what both are cast to first (or 0), and
// the operators that add and subtract a distance.
struct Distance {
    Oid type;
    Oid offset_type;  // or 0: an integer of any width, as int8
    Oid key_cast;
    Oid compared;  // type of what is compared
    Oid add;
    Oid subtract;
};
constexpr Distance kDistances[] = {
    {INT8OID, 0, 0, INT8OID, F_INT8PL, F_INT8MI},
    {INT4OID, 0, F_INT8_INT4, INT8OID, F_INT8PL, F_INT8MI},
    {INT2OID, 0, F_INT8_INT2, INT8OID, F_INT8PL, F_INT8MI},
    {FLOAT8OID, FLOAT8OID, 0, FLOAT8OID, F_FLOAT8PL, F_FLOAT8MI},
    {FLOAT4OID, FLOAT8OID, F_FLOAT8_FLOAT4, FLOAT8OID, F_FLOAT8PL, F_FLOAT8MI},
    {NUMERICOID, NUMERICOID, 0, NUMERICOID, F_NUMERIC_ADD, F_NUMERIC_SUB},
    {DATEOID, INTERVALOID, F_TIMESTAMP_DATE, TIMESTAMPOID, F_TIMESTAMP_PL_INTERVAL,
     F_TIMESTAMP_MI_INTERVAL},
    {TIMESTAMPOID, INTERVALOID, 0, TIMESTAMPOID, F_TIMESTAMP_PL_INTERVAL, F_TIMESTAMP_MI_INTERVAL},
    {TIMESTAMPTZOID, INTERVALOID, 0, TIMESTAMPTZOID, F_TIMESTAMPTZ_PL_INTERVAL,
     F_TIMESTAMPTZ_MI_INTERVAL},
    {INTERVALOID, INTERVALOID, 0, INTERVALOID, F_INTERVAL_PL, F_INTERVAL_MI},
};

const Distance* distance_of(Oid type) {
    const auto* found = std::ranges::find(kDistances, type, &Distance::type);
    return found != std::end(kDistances) ? found : nullptr;
}

// A call of one or two arguments.
Node* call_maylongjmp(Oid function, Oid type, Node* first, Node* second) {
    List* args = list_make1(first);
    if (second != nullptr) args = lappend(args, second);
    return reinterpret_cast<Node*>(
        makeFuncExpr(function, type, args, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

Node* widened_maylongjmp(Node* offset) {
    switch (exprType(offset)) {
        case INT4OID:
            return call_maylongjmp(F_INT8_INT4, INT8OID, offset, nullptr);
        case INT2OID:
            return call_maylongjmp(F_INT8_INT2, INT8OID, offset, nullptr);
        default:
            return offset;
    }
}

}  // namespace

// Frames by differences of values. What is compared is as PostgreSQL's in_range() functions have
// it; where the engine's arithmetic ends before theirs, it gives up.
bool Builder::add_frame_values(Operator& op, const WindowAgg* node, const Scope& scope) {
    const auto refused = [&] {
        refuse("a window frame by differences of such values");
        return false;
    };
    if (node->ordNumCols != 1 || op.sort_keys.size() != 1) return refused();
    Node* key = pg_call([&] {
        void* entry = list_nth(outerPlan(&node->plan)->targetlist, node->ordColIdx[0] - 1);
        return reinterpret_cast<Node*>(
            makeVarFromTargetEntry(OUTER_VAR, static_cast<TargetEntry*>(entry)));
    });
    const Distance* distance = distance_of(pg_call([&] { return exprType(key); }));
    if (distance == nullptr) return refused();
    if (distance->key_cast != 0)
        key = pg_call(
            [&] { return call_maylongjmp(distance->key_cast, distance->compared, key, nullptr); });
    auto compared = translate(key, scope, "window");
    if (!compared) return false;

    const auto add_bound = [&](Node* offset, bool less, std::vector<plan::Expr>& checked,
                               std::vector<plan::Expr>& value) {
        if (offset == nullptr) return true;
        if (distance->offset_type == 0)
            offset = pg_call([&] { return widened_maylongjmp(offset); });
        const Oid expected = distance->offset_type == 0 ? INT8OID : distance->offset_type;
        if (pg_call([&] { return exprType(offset); }) != expected) return refused();
        Node* sum = pg_call([&] {
            return call_maylongjmp(less == node->inRangeAsc ? distance->subtract : distance->add,
                                   distance->compared, key, offset);
        });
        auto distance_value = translate(offset, {}, "window");
        if (!distance_value) return false;
        auto bound = translate(sum, scope, "window");
        if (!bound) return false;
        checked.push_back(std::move(*distance_value));
        value.push_back(std::move(*bound));
        return true;
    };
    plan::Frame& frame = op.frame;
    if (!add_bound(node->startOffset, frame.start == FrameBound::kPreceding, frame.start_offset,
                   frame.start_value) ||
        !add_bound(node->endOffset, frame.end == FrameBound::kPreceding, frame.end_offset,
                   frame.end_value))
        return false;
    for (const auto* value : {&frame.start_value, &frame.end_value})
        if (!value->empty() && (*value)[0].type.id != compared->type.id) return refused();
    frame.key.push_back(std::move(*compared));
    op.sort_keys[0].descending = !node->inRangeAsc;
    op.sort_keys[0].nulls_first = node->inRangeNullsFirst;
    return true;
}

bool Builder::add_window_call(Operator& op, Core& core, WindowFunc* call, const Scope& scope) {
    const char* name = pg_call([&] { return get_func_name(call->winfnoid); });
    const std::string what = std::string("window function ") + (name != nullptr ? name : "?");
    if (call->winfnoid >= kFirstUserObject) {
        refuse(what + " is left to PostgreSQL");
        return false;
    }
    plan::WindowCall window;
    window.function = call->winfnoid;
    std::vector<plan::Type> types;
    const ListCell* cell;
    foreach (cell, call->args) {
        auto arg = translate(static_cast<Node*>(lfirst(cell)), scope, what.c_str());
        if (!arg) return false;
        if (call->winagg && call->winfnoid != F_COUNT_ANY && plan::is_text(arg->type.id) &&
            !orders_by_bytes(call->inputcollid)) {
            refuse(what + ": the collation does not order text by bytes");
            return false;
        }
        types.push_back(arg->type);
        window.args.push_back(std::move(*arg));
    }
    if (call->aggfilter != nullptr) {
        auto filter = translate(reinterpret_cast<Node*>(call->aggfilter), scope, what.c_str());
        if (!filter) return false;
        window.filter.push_back(std::move(*filter));
    }
    const auto type = exec::window_type(call->winfnoid, types);
    if (!type) {
        refuse(what + " is not one of the engine's");
        return false;
    }
    window.type = *type;
    op.windows.push_back(std::move(window));
    core.scope.push_back({reinterpret_cast<Node*>(call), *type, nullptr});
    return true;
}

std::optional<Core> Builder::window(WindowAgg* node) {
    Plan* input = outerPlan(&node->plan);
    auto below = build(input, Order::kAny);
    if (!below) return std::nullopt;
    if (!below->lifted.empty()) return refuse("window: a value of an enclosing query");
    // Rows come as PostgreSQL's would: sorted for this window and maybe further.
    const auto keys = order_of(input);
    if (!keys) return refuse("the order of a window's rows");
    Core core;
    core.scope = scope_of(input->targetlist, OUTER_VAR, *below);
    Operator source = std::move(below->op);
    if (!keys->empty() && (!are_present(*keys, core.scope) || !add_sort(source, *keys)))
        return std::nullopt;

    Operator op;
    op.kind = OperatorKind::kWindow;
    op.rows = node->plan.plan_rows;
    op.output = source.output;
    Operator partition;
    Operator order;
    if (!add_group_keys(partition, input, node->partNumCols, node->partColIdx, node->partOperators,
                        node->partCollations, core.scope) ||
        !add_group_keys(order, input, node->ordNumCols, node->ordColIdx, node->ordOperators,
                        node->ordCollations, core.scope))
        return std::nullopt;
    op.group_keys = std::move(partition.group_keys);
    for (const plan::Expr& key : order.group_keys) {
        const auto known = std::find_if(keys->begin(), keys->end(), [&](const plan::SortKey& sort) {
            return sort.column == key.index;
        });
        op.sort_keys.push_back(known != keys->end() ? *known
                                                    : plan::SortKey{key.index, false, false});
    }
    if (!add_frame(op, node, core.scope)) return std::nullopt;

    List* calls = NIL;
    for (List* list : {node->plan.targetlist, node->plan.qual})
        pg_call([&] { find_calls_maylongjmp(reinterpret_cast<Node*>(list), &calls); });
    const Scope scope = core.scope;
    const ListCell* cell;
    foreach (cell, calls)
        if (!add_window_call(op, core, lfirst_node(WindowFunc, cell), scope)) return std::nullopt;
    for (const plan::WindowCall& call : op.windows) op.output.push_back(call.type);
    // PostgreSQL counts rows there instead of peers, since 16. Offsets may still be in error.
    if (op.frame.start_offset.empty() && op.frame.end_offset.empty() &&
        std::all_of(op.windows.begin(), op.windows.end(), ignores_frame))
        op.frame = {};
    op.inputs.push_back(std::move(source));
    core.op = std::move(op);
    if (!check(core.op)) return std::nullopt;

    // The top window's rows end where its condition stops holding; it never holds again.
    if (node->runCondition == NIL || !node->topWindow) return core;
    List* conditions = pg_call([&] {
        return reinterpret_cast<List*>(insert_results_maylongjmp(
            reinterpret_cast<Node*>(node->runCondition), node->plan.targetlist));
    });
    if (!add_quals(core, conditions, node->plan.plan_rows)) return std::nullopt;
    return core;
}

std::optional<Core> Builder::distinct_on(Unique* node) {
    Plan* input = outerPlan(&node->plan);
    auto below = build(input, Order::kAny);
    if (!below) return std::nullopt;
    if (!below->lifted.empty()) return refuse("distinct: a value of an enclosing query");
    const auto keys = order_of(input);
    if (!keys || keys->empty()) return refuse("the order of the rows of DISTINCT ON");
    Core core;
    core.scope = scope_of(input->targetlist, OUTER_VAR, *below);
    Operator source = std::move(below->op);
    if (!are_present(*keys, core.scope) || !add_sort(source, *keys)) return std::nullopt;
    Operator op;
    op.kind = OperatorKind::kWindow;
    op.rows = source.rows;
    if (!add_group_keys(op, input, node->numCols, node->uniqColIdx, node->uniqOperators,
                        node->uniqCollations, core.scope))
        return std::nullopt;
    op.output = source.output;
    const plan::Type number = plan::make_type(plan::TypeId::kInt8);
    plan::WindowCall call;
    call.function = F_ROW_NUMBER;
    call.type = number;
    op.windows.push_back(std::move(call));
    op.output.push_back(number);
    op.inputs.push_back(std::move(source));
    core.scope.push_back({nullptr, number, nullptr});
    const auto column = static_cast<int>(op.output.size()) - 1;
    core.op = std::move(op);
    const plan::Expr first =
        plan::make_call(F_INT8EQ, plan::make_type(plan::TypeId::kBool),
                        {plan::make_column(column, number),
                         plan::make_constant(number, column::Scalar::of_int(1))});
    if (!check(core.op) || !add_filter(core, {first}, node->plan.plan_rows)) return std::nullopt;
    return core;
}

}  // namespace loom::pg
