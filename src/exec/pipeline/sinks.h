#pragma once
// Where pipelines end: stored rows, sorted rows, groups.

#include <memory>
#include <vector>

#include "exec/aggregate/accumulator.h"
#include "exec/aggregate/group_table.h"
#include "exec/pipeline/frame.h"
#include "exec/pipeline/pipeline.h"

namespace loom::exec {

/// Keeps all rows. For a join that outputs build rows, also those.
class StoreSink : public Sink {
  public:
    StoreSink(std::vector<int> slots, std::vector<plan::Type> types, base::MemoryBudget* budget);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(const Poll& poll) override;

    /// Appends build rows of `join` after the probe: column i of the result is build column
    /// columns[i], or NULL where that is -1.
    void append_build_rows(const Join* join, std::vector<int> columns);

    /// The rows, once finish() has run. take() leaves the sink empty, ready to be filled again.
    RowStore take();

  protected:
    std::vector<int> slots_;
    std::vector<plan::Type> types_;
    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<RowStore>> parts_;
    std::vector<std::vector<Vector>> inputs_;
    std::unique_ptr<RowStore> rows_;
    const Join* join_ = nullptr;
    std::vector<int> build_columns_;
};

/// Keeps rows in order, all or the first `limit`.
class SortSink final : public StoreSink {
  public:
    SortSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<plan::SortKey> keys,
             int64_t limit, base::MemoryBudget* budget);
    void consume(int worker, Frame& frame) override;
    void finish(const Poll& poll) override;

  private:
    RowStore sorted(RowStore rows, const Poll* poll) const;

    std::vector<plan::SortKey> keys_;
    int64_t limit_;
};

/// One aggregate of an AggregateSink.
struct AggregateCall {
    uint32_t function = 0;
    plan::Type arg;
    plan::Type type;
    int slot = -1;                             ///< of the argument; -1 for count(*)
    std::shared_ptr<const Expression> filter;  ///< or null
    bool distinct = false;
};

/// Groups rows and aggregates them. Outputs the keys, then the aggregates.
class AggregateSink final : public Sink {
  public:
    AggregateSink(std::vector<int> key_slots, std::vector<plan::Type> key_types, bool grouped,
                  std::vector<AggregateCall> calls, base::MemoryBudget* budget);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(const Poll& poll) override;
    RowStore take();

  private:
    struct Call {
        std::unique_ptr<Accumulator> accumulator;
        std::unique_ptr<GroupTable> distinct;  ///< over (group, value), or null
        base::Buffer values;
        base::Buffer validity;
        base::Buffer taken;
        base::Buffer taken_validity;
    };
    struct Worker {
        std::unique_ptr<GroupTable> groups;  ///< null: one group
        std::vector<Call> calls;
        std::vector<Vector> keys;
        base::Buffer ids;
        base::Buffer call_ids;
        base::Buffer positions;
        bool used = false;
    };
    void aggregate(Worker& worker, const AggregateCall& call, Call& state, Frame& frame,
                   const uint32_t* ids);
    void merge(Worker& into, Worker& from, const Poll& poll);
    void finish_distinct(Worker& worker, int64_t groups);
    int64_t group_count(const Worker& worker) const;

    std::vector<int> key_slots_;
    std::vector<plan::Type> key_types_;
    bool grouped_;
    std::vector<AggregateCall> calls_;
    base::MemoryBudget* budget_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::unique_ptr<RowStore> rows_;
};

}  // namespace loom::exec
