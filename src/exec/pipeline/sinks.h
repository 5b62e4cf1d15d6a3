#pragma once
// Where pipelines end whose rows are stored as they come.

#include <memory>
#include <vector>

#include "exec/pipeline/frame.h"
#include "exec/pipeline/pipeline.h"
#include "exec/resources.h"

namespace loom::exec {

/// Keeps all rows, in a temporary file if it may and must. For a join that outputs build rows, also
/// those.
class StoreSink : public Sink {
  public:
    StoreSink(std::vector<int> slots, std::vector<plan::Type> types, base::MemoryBudget* budget);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;

    /// Appends build rows of `join` after the probe: column i of the result is build column
    /// columns[i], or NULL where that is -1.
    void append_build_rows(const Join* join, std::vector<int> columns);
    /// Adds those that the join's kind wants of a table whose probe is over: of a part of the
    /// build side, if that was scattered.
    void add_build_rows(int worker, const Join& join);
    /// Rows that memory has no room for may go to a temporary file. They can then be read once.
    void let_spill(const Resources& resources) { resources_ = resources; }

    RowSet take() override;
    const std::vector<plan::Type>& types() const noexcept { return types_; }

  protected:
    /// Returns the frame's columns that are stored.
    std::vector<Vector>& fetch_inputs(int worker, Frame& frame);
    void store(int worker, const std::vector<Vector>& columns, int64_t count);
    /// Whether the rows of worker `worker` are too many for memory.
    bool is_full(int worker) const noexcept;

    std::vector<int> slots_;
    std::vector<plan::Type> types_;
    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<RowStore>> parts_;
    std::vector<std::vector<Vector>> inputs_;
    RowSet rows_;
    const Join* join_ = nullptr;
    std::vector<int> build_columns_;
    Resources resources_;
    std::vector<std::shared_ptr<RowPartitions>> overflow_;  ///< by worker; null: all is in memory
};

}  // namespace loom::exec
