#pragma once
// Walks the pages of a column chunk: reads bytes in windows, parses headers, checks and
// decompresses the pages that are wanted.

#include <memory>
#include <vector>

#include "format/parquet/page/buffer_pool.h"
#include "format/parquet/page/chunk_plan.h"
#include "format/parquet/page/page.h"
#include "io/file.h"

namespace loom::parquet {

/// A chunk below this size is read at once, a larger one in windows of kWindowBytes (or a page, if
/// that is larger), so that memory stays bounded.
inline constexpr uint64_t kWholeChunkBytes = 8 << 20;
inline constexpr uint64_t kWindowBytes = 4 << 20;
/// Pages closer together than this are fetched with one read.
inline constexpr uint64_t kMergeGapBytes = 64 << 10;

/// Not thread safe. All offsets and sizes are checked before memory is taken.
class ChunkReader {
  public:
    ChunkReader(io::File& file, ChunkPlan plan, MaxLevels levels,
                const format::OpenOptions& options);

    /// Moves to the next dictionary or data page and reads its header; index pages and pages of
    /// unknown kind are passed. Returns false behind the last one.
    bool next();
    /// Goes back before the first page.
    void rewind() noexcept;

    const PageHeader& header() const noexcept { return header_; }
    uint64_t page_offset() const noexcept { return page_offset_; }
    /// Returns what the offset index says of the current data page, or nullptr if only counting
    /// tells.
    const PlannedPage* planned_page() const noexcept { return planned_; }
    const ChunkPlan& plan() const noexcept { return plan_; }

    /// Fetches and decompresses the current page. A v1 or v2 data page comes cut into its parts, a
    /// dictionary page with all its bytes as `values`.
    Page load();

    /// For columns without repetitions: looks at the headers of all rows and returns whether there
    /// is a data page and all data pages hold dictionary codes. Ends before the first page, as
    /// rewind().
    bool all_pages_are_codes();

    const format::ReadProfile& profile() const noexcept { return profile_; }
    uint64_t io_ns() const noexcept { return io_ns_; }

  private:
    bool next_header();
    bool move_to_next_page();
    void parse_header();
    void check_header();
    base::ByteSpan at(uint64_t offset, uint64_t size);
    void fetch(uint64_t offset, uint64_t size);
    uint64_t window_size(uint64_t offset, uint64_t size) const;
    void check_crc(base::ByteSpan body) const;
    void load_v2(base::ByteSpan body, Page& page);
    void decompress(base::ByteSpan from, std::span<uint8_t> to) const;
    base::ByteSpan plain_body(base::ByteSpan body, Page& page);

    io::File& file_;
    ChunkPlan plan_;
    MaxLevels levels_;
    format::OpenOptions options_;
    BufferPool pool_;

    std::shared_ptr<base::Buffer> window_;
    uint64_t window_begin_ = 0;
    uint64_t window_end_ = 0;

    PageHeader header_;
    int64_t slots_passed_ = 0;  // in data pages up to the current one
    uint64_t position_ = 0;     // where the next header is looked for
    uint64_t page_offset_ = 0;  // of the current page's header
    uint64_t body_offset_ = 0;
    uint64_t limit_ = 0;  // where the current page must end
    const PlannedPage* planned_ = nullptr;
    size_t next_planned_ = 0;
    bool dictionary_pending_ = false;
    bool hopping_ = false;  // only headers are wanted

    format::ReadProfile profile_;
    uint64_t io_ns_ = 0;
};

}  // namespace loom::parquet
