#pragma once
// A leaf of a nested column: levels and values, record by record.

#include <memory>
#include <optional>
#include <vector>

#include "format/parquet/page/chunk_reader.h"
#include "format/parquet/read/chunk_dictionary.h"
#include "format/parquet/read/file_state.h"
#include "format/parquet/read/slot_decoder.h"

namespace loom::parquet {

/// The slots of the records that one batch has collected.
struct LeafBatch {
    int64_t slots = 0;
    const uint8_t* repetition = nullptr;
    const uint8_t* definition = nullptr;
    const uint8_t* values = nullptr;  ///< dense: one slot_width() slot per defined value
    int64_t value_count = 0;
};

/// Decodes the slots of a leaf in blocks and cuts them into records. A batch may take as many slots as
/// its records have, up to kMaxBatchSlots.
///
/// Invariants: slots [0, batch_slots_) are collected, [batch_slots_, read_slots_) are decoded and
/// pending; pending slots begin at a record's first slot and all come from the current page, because
/// decoding stops as soon as the start of the next record is seen.
class LeafReader {
  public:
    LeafReader(FileStatePtr file, int64_t row_group, int leaf, const format::ReadOptions& options);

    /// Starts an empty batch; what the last one pointed to may be gone.
    void begin();
    /// Moves to record `row`. The batch must be empty.
    void seek(int64_t row);
    /// Appends the next `records` to the batch.
    void collect(int64_t records);
    /// Drops the next `records`.
    void discard(int64_t records);
    LeafBatch batch() const noexcept;

    format::ReadProfile profile() const;
    uint64_t io_ns() const noexcept { return chunk_ ? chunk_->io_ns() : 0; }
    std::string where() const;

  private:
    static constexpr int64_t kMaxBatchSlots = int64_t{1} << 28;
    static constexpr int64_t kBlockSlots = 4096;

    void open();
    void rewind();
    bool find_page();
    bool skip_page(int64_t row);
    void load_page();
    bool decode_more();
    void decode_block(int64_t slots);
    int64_t records_end(int64_t records);
    int64_t count_values(int64_t begin, int64_t end) const;

    FileStatePtr file_;
    int64_t row_group_;
    int leaf_index_;
    const Leaf& leaf_;
    format::ReadOptions options_;
    int64_t row_count_;

    std::optional<ChunkReader> chunk_;
    std::optional<ChunkDictionary> dictionary_;
    Page page_;
    std::unique_ptr<SlotDecoder> values_decoder_;
    bool page_found_ = false;     // a header was read, the page is not loaded
    int64_t page_slots_left_ = 0; // of the loaded page
    int64_t page_end_row_ = -1;   // of the loaded page, if the offset index tells
    int64_t skipped_pages_ = 0;
    std::vector<std::pair<Page, std::unique_ptr<SlotDecoder>>> kept_;

    int64_t position_ = 0;        // record that the first pending slot starts
    int64_t batch_slots_ = 0;
    int64_t batch_values_ = 0;
    int64_t read_slots_ = 0;
    int64_t read_values_ = 0;
    base::Buffer repetition_;
    base::Buffer definition_;
    base::Buffer values_;
    base::Buffer scratch_;
};

}  // namespace loom::parquet
