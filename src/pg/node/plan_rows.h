#pragma once
// Rows of a plan that PostgreSQL executes, as vectors for the engine.

#include "pg/compat/backend.h"

#include <vector>

#include "exec/query.h"
#include "pg/node/datum_column.h"

namespace loom::pg {

/// Feeds the rows of a plan state to a query. Used by the backend's own thread only.
class PlanRows : public exec::RowSource {
  public:
    /// `attributes` are the positions (from 1) of the wanted columns in the plan's output, `types`
    /// their types in the engine. Datums of a batch live in a child of `context`.
    PlanRows(PlanState* plan, std::vector<AttrNumber> attributes,
             const std::vector<plan::Type>& types, MemoryContext context);

    /// Begins again, once the plan has been told to.
    void restart() noexcept { done_ = false; }

    /// Raises exec::Unrepresentable for values that a type cannot hold.
    int64_t fetch(std::span<exec::Vector> columns) override;

  private:
    int64_t pull();

    PlanState* plan_;
    MemoryContext batch_;
    std::vector<AttrNumber> attributes_;
    std::vector<DatumColumn> columns_;
    bool done_ = false;
};

}  // namespace loom::pg
