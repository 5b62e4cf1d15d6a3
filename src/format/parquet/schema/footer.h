#pragma once
// The footer of a file: schema now, row groups indexed, column chunks decoded when asked for.

#include <memory>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "format/parquet/schema/metadata.h"
#include "format/parquet/schema/schema_tree.h"
#include "format/parquet/thrift/struct_layout.h"
#include "io/file.h"

namespace loom::parquet {

/// What is known of a row group without its column chunks.
struct RowGroup {
    int64_t rows = 0;
    int64_t total_byte_size = 0;
    int64_t file_offset = 0;
    uint32_t first_chunk = 0;  ///< index into the footer's list of chunk offsets
    uint32_t chunk_count = 0;
    uint32_t sorting_offset = 0;  ///< where its sorting columns lie in the footer; 0: none
};

/// Keeps the footer's bytes and the position of each column chunk in them. Opening skips over the
/// chunks (10 to 100 ns each, see LayoutCache); decoding one takes about 0.2 us, less than a lock
/// and a hash map would, so that decoded chunks are not kept. Thread safe once read.
class Footer final : public io::FileNote {
  public:
    /// The order of a leaf's bounds: as its type orders values, IEEE 754's total order, one that is
    /// not known here, or not stated at all.
    enum class Order : uint8_t { kUnstated, kType, kTotal, kOther };

    /// Reads and indexes the footer of `file`, which must outlive it. Only a copy of more than
    /// kMostKept bytes counts against the budget. Raises kCorrupt, or kUnsupported if it is
    /// encrypted.
    Footer(io::File& file, base::MemoryBudget* budget);
    /// Returns the footer that the file has as its note, or a new one, which becomes its note
    /// unless it is large.
    static std::shared_ptr<const Footer> of(io::File& file, base::MemoryBudget* budget);
    static constexpr uint64_t kMostKept = uint64_t{8} << 20;

    uint64_t bytes() const noexcept override;
    const SchemaTree& schema() const noexcept { return schema_; }
    const std::vector<RowGroup>& row_groups() const noexcept { return row_groups_; }
    int64_t row_count() const noexcept { return row_count_; }
    const std::string& created_by() const noexcept { return created_by_; }
    /// Returns the end of the bytes that pages may take: where the footer starts.
    uint64_t data_end() const noexcept { return data_end_; }
    /// Returns which order the bounds of a leaf follow.
    Order order(int leaf) const noexcept;

    /// Decodes the chunk of a leaf. Its spans stay valid as long as the footer.
    ColumnChunk chunk(int64_t row_group, int leaf) const;
    std::vector<RowOrder> row_order(int64_t row_group) const;

  private:
    void read_bytes(base::MemoryBudget* budget);
    void parse(thrift::CompactReader& in);
    void read_row_groups(thrift::CompactReader& in, uint32_t count);
    RowGroup read_row_group(thrift::CompactReader& in, thrift::LayoutCache& layouts);
    bool index_chunks(thrift::CompactReader& in, thrift::Type type, thrift::LayoutCache& layouts,
                      RowGroup& group);
    void read_column_order(thrift::CompactReader& in);

    io::File& file_;
    base::Buffer buffer_;
    base::ByteSpan bytes_;  // in buffer_ or in the file's mapping
    uint64_t data_end_ = 0;
    SchemaTree schema_;
    std::vector<RowGroup> row_groups_;
    std::vector<uint32_t> chunk_offsets_;
    std::vector<Order> orders_;
    int64_t row_count_ = 0;
    std::string created_by_;
};

}  // namespace loom::parquet
