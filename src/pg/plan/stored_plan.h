#pragma once
// What a LoomScan's plan node keeps: custom_private, custom_exprs.

#include "pg/compat/backend.h"

#include <string>
#include <vector>

#include "pg/plan/builder.h"

namespace loom::pg {

inline constexpr const char* kNodeName = "LoomScan";

/// A parameter that the backend evaluates; its expression is custom_exprs[its index].
struct StoredParameter {
    plan::Type type;
    bool is_list = false;
};

/// A table; its expressions follow those of the parameters and of earlier tables: the values, then
/// the virtual quals.
struct StoredTable {
    Oid relation = InvalidOid;
    Index rtindex = 0;
    List* quals = NIL;
    int value_count = 0;
    int virtual_count = 0;
};

struct StoredPlan {
    plan::Operator root;
    std::vector<StoredParameter> parameters;
    std::vector<StoredTable> tables;
    /// What the expressions yield that PostgreSQL evaluates row by row; the last of custom_exprs.
    std::vector<plan::Type> calls;
    std::vector<std::string> not_pushed;
    std::string session_zone;  ///< the session's time zone that the plan holds for; empty: any
};

/// Makes the node that stands for the subtree `original`, which becomes its fallback.
CustomScan* make_loom_scan(const BuiltPlan& built, Plan* original);
StoredPlan read_stored_plan(const CustomScan* scan);

}  // namespace loom::pg
