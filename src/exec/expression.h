#pragma once
// Expressions ready to run, a batch at a time.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "exec/fault.h"
#include "exec/vector.h"
#include "plan/expr.h"

namespace loom::exec {

/// Tells whether the engine can evaluate an expression exactly as PostgreSQL does; if not, `reason`
/// says why, for a DBA. Text counts as of a deterministic collation, and its order as that of C.
/// The elements of a numeric list (kAnyOf, kAllOf) have the scale of the value that they are
/// compared with. Arms of a choice have one display scale.
bool supports(const plan::Expr& expr, std::string* reason);

/// A compiled expression with the parameters of one execution folded in. Immutable; threads share
/// it.
class Expression {
  public:
    /// Raises Unrepresentable for what supports() refuses.
    Expression(const plan::Expr& expr, std::span<const plan::ParameterValue> parameters);
    ~Expression();
    Expression(Expression&&) noexcept;
    Expression& operator=(Expression&&) noexcept;

    plan::Type type() const noexcept;
    /// Input columns that are read, ascending.
    const std::vector<int>& columns() const noexcept;
    /// Whether evaluation can raise SqlFault or Unrepresentable.
    bool may_fault() const noexcept;
    /// Whether evaluation can raise Unrepresentable, where PostgreSQL has a value.
    bool may_give_up() const noexcept;
    /// Whether the value is the same for all rows.
    bool is_constant() const noexcept;

    struct Program;
    const Program& program() const noexcept { return *program_; }

  private:
    std::unique_ptr<Program> program_;
};

/// One thread's scratch memory for one Expression, which must outlive it.
class Evaluator {
  public:
    Evaluator(const Expression& expression, base::MemoryBudget* budget);
    ~Evaluator();
    Evaluator(Evaluator&&) noexcept;
    Evaluator& operator=(Evaluator&&) noexcept;

    /// Computes `length` rows (at most kBatchRows). inputs[c] must be filled for each c of
    /// columns(). Any form may come in and go out; an expression of one dictionary column is
    /// computed once for each entry of the dictionary. The result is valid until the next call, and
    /// as long as the inputs.
    Vector evaluate(std::span<const Vector> inputs, int64_t length);

    /// Sets bit i of `mask` for each row that is true, and clears it where false or NULL, for
    /// (length + 63) / 64 words; bits from `length` on are cleared.
    void select(std::span<const Vector> inputs, int64_t length, uint64_t* mask);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace loom::exec
