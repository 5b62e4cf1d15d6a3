#pragma once
// How functions are registered: a description for callers, and the kernel that computes a batch.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exec/expr/text_heap.h"
#include "exec/functions.h"
#include "exec/vector.h"

namespace loom::exec {

/// What a bound function keeps: factors of a scale change, a compiled pattern.
struct BoundState {
    virtual ~BoundState() = default;
};

/// One batch of one call.
struct KernelCall {
    const Vector* args = nullptr;  ///< kPlain or kConstant; not all constant unless rows is 1
    int64_t rows = 0;
    const uint8_t* validity = nullptr;  ///< rows where all arguments are known; null: all
    void* out = nullptr;                ///< room for rows and base::kBufferSlack
    TextHeap* heap = nullptr;           ///< for results of kBytes
    const BoundState* state = nullptr;
};
/// Computes out[0, rows). Rows that are NULL by `validity` get any value and raise nothing.
using Kernel = void (*)(const KernelCall&);

/// A function with its kernel for arguments of certain types.
struct BoundFunction {
    uint32_t oid = 0;
    Kernel kernel = nullptr;
    bool may_fault = false;
    plan::Type type;
    std::shared_ptr<const BoundState> state;
    BoundDefinition definition;  ///< without what the function's description says already
};

/// The operators of a btree order; kOrder is its three-way comparison.
enum class Comparison : uint8_t {
    kNone,
    kEqual,
    kNotEqual,
    kLess,
    kLessEqual,
    kGreater,
    kGreaterEqual,
    kOrder
};

/// One registered function. Without `bind` the kernel fits as it is and the type has no modifier.
/// `bind` fills `bound`, or says in `reason` why it cannot.
struct Function {
    FunctionInfo info;
    Kernel kernel = nullptr;
    Comparison comparison = Comparison::kNone;
    bool (*bind)(std::span<const plan::Expr> args, BoundFunction* bound,
                 std::string* reason) = nullptr;
};

/// Returns the registered function, or nullptr.
const Function* find(uint32_t oid);
/// Binds a call; false with a reason if the engine cannot compute it exactly.
bool bind_function(uint32_t oid, std::span<const plan::Expr> args, BoundFunction* bound,
                   std::string* reason);

/// Each family adds its functions.
void add_comparisons(std::vector<Function>& out);
void add_integer_functions(std::vector<Function>& out);
void add_numeric_functions(std::vector<Function>& out);
void add_float_functions(std::vector<Function>& out);
void add_text_functions(std::vector<Function>& out);
void add_calendar_functions(std::vector<Function>& out);
void add_regex_functions(std::vector<Function>& out);
void add_zone_functions(std::vector<Function>& out);

}  // namespace loom::exec
