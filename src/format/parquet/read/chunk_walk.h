#pragma once
// The pages of a column chunk whose bytes somebody else reads.

#include <memory>
#include <optional>
#include <vector>

#include "format/paged_column.h"
#include "format/parquet/page/chunk_plan.h"
#include "format/parquet/read/chunk_dictionary.h"
#include "format/parquet/read/file_state.h"

namespace loom::parquet {

/// Returns how the chunk of a flat leaf lies in pages, or nothing if only readers can make its
/// values.
std::optional<format::PagedColumn> paged_column(const FileState& file, int64_t row_group, int leaf);

/// Walks headers. One that ends in later bytes is kept until those come.
class ChunkWalk final : public format::PageWalk {
  public:
    /// Only for chunks for which paged_column() returns something.
    ChunkWalk(FileStatePtr file, int64_t row_group, int leaf);

    void take(base::ByteSpan bytes) override;
    std::span<const format::EncodedPage> finish() override;
    const column::Dictionary& dictionary() override;

  private:
    bool done() const noexcept { return rows_ == plan_.row_count; }
    bool next_header(base::ByteSpan bytes);
    void add_page();
    format::EncodedPage::Encoding encoding() const;
    void keep_dictionary(base::ByteSpan bytes);

    FileStatePtr file_;
    const Leaf& leaf_;
    ChunkPlan plan_;
    uint64_t size_;              // of the chunk
    uint64_t taken_ = 0;         // bytes that came by
    uint64_t position_ = 0;      // of the next header
    base::Buffer header_bytes_;  // those of it that came by
    PageHeader header_;
    uint64_t body_ = 0;  // where its page's bytes begin
    int64_t rows_ = 0;
    std::vector<format::EncodedPage> pages_;
    PageHeader dictionary_header_;
    std::shared_ptr<base::Buffer> dictionary_bytes_;
    uint64_t dictionary_at_ = 0;
    std::optional<ChunkDictionary> dictionary_;
};

}  // namespace loom::parquet
