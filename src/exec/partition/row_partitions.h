#pragma once
// Rows scattered by the hash of their keys, so that each part fits a cache, or memory, by itself.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "exec/vector.h"
#include "io/temp_file.h"

namespace loom::exec {

/// Which bits of a hash name the partition. Levels follow each other from the top bit down, so that
/// a partition can be split again.
struct HashRange {
    int shift = 0;  ///< the partition is (hash >> shift) & (count - 1)
    int bits = 0;

    int64_t count() const noexcept { return int64_t{1} << bits; }
    int64_t partition(uint64_t hash) const noexcept {
        return static_cast<int64_t>(hash >> shift & static_cast<uint64_t>(count() - 1));
    }
    /// The top `bits` bits.
    static HashRange first(int bits) noexcept { return {64 - bits, bits}; }
    HashRange next(int more) const noexcept { return {shift - more, more}; }
};

/// Owns rows in partitions, each a list of chunks: small blocks of columns. One worker fills it;
/// then several may read, each other partitions. What is spilled lies in one temporary file.
class RowPartitions {
  public:
    /// `chunk_rows` is the usual size of a chunk: what one partition takes at least.
    RowPartitions(std::vector<plan::Type> types, HashRange range, int64_t chunk_rows,
                  base::MemoryBudget* budget);

    const HashRange& range() const noexcept { return range_; }
    /// Bytes that a row takes in a chunk, without those of texts.
    int64_t row_bytes() const noexcept { return row_bytes_; }
    /// Adds up to kBatchRows rows of any form; hashes[i] is that of row i.
    void append(std::span<const Vector> columns, const uint64_t* hashes, int64_t count);
    /// Writes all rows in memory to the file and frees them.
    void spill(io::TempSpace& space);
    bool spilled() const noexcept { return file_ != nullptr; }
    /// Bytes in memory.
    uint64_t held() const noexcept { return own_.used(); }
    /// Rows of a partition.
    int64_t rows(int64_t partition) const noexcept;
    /// Bytes of a partition's rows, wherever they are.
    uint64_t bytes(int64_t partition) const noexcept;

    using Visit = std::function<void(std::span<const Vector> columns, int64_t count)>;
    /// Calls `visit` for all rows of a partition, up to kBatchRows at a time. Rows may be read
    /// several times, until release().
    void read(int64_t partition, base::MemoryBudget* budget, const Visit& visit);
    /// As read(), but frees what has been visited.
    void drain(int64_t partition, base::MemoryBudget* budget, const Visit& visit);
    /// Frees a partition's memory.
    void release(int64_t partition);

  private:
    friend class PartitionCursor;

    struct Chunk {
        explicit Chunk(base::MemoryBudget* budget) : block(budget), heap(budget) {}
        int64_t capacity = 0;
        int64_t rows = 0;
        base::Buffer block;  ///< the columns' values, then their validity bitmaps
        base::Buffer heap;   ///< bytes of texts, which the block holds as offsets
        uint64_t heap_used = 0;
        uint64_t offset = 0;  ///< of block and heap in the file, if those are empty
        uint64_t block_bytes = 0;
    };
    struct Partition {
        std::vector<Chunk> chunks;
    };

    uint64_t value_offset(size_t column, int64_t capacity) const noexcept;
    uint64_t bitmap_offset(size_t column, int64_t capacity) const noexcept;
    Chunk& room(Partition& partition, int64_t rows);
    uint64_t expected_heap(const Chunk& chunk) const noexcept;
    void scatter(size_t column, const Vector& plain, int64_t count);
    void scatter_validity(size_t column, const Vector& plain, int64_t count);
    void scatter_bytes(size_t column, const Vector& plain, int64_t count);
    void compact(Chunk& chunk);

    std::vector<plan::Type> types_;
    std::vector<int> widths_;
    std::vector<int64_t> offsets_;   ///< of a column's values, per row of capacity
    std::vector<uint8_t> nullable_;  ///< a NULL was seen
    int64_t row_bytes_ = 0;
    HashRange range_;
    int64_t chunk_rows_;
    int64_t all_rows_ = 0;   ///< that were appended
    uint64_t all_heap_ = 0;  ///< bytes of their texts
    base::MemoryBudget own_;
    std::vector<Partition> partitions_;
    std::unique_ptr<io::TempFile> file_;

    // Of the batch being appended.
    std::vector<uint16_t> targets_;       ///< partition of a row
    std::vector<uint32_t> places_;        ///< its row in the partition's last chunk
    std::vector<uint32_t> counts_;        ///< by partition
    std::vector<Chunk*> current_;         ///< by partition
    std::vector<uint8_t*> destinations_;  ///< by partition: the column's values
    base::Buffer values_;
    base::Buffer validity_;
};

/// Reads the rows of one partition from first to last, as often as it is made. One thread at a
/// time.
class PartitionCursor {
  public:
    /// With `drain` chunks are freed when their rows have been read.
    PartitionCursor(RowPartitions& rows, int64_t partition, base::MemoryBudget* budget, bool drain);

    /// Points `columns` at up to kBatchRows further rows and returns how many, 0 at the end. They
    /// stay valid until the next call.
    int64_t next(std::vector<Vector>& columns);

  private:
    bool enter_chunk();
    void leave_chunk();

    RowPartitions& rows_;
    std::vector<RowPartitions::Chunk>& chunks_;
    bool drain_;
    size_t chunk_ = 0;
    int64_t row_ = -1;    ///< next row of the chunk; -1: it was not entered
    base::Buffer block_;  ///< of a chunk that lies in the file
    base::Buffer heap_;
    const uint8_t* block_at_ = nullptr;
    const uint8_t* heap_at_ = nullptr;
    std::vector<base::Buffer> views_;
};

}  // namespace loom::exec
