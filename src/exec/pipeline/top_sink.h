#pragma once
// The end of a pipeline of which the first few rows in some order are wanted.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/pipeline/sinks.h"
#include "exec/resources.h"
#include "exec/sort/packed_key.h"

namespace loom::exec {

/// Keeps the first `limit` rows in order. A row whose first key is behind those of `limit` rows
/// that the workers have seen is dropped before its other columns are read.
class TopSink final : public StoreSink {
  public:
    /// The largest limit that this sink is for.
    static constexpr int64_t kMaxLimit = 1 << 14;

    TopSink(std::vector<int> slots, std::vector<plan::Type> types, std::vector<plan::SortKey> keys,
            int64_t limit, std::shared_ptr<TopBound> bound, const Resources& resources);

    void begin(int workers) override;
    void consume(int worker, Frame& frame) override;
    void finish(Tasks& tasks) override;

  private:
    struct Worker {
        explicit Worker(base::MemoryBudget* budget) : packed(budget), words(budget) {}
        std::unique_ptr<RowStore> rows;
        base::Buffer packed;  ///< by row: the first key's place
        KeyWords words;
        std::vector<Vector> columns;
    };
    bool drop_late_rows(Worker& worker, Frame& frame) const;
    void places(const Vector& column, KeyWords& words, uint64_t* out) const;
    RowStore first_rows(RowStore&& rows, base::Buffer& packed, const Poll& poll) const;
    void offer(const uint64_t* places, int64_t count);
    void shrink(Worker& worker);

    std::vector<plan::SortKey> keys_;
    int64_t limit_;
    std::shared_ptr<TopBound> bound_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::mutex best_mutex_;
    std::vector<uint64_t> best_;  ///< heap of the first `limit` places of all workers' rows
};

}  // namespace loom::exec
