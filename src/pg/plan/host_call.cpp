#include "pg/plan/host_call.h"

#include "pg/bridge/bridge.h"

extern "C" {
#include "utils/ruleutils.h"
}

namespace loom::pg {

namespace {

bool is_leaf(const Node* node) {
    switch (nodeTag(node)) {
        case T_Var:
        case T_Aggref:
        case T_GroupingFunc:
        case T_WindowFunc:
        case T_SubPlan:
        case T_AlternativeSubPlan:
            return true;
        case T_Param:
            return reinterpret_cast<const Param*>(node)->paramkind == PARAM_EXEC;
        default:
            return false;
    }
}

struct Collecting {
    List* nodes = NIL;
    bool is_closed = true;
    int placeholders = 0;  ///< enclosing nodes that give CaseTestExpr a value
};

bool collect_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return false;
    auto* collecting = static_cast<Collecting*>(arg);
    if (is_leaf(node)) {
        collecting->nodes = list_append_unique(collecting->nodes, node);
        return false;
    }
    switch (nodeTag(node)) {
        case T_CaseTestExpr:
            collecting->is_closed = collecting->is_closed && collecting->placeholders > 0;
            return false;
        case T_CoerceToDomainValue:
        case T_CurrentOfExpr:
            collecting->is_closed = false;
            return false;
        case T_CaseExpr:
        case T_ArrayCoerceExpr: {
            ++collecting->placeholders;
            const bool stop = walk_expression(node, collect_maylongjmp, arg);
            --collecting->placeholders;
            return stop;
        }
        default:
            return walk_expression(node, collect_maylongjmp, arg);
    }
}

// Puts arguments in the place of leaves: columns of a row, or `$1`, which reads well.
struct Replacing {
    List* leaves;
    bool for_reading;
};

Node* replace_maylongjmp(Node* node, void* arg) {
    if (node == nullptr) return nullptr;
    if (!is_leaf(node)) return mutate_expression(node, replace_maylongjmp, arg);
    const auto* replacing = static_cast<Replacing*>(arg);
    int number = 1;
    const ListCell* cell;
    foreach (cell, replacing->leaves) {
        if (equal(lfirst(cell), node)) break;
        ++number;
    }
    if (!replacing->for_reading)
        return reinterpret_cast<Node*>(makeVar(OUTER_VAR, static_cast<AttrNumber>(number),
                                               exprType(node), exprTypmod(node),
                                               exprCollation(node), 0));
    auto* param = makeNode(Param);
    param->paramkind = PARAM_EXTERN;
    param->paramid = number;
    param->paramtype = exprType(node);
    param->paramtypmod = exprTypmod(node);
    param->paramcollid = exprCollation(node);
    param->location = -1;
    return reinterpret_cast<Node*>(param);
}

}  // namespace

HostLeaves host_leaves(Node* node) {
    Collecting collecting;
    pg_call([&] { collect_maylongjmp(node, &collecting); });
    return {collecting.nodes, collecting.is_closed};
}

bool may_be_host_call(Node* node, bool leakproof) {
    return pg_call([&] {
        return !contain_volatile_functions(node) && !expression_returns_set(node) &&
               !(leakproof && contain_leaked_vars(node));
    });
}

HostCall make_host_call(Node* node, const HostLeaves& leaves) {
    HostCall call;
    const char* text = nullptr;
    pg_call([&] {
        Replacing replacing{leaves.nodes, false};
        call.expr = replace_maylongjmp(node, &replacing);
        replacing.for_reading = true;
        text = deparse_expression(replace_maylongjmp(node, &replacing), NIL, false, false);
    });
    call.text = text;
    return call;
}

}  // namespace loom::pg
