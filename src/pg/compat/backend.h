#pragma once
// The only door to PostgreSQL's headers, and the only place that knows how its versions differ.
// Every file of src/pg includes this one first.

// utils/pg_locale.h includes ICU's headers, whose C++ part must not stand in extern "C". PostgreSQL
// says so itself in newer minor releases only (15.20 does, 16.6 does not).
#undef U_SHOW_CPLUSPLUS_API
#define U_SHOW_CPLUSPLUS_API 0

extern "C" {
#include "postgres.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/heap.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/explain.h"
#include "fmgr.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
}

// PostgreSQL's own macros with common names get in the way of the standard library.
#undef Min
#undef Max
#undef Abs
#undef gettext
#undef ngettext
#undef snprintf
#undef vsnprintf
#undef sprintf
#undef printf
#undef fprintf
#undef strerror
#undef _

namespace loom::pg {

/// create_foreignscan_path, whose argument list grew in 17 (restriction list) and 18 (disabled
/// nodes).
inline ForeignPath* make_foreign_scan_path(PlannerInfo* root, RelOptInfo* rel, double rows,
                                           Cost startup_cost, Cost total_cost,
                                           Relids required_outer) {
    return create_foreignscan_path(root, rel, nullptr, rows,
#if PG_VERSION_NUM >= 180000
                                   0,
#endif
                                   startup_cost, total_cost, NIL, required_outer, nullptr,
#if PG_VERSION_NUM >= 170000
                                   NIL,
#endif
                                   NIL);
}

/// create_foreign_upper_path, with the same differences.
inline ForeignPath* make_foreign_upper_path(PlannerInfo* root, RelOptInfo* rel, PathTarget* target,
                                            double rows, Cost startup_cost, Cost total_cost,
                                            List* private_list) {
    return create_foreign_upper_path(root, rel, target, rows,
#if PG_VERSION_NUM >= 180000
                                     0,
#endif
                                     startup_cost, total_cost, NIL, nullptr,
#if PG_VERSION_NUM >= 170000
                                     NIL,
#endif
                                     private_list);
}

/// expression_tree_walker, whose callback has had a prototype only since 16.
inline bool walk_expression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return expression_tree_walker(node, walker, context);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
    return expression_tree_walker(node, reinterpret_cast<bool (*)()>(walker), context);
#pragma GCC diagnostic pop
#endif
}

/// expression_tree_mutator, likewise.
inline Node* mutate_expression(Node* node, Node* (*mutator)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
    return expression_tree_mutator(node, mutator, context);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
    return expression_tree_mutator(node, reinterpret_cast<Node* (*)()>(mutator), context);
#pragma GCC diagnostic pop
#endif
}

/// query_tree_walker, likewise.
inline bool walk_query(Query* query, bool (*walker)(Node*, void*), void* context, int flags) {
#if PG_VERSION_NUM >= 160000
    return query_tree_walker(query, walker, context, flags);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-function-type"
    return query_tree_walker(query, reinterpret_cast<bool (*)()>(walker), context, flags);
#pragma GCC diagnostic pop
#endif
}

/// Takes away the mark of a node that the planner's settings disable, which EXPLAIN shows since 18.
inline void unmark_disabled(Plan* plan) {
#if PG_VERSION_NUM >= 180000
    plan->disabled_nodes = 0;
#endif
}

/// copyObject, whose macro needs an extension of the language.
template <typename T>
T* copy_object_maylongjmp(const T* node) {
    return static_cast<T*>(copyObjectImpl(node));
}

/// parseTypeString, whose last argument says since 16 where a soft error goes.
inline void parse_type_maylongjmp(const char* text, Oid* type, int32* typmod) {
#if PG_VERSION_NUM >= 160000
    parseTypeString(text, type, typmod, nullptr);
#else
    parseTypeString(text, type, typmod, false);
#endif
}

/// InsertPgAttributeTuples with the same attoptions (0: none) for all attributes; since 17 they
/// come in a struct with the statistics target.
inline void insert_attributes_maylongjmp(Relation pg_attribute, TupleDesc descriptor, Oid table,
                                         Datum options, CatalogIndexState indexes) {
#if PG_VERSION_NUM >= 170000
    auto* extra = static_cast<FormExtraData_pg_attribute*>(
        palloc0(sizeof(FormExtraData_pg_attribute) * (descriptor->natts + 1)));
    for (int i = 0; i < descriptor->natts; ++i) {
        extra[i].attstattarget.isnull = true;
        extra[i].attoptions.value = options;
        extra[i].attoptions.isnull = options == 0;
    }
#else
    auto* extra = static_cast<Datum*>(palloc(sizeof(Datum) * (descriptor->natts + 1)));
    for (int i = 0; i < descriptor->natts; ++i) extra[i] = options;
#endif
    InsertPgAttributeTuples(pg_attribute, descriptor, table, extra, indexes);
}

/// What a SetOp compares. Before 18 it has one input, whose column `flag` says which side a row is
/// of: 0 or 1; since 18 it has an input for each side, and `flag` is 0.
struct SetOpKeys {
    int columns;
    const AttrNumber* indexes;
    const Oid* equalities;
    const Oid* collations;
    AttrNumber flag;
};

inline SetOpKeys set_op_keys_maylongjmp(const SetOp* node) {
#if PG_VERSION_NUM >= 180000
    // Where the inputs are sorted, the operators are those that sort.
    auto* equalities = static_cast<Oid*>(palloc(sizeof(Oid) * (node->numCols + 1)));
    for (int i = 0; i < node->numCols; ++i)
        equalities[i] = node->strategy == SETOP_SORTED
                            ? get_equality_op_for_ordering_op(node->cmpOperators[i], nullptr)
                            : node->cmpOperators[i];
    return {node->numCols, node->cmpColIdx, equalities, node->cmpCollations, 0};
#else
    return {node->numCols, node->dupColIdx, node->dupOperators, node->dupCollations,
            node->flagColIdx};
#endif
}

/// Returns whether a collation orders text by bytes.
bool collation_is_c_maylongjmp(Oid collation);
bool ctype_is_c_maylongjmp(Oid collation);

/// Returns whether the current user has the rights of pg_read_server_files.
bool may_read_server_files() noexcept;

}  // namespace loom::pg
