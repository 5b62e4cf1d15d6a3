#pragma once
// The functions that the engine can call, by PostgreSQL's pg_proc OID.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/expr.h"
#include "sql/calendar.h"

namespace loom::exec {

/// Arguments that a registered function has at most.
inline constexpr int kMaxArguments = 4;

/// What a caller sees of a registered function. All are strict.
struct FunctionInfo {
    uint32_t oid = 0;
    std::string name;  ///< pg_proc.proname
    plan::TypeId result = plan::TypeId::kInt4;
    int arguments = 0;
    plan::TypeId types[kMaxArguments] = {};
    bool may_fault = false;  ///< can raise SqlFault or Unrepresentable
    /// Bit i set: argument i must be a constant (a format, a scale, a field's name).
    uint32_t constant_arguments = 0;
    /// The definition in src/sql that computes one value, as C++ names it, for code that is
    /// generated: `loom::sql::integer_add<int, short int>`. Empty where the engine has more than
    /// such a definition. It takes the arguments and, if may_fault, a Fault&.
    std::string definition;
    bool swapped = false;  ///< `definition` takes its two arguments in the other order
};

/// A definition in src/sql that computes a call whose arguments have certain types, for code that
/// is generated. It takes `arguments` of the call's (-1: all) from `first_argument` on, then
/// `constants`, then, if takes_fault, a Fault&.
struct BoundDefinition {
    std::string name;  ///< as FunctionInfo::definition; empty: there is none
    int first_argument = 0;
    int arguments = -1;
    std::vector<__int128> constants;
    bool takes_fault = false;
    bool may_fault = false;  ///< for arguments of these types
    bool swapped = false;    ///< as FunctionInfo's
    /// The same over int64_t, without a Fault&: for results that are sure to fit 64 bits, from
    /// arguments and constants modulo 2^64.
    std::string modulo_64;
    /// The same over int64_t, without a Fault&: where the result and each argument times its
    /// constant (argument i, constant i; 1 if there are none) are sure to fit 64 bits.
    std::string aligned_64;
    std::optional<sql::Field> field;  ///< of a date or timestamp that the call extracts, or cuts at
};

/// Returns every function, each once, by ascending OID.
std::span<const FunctionInfo> registered_functions();
/// Returns one of them, or nullptr.
const FunctionInfo* find_function(uint32_t oid);

/// Returns the definition that computes a call, or one without a name.
BoundDefinition definition_of(uint32_t oid, std::span<const plan::Expr> arguments);

/// Returns whether computing an expression, aggregates as calls among them, may raise SqlFault or
/// Unrepresentable for some row; where that depends on more than the functions' names, true.
bool may_raise(const plan::Expr& expr);

/// Returns the type of a call's result (precision and scale of a numeric follow from the
/// arguments), or nothing, with `reason` for a DBA, where the engine cannot compute the call
/// exactly. Looks at the types of `arguments` and at the values of constants.
std::optional<plan::Type> result_type(uint32_t oid, std::span<const plan::Expr> arguments,
                                      std::string* reason);

}  // namespace loom::exec
