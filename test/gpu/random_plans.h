#pragma once
// Random aggregates over random star schemas.

#include <string>
#include <vector>

#include "made_tables.h"

namespace loom::gpu {

/// A plan and its tables, whose files lie in a folder.
struct Star {
    plan::Operator aggregate;
    exec::Inputs inputs;
};

/// Makes a fact table, up to three dimensions, conditions, groups and aggregates.
Star make_star(Maker& maker, const std::string& directory);

/// Returns a constant of a column's type; dates and times as files count them.
plan::Expr constant(plan::Type type, int64_t value);
/// Returns an aggregate call, with the type that the engine gives it.
plan::Aggregate aggregate_call(uint32_t function, std::vector<plan::Expr> args);
/// Returns a call of a function, with its type. The engine has to have it.
plan::Expr function_call(uint32_t function, std::vector<plan::Expr> args);
/// Returns the function of one of =, <>, <, <=, >, >= of a type with itself.
uint32_t comparison(plan::Type type, uint64_t which);

}  // namespace loom::gpu
