#pragma once
// A compiled expression: a tree of nodes with bound kernels. Immutable.

#include <memory>
#include <vector>

#include "base/buffer.h"
#include "exec/expr/member_set.h"
#include "exec/expr/registry.h"
#include "exec/expression.h"

namespace loom::exec {

enum class NodeKind : uint8_t {
    kColumn,
    kConstant,
    kCall,
    kAnd,
    kOr,
    kNot,
    kIsNull,
    kIsNotNull,
    kIsTrue,
    kIsNotTrue,
    kIsFalse,
    kIsNotFalse,
    kRange,    ///< low <= args[0] <= high over int16, int32 or int64, or the opposite
    kMembers,  ///< args[0] is, or is not, in `members`
    kAny,      ///< args[0] against each of the other args, which are constants, joined by OR
    kAll,      ///< the same joined by AND
    kDistinct,
    kNullIf,
    kCase,
    kCoalesce,
    kGreatest,
    kLeast,
    kHost  ///< expression `host` of the host, over args
};

/// The value of a constant, with the slack that a Vector promises.
struct ConstantValue {
    alignas(64) uint8_t value[64 + base::kBufferSlack] = {};
    uint8_t validity[64 + base::kBufferSlack] = {};
    std::vector<uint8_t> bytes;  ///< of kBytes; `value` is the view of them

    ConstantValue() = default;
    ConstantValue(ConstantValue&&) = default;
    ConstantValue& operator=(ConstantValue&&) = default;

    void set_bytes(const uint8_t* data, int64_t size);
    bool is_null() const noexcept { return validity[0] == 0; }
};

struct Node {
    NodeKind kind = NodeKind::kConstant;
    plan::Type type;
    plan::Physical physical = plan::Physical::kBool;
    int slot = 0;            ///< of the scratch memory that an evaluator keeps for the node
    int column = -1;         ///< kColumn
    int host = -1;           ///< kHost
    bool may_fault = false;  ///< in itself or below
    bool asks_host = false;  ///< likewise
    bool constant = false;   ///< depends on no column
    std::vector<int> columns;
    std::vector<std::unique_ptr<Node>> args;
    BoundFunction function;
    ConstantValue value;

    int64_t low = 0;  ///< kRange; empty if above high
    int64_t high = 0;
    bool negated = false;  ///< kRange, kMembers
    MemberSet members;
    bool list_has_null = false;  ///< kMembers: what does not match is unknown

    /// The column that alone decides the value, or -1.
    int only_column() const noexcept { return columns.size() == 1 ? columns[0] : -1; }
};

struct Expression::Program {
    std::unique_ptr<Node> root;
    int slots = 0;
};

/// Compiles an expression. With `parameters` null it is a trial: parameters count as unknown
/// constants. Returns nullptr with a reason if something is not supported.
std::unique_ptr<Node> compile(const plan::Expr& expr,
                              const std::vector<plan::ParameterValue>* parameters, int* slots,
                              std::string* reason);

/// Turns a scalar in the engine's domain into a value; false if it does not fit the type.
bool set_constant(plan::Type type, const column::Scalar& scalar, ConstantValue* out);
/// Reads an integer of one of the types up to 64 bits.
int64_t integer_value(plan::Physical physical, const void* value);
/// Points a constant vector at a value.
Vector constant_vector(plan::Type type, const ConstantValue& value);

}  // namespace loom::exec
