#pragma once
// One side of a join that does not fit memory: its rows in partitions by the hash of the join keys.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/key_hasher.h"
#include "exec/partition/row_partitions.h"
#include "exec/resources.h"

namespace loom::exec {

/// Rows that several workers scattered over the same partitions.
struct ScatteredRows {
    std::vector<plan::Type> types;
    std::vector<std::unique_ptr<RowPartitions>> parts;  ///< by worker
    HashRange range;
    bool null_key = false;  ///< some key is NULL

    int64_t rows(int64_t partition) const noexcept;
    int64_t rows() const noexcept;
    uint64_t bytes(int64_t partition) const noexcept;
    void release(int64_t partition);
};

/// Reads a partition of all workers.
class ScatteredCursor {
  public:
    ScatteredCursor(ScatteredRows& rows, int64_t partition, base::MemoryBudget* budget, bool drain)
        : rows_(rows), partition_(partition), budget_(budget), drain_(drain) {}

    /// As PartitionCursor's.
    int64_t next(std::vector<Vector>& columns);

  private:
    ScatteredRows& rows_;
    int64_t partition_;
    base::MemoryBudget* budget_;
    bool drain_;
    size_t part_ = 0;
    std::unique_ptr<PartitionCursor> cursor_;
};

/// Returns how `workers` workers that share `memory` bytes scatter rows of these types: over as
/// many partitions as they have room for.
struct ScatterShape {
    HashRange range;
    int64_t chunk_rows = 0;
};
ScatterShape scatter_shape(const std::vector<plan::Type>& types, HashRange range, uint64_t memory,
                           size_t workers);

/// Scatters rows by the hash of their keys; a row with a NULL key, which matches nothing, goes
/// anywhere. Writes to a temporary file what memory has no room for. Owned by one worker.
class KeyScatter {
  public:
    KeyScatter(const std::vector<plan::Type>& types, const std::vector<plan::Type>& key_types,
               const ScatterShape& shape, const Resources& resources, size_t workers);

    /// Adds up to kBatchRows rows of any form.
    void add(std::span<const Vector> columns, std::span<const Vector> keys, int64_t count);
    bool null_key() const noexcept { return null_key_; }
    int64_t rows() const noexcept { return count_; }
    /// Writes what is in memory to the file.
    void spill() { rows_->spill(*resources_.space); }
    std::unique_ptr<RowPartitions> take() { return std::move(rows_); }

  private:
    Resources resources_;
    size_t workers_;
    std::unique_ptr<RowPartitions> rows_;
    KeyHasher hasher_;
    std::vector<uint64_t> hashes_;
    int64_t count_ = 0;
    bool null_key_ = false;
};

/// Whether row `row` is NULL, be it by itself or by what its code stands for.
inline bool is_null_row(const Vector& vector, int64_t row) noexcept {
    return vector.is_null(row) ||
           (vector.form == Form::kCodes && vector.dictionary->values.is_null(vector.code(row)));
}

}  // namespace loom::exec
