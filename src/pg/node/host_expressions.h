#pragma once
// Expressions that PostgreSQL evaluates while the engine runs, a batch of rows at a time.

#include "pg/compat/backend.h"

#include <memory>
#include <span>
#include <vector>

#include "exec/vector.h"
#include "pg/node/datum_column.h"

extern "C" {
#include "nodes/execnodes.h"
}

namespace loom::pg {

/// Used by the backend's own thread only.
class HostExpressions {
  public:
    /// `states` are ExprStates over OUTER_VAR Vars (pg/plan/host_call.h) of node `parent`, `types`
    /// what they yield. What they need lives in children of `context`.
    HostExpressions(const std::vector<ExprState*>& states, const std::vector<plan::Type>& types,
                    PlanState* parent, MemoryContext context);

    /// Computes expression `number` for `rows` rows. An error that PostgreSQL raises is taken back,
    /// in a subtransaction, and becomes exec::Unrepresentable: PostgreSQL's own plan might never
    /// have come to that row. Cancellation is raised as it is. Ends early, with `*interrupted` set,
    /// when PostgreSQL wants to end the statement or the session.
    exec::Vector evaluate(size_t number, std::span<const exec::Vector> args, int64_t rows,
                          bool* interrupted);

  private:
    struct Expression {
        ExprState* state = nullptr;
        TupleTableSlot* slot = nullptr;  ///< one row of arguments
        std::vector<Datum*> values;      ///< by argument
        std::vector<bool*> nulls;
        DatumColumn result;
    };
    bool run_maylongjmp(Expression& expression, ExprState* state,
                        std::span<const exec::Vector> args, int64_t rows);

    PlanState* parent_;
    std::vector<Expression> expressions_;
    ExprContext* econtext_ = nullptr;
    MemoryContext batch_ = nullptr;
    int failures_ = 0;
};

}  // namespace loom::pg
