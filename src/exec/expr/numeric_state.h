#pragma once
// What the kernels of numerics with one scale are bound to, for numeric_*.cpp only.

#include <optional>
#include <span>
#include <string>

#include "exec/expr/loops.h"
#include "plan/numeric_type.h"
#include "sql/numeric.h"

namespace loom::exec {

/// What a numeric kernel knows of its scales.
struct NumericState : BoundState {
    sql::Int128 first = 1;   ///< aligns the first argument
    sql::Int128 second = 1;  ///< and the second
    sql::Int128 drop = 1;    ///< the digits that the result loses
    sql::Int128 limit = 0;   ///< the result must be smaller
    int scale = 0;
};

inline const NumericState& numeric_state(const KernelCall& call) {
    return *static_cast<const NumericState*>(call.state);
}

inline bool is_wide(plan::Type type) {
    return plan::physical(type) == plan::Physical::kInt128;
}

/// Adds a numeric function to `out`.
using BindNumeric = bool (*)(std::span<const plan::Expr>, BoundFunction*, std::string*);
void add_numeric(std::vector<Function>& out, uint32_t oid, const char* name, plan::TypeId result,
                 std::initializer_list<plan::TypeId> types, BindNumeric bind, bool may_fault,
                 uint32_t constant_arguments = 0);

/// Adds the roundings and casts.
void add_numeric_casts(std::vector<Function>& out);

}  // namespace loom::exec
