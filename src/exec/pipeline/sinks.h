#pragma once
// Where pipelines end whose rows are stored as they come.

#include <memory>
#include <vector>

#include "exec/pipeline/frame.h"
#include "exec/pipeline/pipeline.h"

namespace loom::exec {

/// Keeps all rows. For a join that outputs build rows, also those.
class StoreSink : public Sink {
  public:
    StoreSink(std::vector<int> slots, std::vector<plan::Type> types, base::MemoryBudget* budget);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;

    /// Appends build rows of `join` after the probe: column i of the result is build column
    /// columns[i], or NULL where that is -1.
    void append_build_rows(const Join* join, std::vector<int> columns);

    RowSet take() override;
    const std::vector<plan::Type>& types() const noexcept { return types_; }

  protected:
    RowStore unmatched_rows() const;

    std::vector<int> slots_;
    std::vector<plan::Type> types_;
    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<RowStore>> parts_;
    std::vector<std::vector<Vector>> inputs_;
    RowSet rows_;
    const Join* join_ = nullptr;
    std::vector<int> build_columns_;
};

}  // namespace loom::exec
