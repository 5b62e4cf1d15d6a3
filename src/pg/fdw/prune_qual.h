#pragma once
// Clauses that statistics can decide: found at plan time, evaluated once a scan starts.

#include "pg/compat/backend.h"

#include <vector>

#include "format/prune.h"

namespace loom::pg {

/// A clause on one column in a form that bounds can exclude.
struct PruneQual {
    enum class Kind : int {
        kCompare,  ///< column OP value
        kAnyOf,    ///< column = ANY (array)
        kLike,     ///< column LIKE pattern
        kPrefix,   ///< column ^@ prefix
        kIsNull,
        kIsNotNull,
        kOr  ///< any of `arms`, all on the same column
    };
    Kind kind = Kind::kCompare;
    AttrNumber attribute = 0;
    Oid column_type = InvalidOid;
    Oid value_type = InvalidOid;  ///< kAnyOf: the element's type
    int strategy = 0;
    int value_index = -1;  ///< into the list of value expressions
    std::vector<PruneQual> arms;
};

/// Recognises `clause` for relation `relid`. Appends the value expressions that it needs to
/// `*values`. Returns whether it can be used. May raise PostgreSQL errors; `qual` is plain until it
/// returns true.
bool recognise_prune_qual(Expr* clause, Index relid, List** values, PruneQual* qual);

/// Stores a qual in lists of integers that copyObject and the plan cache understand, and back.
List* serialise(const PruneQual& qual);
PruneQual deserialise_prune_qual(List* list);

/// The values of a scan's parameters and constants, in the order of value expressions.
struct QualValue {
    Datum value = 0;
    bool null = true;
    bool known = true;  ///< false: not yet under EXPLAIN, or an error if computed now
};

/// Builds the condition on `field` (column `field_index` of a file) that `qual` means with
/// `values`. Returns false if this file's type can't be used for skipping.
bool make_condition(const PruneQual& qual, const std::vector<QualValue>& values,
                    const column::DataType& field, int field_index,
                    format::PruneCondition* condition);

}  // namespace loom::pg
