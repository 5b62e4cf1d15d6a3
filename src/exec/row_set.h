#pragma once
// Rows in several stores, in order: what a pipeline leaves for the next one.

#include <cstdint>
#include <functional>
#include <vector>

#include "exec/partition/row_partitions.h"
#include "exec/row_store.h"
#include "exec/tasks.h"

namespace loom::exec {

/// Owns stores whose rows follow each other. A store may come into being only when it is read, so
/// that not all rows need to be in memory at once.
class RowSet {
  public:
    using Maker = std::function<RowStore()>;

    void add(RowStore&& rows);
    void add(RowSet&& other);
    /// Adds rows that `make` returns when their turn comes.
    void add(Maker make);
    /// Adds the rows of partition 0, in their order, which are brought into memory piece by piece.
    void add(const std::shared_ptr<RowPartitions>& rows, const std::vector<plan::Type>& types,
             base::MemoryBudget* budget);

    /// What makes rows may find that PostgreSQL's plan has to answer, or that memory has no room.
    void let_give_up() noexcept { may_give_up_ = true; }
    bool may_give_up() const noexcept { return may_give_up_; }

    /// Whether the rows can only be read once, from first to last, by one thread: next() does.
    bool sequential() const noexcept { return makers_; }
    /// Returns the number of rows that are there already.
    int64_t length() const noexcept { return length_; }
    /// Returns the number of batches of up to kBatchRows rows; none reaches over two stores.
    int64_t batches() const noexcept { return batches_; }
    /// Points `columns` at the rows of batch `batch` and returns how many they are. Not for
    /// sequential sets. Thread safe.
    int64_t view(int64_t batch, std::vector<Vector>& columns) const;
    /// Points `columns` at the next rows and returns how many they are, 0 at the end. They stay
    /// valid until the next call; stores that were read are freed.
    int64_t next(std::vector<Vector>& columns);
    /// Moves all rows into one store, which needs `types` if there are none.
    RowStore join(const std::vector<plan::Type>& types, base::MemoryBudget* budget) &&;

  private:
    struct Part {
        RowStore rows;
        Maker make;  ///< or null
    };
    std::vector<Part> parts_;
    std::vector<int64_t> first_batch_;  ///< by part
    int64_t batches_ = 0;
    int64_t length_ = 0;
    bool makers_ = false;
    bool may_give_up_ = false;
    // Of next().
    size_t part_ = 0;
    int64_t row_ = 0;
};

/// Adds the rows of make(0) to make(count - 1), which come into being as they are read: as many at
/// a time as there are workers. `tasks` must live as long as the set.
void add_made_rows(RowSet& rows, int64_t count, Tasks& tasks, const std::vector<plan::Type>& types,
                   base::MemoryBudget* budget,
                   std::function<RowStore(int64_t index, const Poll& poll)> make);

}  // namespace loom::exec
