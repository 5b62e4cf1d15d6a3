#include "pg/plan/may_raise.h"

#include <algorithm>
#include <string_view>

#include "exec/functions.h"
#include "pg/bridge/bridge.h"

namespace loom::pg {

namespace {

constexpr Oid kFirstUserObject = 16384;

// Functions that the engine lacks and that take any value. Those on patterns and paths fail for
// some of these, but then for the first row already.
constexpr std::string_view kHarmless[] = {"textregexeq",
                                          "textregexne",
                                          "texticregexeq",
                                          "texticregexne",
                                          "texticlike",
                                          "texticnlike",
                                          "bpcharregexeq",
                                          "bpcharregexne",
                                          "bpchariclike",
                                          "bpcharicnlike",
                                          "arraycontains",
                                          "arraycontained",
                                          "arrayoverlap",
                                          "array_eq",
                                          "array_ne",
                                          "array_lt",
                                          "array_gt",
                                          "array_le",
                                          "array_ge",
                                          "array_length",
                                          "cardinality",
                                          "jsonb_exists",
                                          "jsonb_exists_any",
                                          "jsonb_exists_all",
                                          "jsonb_contains",
                                          "jsonb_contained",
                                          "jsonb_object_field",
                                          "jsonb_object_field_text",
                                          "jsonb_array_element",
                                          "jsonb_array_element_text",
                                          "jsonb_eq",
                                          "jsonb_ne",
                                          "jsonb_typeof",
                                          "network_eq",
                                          "network_ne",
                                          "network_lt",
                                          "network_gt",
                                          "network_le",
                                          "network_ge",
                                          "network_sub",
                                          "network_subeq",
                                          "network_sup",
                                          "network_supeq",
                                          "network_overlap",
                                          "lower",
                                          "upper",
                                          "initcap",
                                          "now",
                                          "record_eq",
                                          "record_ne",
                                          "numeric_eq",
                                          "numeric_ne",
                                          "numeric_lt",
                                          "numeric_gt",
                                          "numeric_le",
                                          "numeric_ge"};

bool is_harmless_function(Oid function, void*) {
    if (function >= kFirstUserObject) return false;
    const exec::FunctionInfo* info = exec::find_function(function);
    if (info != nullptr) return !info->may_fault;
    if (get_func_leakproof(function)) return true;
    const char* name = get_func_name(function);
    return name != nullptr &&
           std::find(std::begin(kHarmless), std::end(kHarmless), name) != std::end(kHarmless);
}

bool raises_maylongjmp(Node* node, void*) {
    if (node == nullptr) return false;
    switch (nodeTag(node)) {
        case T_Const:
        case T_Var:
        case T_Param:
        case T_Aggref:
        case T_GroupingFunc:
        case T_CaseTestExpr:
        case T_SQLValueFunction:
            return false;
        case T_List:
        case T_BoolExpr:
        case T_NullTest:
        case T_BooleanTest:
        case T_CaseExpr:
        case T_CaseWhen:
        case T_CoalesceExpr:
        case T_MinMaxExpr:
        case T_RelabelType:
        case T_ArrayExpr:
        case T_RowExpr:
        case T_FieldSelect:
        case T_FuncExpr:
        case T_OpExpr:
        case T_DistinctExpr:
        case T_NullIfExpr:
        case T_ScalarArrayOpExpr:
            break;
        default:
            return true;
    }
    if (check_functions_in_node(
            node,
            [](Oid function, void* context) { return !is_harmless_function(function, context); },
            nullptr))
        return true;
    return walk_expression(node, raises_maylongjmp, nullptr);
}

}  // namespace

bool may_raise_maylongjmp(Node* node) {
    return raises_maylongjmp(node, nullptr);
}

bool may_raise(Node* node) {
    return pg_call([&] { return may_raise_maylongjmp(node); });
}

}  // namespace loom::pg
