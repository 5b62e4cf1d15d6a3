#include "pg/fdw/prune_qual.h"

#include "pg/bridge/bridge.h"
#include "pg/types/conditions.h"

extern "C" {
#include "access/stratnum.h"
#include "catalog/pg_operator.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/typcache.h"
}

namespace loom::pg {

namespace {

Node* strip_relabel(Node* node) {
    while (node != nullptr && IsA(node, RelabelType))
        node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
    return node;
}

// Casts that keep order and equality, so that bounds on the column still tell.
bool is_monotone_cast(Oid function) {
    switch (function) {
        case F_NUMERIC_INT2:
        case F_NUMERIC_INT4:
        case F_NUMERIC_INT8:
        case F_FLOAT8_FLOAT4:
        case F_INT4_INT2:
        case F_INT8_INT2:
        case F_INT8_INT4:
        case F_TIMESTAMP_DATE:
            return true;
        default:
            return false;
    }
}

Var* column_of(Node* node, Index relid) {
    node = strip_relabel(node);
    if (node != nullptr && IsA(node, FuncExpr)) {
        auto* call = reinterpret_cast<FuncExpr*>(node);
        if (list_length(call->args) == 1 && is_monotone_cast(call->funcid))
            node = strip_relabel(static_cast<Node*>(linitial(call->args)));
    }
    if (node == nullptr || !IsA(node, Var)) return nullptr;
    auto* var = reinterpret_cast<Var*>(node);
    return var->varno == static_cast<int>(relid) && var->varlevelsup == 0 && var->varattno > 0
               ? var
               : nullptr;
}

bool mentions_relation(Node* node, Index relid) {
    Relids relids = pull_varnos(nullptr, node);
    return bms_is_member(static_cast<int>(relid), relids);
}

bool is_usable_value(Node* node, Index relid) {
    return !mentions_relation(node, relid) && !contain_volatile_functions(node) &&
           !contain_subplans(node);
}

bool collation_allows(Oid type, Oid collation, int strategy) {
    if (!OidIsValid(collation)) return true;
    if (strategy != BTEqualStrategyNumber) return collation_is_c_maylongjmp(collation);
    return get_collation_isdeterministic(collation);
}

// Finds the btree strategy of an operator whose left input is the column.
int strategy_of(Oid op, Oid column_type, Oid collation) {
    TypeCacheEntry* entry = lookup_type_cache(column_type, TYPECACHE_BTREE_OPFAMILY);
    Oid left;
    Oid right;
    op_input_types(op, &left, &right);
    Oid family = entry->btree_opf;
    if (left != column_type) {  // the column stands behind a cast: use the cast's target type
        entry = lookup_type_cache(left, TYPECACHE_BTREE_OPFAMILY);
        family = entry->btree_opf;
    }
    if (!OidIsValid(family)) return 0;
    const int strategy = get_op_opfamily_strategy(op, family);
    return strategy != 0 && collation_allows(left, collation, strategy) ? strategy : 0;
}

int add_value(List** values, Node* value) {
    *values = lappend(*values, value);
    return list_length(*values) - 1;
}

bool recognise_like(OpExpr* clause, Var* var, Node* value, List** values, PruneQual* qual) {
    const bool like = clause->opno == OID_TEXT_LIKE_OP;
    const RegProcedure function = get_opcode(clause->opno);
    if (!like && function != F_STARTS_WITH) return false;
    if (var->vartype != TEXTOID && var->vartype != VARCHAROID) return false;
    if (OidIsValid(clause->inputcollid) && !get_collation_isdeterministic(clause->inputcollid))
        return false;
    qual->kind = like ? PruneQual::Kind::kLike : PruneQual::Kind::kPrefix;
    qual->value_index = add_value(values, value);
    return true;
}

bool recognise_operator(OpExpr* clause, Index relid, List** values, PruneQual* qual) {
    if (list_length(clause->args) != 2) return false;
    auto* left = static_cast<Node*>(linitial(clause->args));
    auto* right = static_cast<Node*>(lsecond(clause->args));
    Oid op = clause->opno;
    Var* var = column_of(left, relid);
    if (var == nullptr || mentions_relation(right, relid)) {
        std::swap(left, right);
        var = column_of(left, relid);
        op = get_commutator(op);
    }
    if (var == nullptr || !OidIsValid(op) || !is_usable_value(right, relid)) return false;
    qual->attribute = var->varattno;
    qual->column_type = getBaseType(var->vartype);
    qual->value_type = getBaseType(exprType(right));
    if (op == clause->opno && recognise_like(clause, var, right, values, qual)) return true;
    qual->strategy = strategy_of(op, var->vartype, clause->inputcollid);
    if (qual->strategy == 0) return false;
    qual->kind = PruneQual::Kind::kCompare;
    qual->value_index = add_value(values, right);
    return true;
}

bool recognise_any(ScalarArrayOpExpr* clause, Index relid, List** values, PruneQual* qual) {
    auto* left = static_cast<Node*>(linitial(clause->args));
    auto* right = static_cast<Node*>(lsecond(clause->args));
    Var* var = column_of(left, relid);
    if (!clause->useOr || var == nullptr || !is_usable_value(right, relid)) return false;
    if (strategy_of(clause->opno, var->vartype, clause->inputcollid) != BTEqualStrategyNumber)
        return false;
    qual->kind = PruneQual::Kind::kAnyOf;
    qual->attribute = var->varattno;
    qual->column_type = getBaseType(var->vartype);
    qual->value_type = get_base_element_type(exprType(right));
    qual->strategy = BTEqualStrategyNumber;
    if (!OidIsValid(qual->value_type)) return false;
    qual->value_index = add_value(values, right);
    return true;
}

bool recognise_boolean(Node* node, bool wanted, Index relid, List** values, PruneQual* qual) {
    Var* var = column_of(node, relid);
    if (var == nullptr || var->vartype != BOOLOID) return false;
    qual->kind = PruneQual::Kind::kCompare;
    qual->attribute = var->varattno;
    qual->column_type = qual->value_type = BOOLOID;
    qual->strategy = BTEqualStrategyNumber;
    qual->value_index = add_value(values, makeBoolConst(wanted, false));
    return true;
}

bool recognise_null_test(NullTest* clause, Index relid, PruneQual* qual) {
    Var* var = column_of(reinterpret_cast<Node*>(clause->arg), relid);
    if (var == nullptr || clause->argisrow) return false;
    qual->kind =
        clause->nulltesttype == IS_NULL ? PruneQual::Kind::kIsNull : PruneQual::Kind::kIsNotNull;
    qual->attribute = var->varattno;
    qual->column_type = getBaseType(var->vartype);
    return true;
}

bool recognise_or(BoolExpr* clause, Index relid, List** values, PruneQual* qual) {
    const ListCell* cell;
    foreach (cell, clause->args) {
        qual->arms.emplace_back();
        PruneQual& arm = qual->arms.back();
        if (!recognise_prune_qual(static_cast<Expr*>(lfirst(cell)), relid, values, &arm) ||
            arm.attribute != qual->arms.front().attribute)
            return false;
    }
    qual->kind = PruneQual::Kind::kOr;
    qual->attribute = qual->arms.front().attribute;
    return true;
}

}  // namespace

bool recognise_prune_qual(Expr* clause, Index relid, List** values, PruneQual* qual) {
    Node* node = reinterpret_cast<Node*>(clause);
    switch (nodeTag(node)) {
        case T_OpExpr:
            return pg_call([&] {
                return recognise_operator(reinterpret_cast<OpExpr*>(node), relid, values, qual);
            });
        case T_ScalarArrayOpExpr:
            return pg_call([&] {
                return recognise_any(reinterpret_cast<ScalarArrayOpExpr*>(node), relid, values,
                                     qual);
            });
        case T_NullTest:
            return pg_call([&] {
                return recognise_null_test(reinterpret_cast<NullTest*>(node), relid, qual);
            });
        case T_Var:
            return pg_call([&] { return recognise_boolean(node, true, relid, values, qual); });
        case T_BoolExpr: {
            auto* boolean = reinterpret_cast<BoolExpr*>(node);
            if (boolean->boolop == NOT_EXPR)
                return pg_call([&] {
                    return recognise_boolean(static_cast<Node*>(linitial(boolean->args)), false,
                                             relid, values, qual);
                });
            return boolean->boolop == OR_EXPR && recognise_or(boolean, relid, values, qual);
        }
        default:
            return false;
    }
}

List* serialise(const PruneQual& qual) {
    List* list = pg_call([&] {
        List* fields = NIL;
        fields = lappend(fields, makeInteger(static_cast<int>(qual.kind)));
        fields = lappend(fields, makeInteger(qual.attribute));
        fields = lappend(fields, makeInteger(static_cast<int>(qual.column_type)));
        fields = lappend(fields, makeInteger(static_cast<int>(qual.value_type)));
        fields = lappend(fields, makeInteger(qual.strategy));
        return lappend(fields, makeInteger(qual.value_index));
    });
    for (const PruneQual& arm : qual.arms) {
        List* child = serialise(arm);
        list = pg_call([&] { return lappend(list, child); });
    }
    return list;
}

PruneQual deserialise_prune_qual(List* list) {
    auto field = [&](int i) { return intVal(list_nth(list, i)); };
    PruneQual qual;
    qual.kind = static_cast<PruneQual::Kind>(field(0));
    qual.attribute = static_cast<AttrNumber>(field(1));
    qual.column_type = static_cast<Oid>(field(2));
    qual.value_type = static_cast<Oid>(field(3));
    qual.strategy = field(4);
    qual.value_index = field(5);
    for (int i = 6; i < list_length(list); ++i)
        qual.arms.push_back(deserialise_prune_qual(static_cast<List*>(list_nth(list, i))));
    return qual;
}

namespace {

void add_bounds(const FieldBounds& bounds, format::PruneCondition* condition) {
    condition->ranges.push_back(to_range(bounds));
    condition->nans = condition->nans || bounds.nans;
}

bool add_any_of(const PruneQual& qual, const QualValue& array, const column::DataType& field,
                format::PruneCondition* condition) {
    Datum* elements = nullptr;
    bool* nulls = nullptr;
    int count = 0;
    pg_call([&] {
        int16 length;
        bool by_value;
        char align;
        get_typlenbyvalalign(qual.value_type, &length, &by_value, &align);
        deconstruct_array(DatumGetArrayTypeP(array.value), qual.value_type, length, by_value, align,
                          &elements, &nulls, &count);
    });
    const Comparison comparison{qual.column_type, qual.value_type, BTEqualStrategyNumber};
    for (int i = 0; i < count; ++i) {
        if (nulls[i]) continue;
        const FieldBounds bounds = pg_call(
            [&] { return bounds_of_comparison_maylongjmp(comparison, elements[i], field); });
        if (bounds.kind == FieldBounds::Kind::kUnusable) return false;
        add_bounds(bounds, condition);
    }
    return true;
}

bool add_qual(const PruneQual& qual, const std::vector<QualValue>& values,
              const column::DataType& field, format::PruneCondition* condition) {
    using Kind = PruneQual::Kind;
    if (qual.kind == Kind::kOr) {
        for (const PruneQual& arm : qual.arms)
            if (!add_qual(arm, values, field, condition)) return false;
        return true;
    }
    if (qual.kind == Kind::kIsNull) {
        condition->nulls = true;
        return true;
    }
    if (qual.kind == Kind::kIsNotNull) {
        condition->ranges.emplace_back();
        condition->nans = true;
        return true;
    }
    const QualValue& value = values[qual.value_index];
    if (!value.known) return false;
    if (value.null) return true;  // strict operators: no row satisfies this arm
    if (qual.kind == Kind::kAnyOf) return add_any_of(qual, value, field, condition);
    const FieldBounds bounds = pg_call([&] {
        if (qual.kind == Kind::kLike) return bounds_of_like_maylongjmp(value.value, field);
        if (qual.kind == Kind::kPrefix) return bounds_of_prefix_maylongjmp(value.value, field);
        return bounds_of_comparison_maylongjmp({qual.column_type, qual.value_type, qual.strategy},
                                               value.value, field);
    });
    if (bounds.kind == FieldBounds::Kind::kUnusable) return false;
    add_bounds(bounds, condition);
    return true;
}

}  // namespace

bool make_condition(const PruneQual& qual, const std::vector<QualValue>& values,
                    const column::DataType& field, int field_index,
                    format::PruneCondition* condition) {
    condition->column = field_index;
    condition->nans = false;
    condition->nulls = false;
    return add_qual(qual, values, field, condition);
}

}  // namespace loom::pg
