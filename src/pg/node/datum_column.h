#pragma once
// A batch of PostgreSQL's values on their way into the engine.

#include "pg/compat/backend.h"

#include "base/buffer.h"
#include "exec/vector.h"

namespace loom::pg {

/// Collects up to exec::kBatchRows values and makes a vector of them.
class DatumColumn {
  public:
    /// The arrays of values live in `context`.
    DatumColumn(plan::Type type, MemoryContext context);

    /// Sets row `row`; what a value points to is copied to CurrentMemoryContext.
    void put_maylongjmp(int64_t row, Datum value, bool null);
    /// As put_maylongjmp(), but what the value points to has to stay where it is.
    void borrow_maylongjmp(int64_t row, Datum value, bool null);
    /// Copies what rows [begin, end) borrow to CurrentMemoryContext.
    void keep_maylongjmp(int64_t begin, int64_t end);
    /// Returns rows [0, rows) as a plain vector, valid until the next call. Raises
    /// exec::Unrepresentable for values that the type cannot hold.
    exec::Vector vector(int64_t rows);

  private:
    void fill(int64_t rows);

    plan::Type type_;
    Datum* datums_ = nullptr;
    bool* nulls_ = nullptr;
    base::Buffer values_;
    base::Buffer validity_;
};

}  // namespace loom::pg
