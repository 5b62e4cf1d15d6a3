#pragma once
// Expressions of the IR: trees of plain data.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "column/scalar.h"
#include "plan/type.h"

namespace loom::plan {

enum class ExprKind : uint8_t {
    kColumn,     ///< column `index` of the operator's input
    kConstant,   ///< `value`; kNone is NULL
    kParameter,  ///< parameter `index`: constant during one execution
    kCall,       ///< function `function` of args; strict unless the registry says otherwise
    kAnd,        ///< all of args, three-valued, evaluated left to right
    kOr,
    kNot,
    kIsNull,
    kIsNotNull,
    kIsTrue,
    kIsNotTrue,
    kIsFalse,
    kIsNotFalse,
    kIsDistinct,  ///< args[0] IS DISTINCT FROM args[1]; `function` is the type's equality
    kNullIf,      ///< `function` is the type's equality
    kCase,        ///< args: condition, result, condition, result, ..., default (always there)
    kCoalesce,
    kGreatest,  ///< `function` is the type's three-way comparison (btree support function 1)
    kLeast,
    kAnyOf,  ///< args[0] operator ANY (list): `function` is the operator's function
    kAllOf,  ///< args[0] operator ALL (list)
    kHost    ///< expression `index` of the host, over args; `value` is its text, with $1, $2, ...
};

/// One node of an expression. Functions are named by the OID of PostgreSQL's pg_proc entry, which
/// built-in functions keep from release to release.
struct Expr {
    ExprKind kind = ExprKind::kConstant;
    Type type;
    int32_t index = -1;
    uint32_t function = 0;
    column::Scalar value;
    /// kAnyOf, kAllOf: the array's elements; with index >= 0 it is parameter `index` instead.
    std::vector<column::Scalar> list;
    bool list_null = false;  ///< kAnyOf, kAllOf: the array itself is NULL
    std::vector<Expr> args;
};

/// The value of a parameter during one execution. Scalars are in the domain of the engine's type:
/// integers for kBool to kInt8, kNumeric (unscaled), kDate to kTimestampTz, kOpaqueWord; floats;
/// bytes for text, bytea, kOpaque, kUuid (16 bytes), kInterval (the struct's 16 bytes) and Decimals
/// (decimal_scalar()).
struct ParameterValue {
    column::Scalar value;
    std::vector<column::Scalar> list;
    bool list_null = false;
};

/// A Decimal as a scalar, and back; nothing for a scalar that is none.
column::Scalar decimal_scalar(Decimal value);
std::optional<Decimal> decimal_of(const column::Scalar& scalar);

Expr make_column(int index, Type type);
Expr make_constant(Type type, column::Scalar value);
Expr make_call(uint32_t function, Type type, std::vector<Expr> args);

/// Returns `value` where all of `conditions` are true, else NULL: it is computed for no other rows.
Expr value_if(std::vector<Expr> conditions, Expr value);

/// Returns the input columns that the expression reads, ascending, each once.
std::vector<int> columns_of(const Expr& expr);

}  // namespace loom::plan
