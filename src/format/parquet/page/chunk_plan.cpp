#include "format/parquet/page/chunk_plan.h"

#include <algorithm>

namespace loom::parquet {

using base::ErrorKind;

namespace {

// What parquet-mr before 1.2.9 left out of total_compressed_size: the dictionary page's header.
constexpr uint64_t kMissingHeaderBytes = 100;

void check_readable(const ColumnChunk& chunk, const Leaf& leaf) {
    if (chunk.encrypted)
        base::raise(ErrorKind::kUnsupported, "the column is encrypted, which is not supported");
    if (chunk.has_file_path)
        base::raise(ErrorKind::kUnsupported, "the column's data lie in another file");
    if (!chunk.has_metadata) base::corrupt("the column chunk has no metadata");
    if (chunk.physical != static_cast<int32_t>(leaf.type.physical))
        base::corrupt("the column chunk has the physical type {}, the schema {}", chunk.physical,
                      static_cast<int>(leaf.type.physical));
}

// Arrow C++ before 3.0.0 compressed v2 pages and said that it did not.
bool misstates_compression(std::string_view created_by) {
    constexpr std::string_view kArrow = "parquet-cpp-arrow version ";
    if (created_by.starts_with("parquet-cpp version ")) return true;
    if (!created_by.starts_with(kArrow)) return false;
    created_by.remove_prefix(kArrow.size());
    return created_by.size() >= 2 && created_by[0] >= '0' && created_by[0] <= '2' &&
           created_by[1] == '.';
}

}  // namespace

ChunkPlan plan_chunk(const Footer& footer, int64_t row_group, int leaf) {
    const ColumnChunk chunk = footer.chunk(row_group, leaf);
    check_readable(chunk, footer.schema().leaves[static_cast<size_t>(leaf)]);
    ChunkPlan plan;
    plan.codec = codec_of(chunk.codec);
    plan.v2_always_compressed = misstates_compression(footer.created_by());
    plan.row_count = footer.row_groups()[static_cast<size_t>(row_group)].rows;
    plan.slot_count = chunk.value_count;
    int64_t begin = chunk.data_page_offset;
    // Some writers leave a 0, or a place behind the data pages, where there is no dictionary.
    if (chunk.dictionary_page_offset > 0 && chunk.dictionary_page_offset < begin)
        begin = chunk.dictionary_page_offset;
    if (begin < 0 || static_cast<uint64_t>(begin) > footer.data_end() || chunk.compressed_size < 0)
        base::corrupt("the column chunk lies at offset {} with {} bytes, outside the file's data",
                      begin, chunk.compressed_size);
    plan.begin = static_cast<uint64_t>(begin);
    const uint64_t left = footer.data_end() - plan.begin;
    const auto size = static_cast<uint64_t>(chunk.compressed_size);
    plan.end = plan.begin + std::min(size, left);
    plan.hard_end = plan.begin + std::min(size + kMissingHeaderBytes, left);
    return plan;
}

std::vector<PlannedPage> pages_of(const std::vector<PageLocation>& locations, int64_t row_count,
                                  uint64_t data_end) {
    std::vector<PlannedPage> pages;
    uint64_t last_end = 0;
    for (size_t i = 0; i < locations.size(); ++i) {
        const PageLocation& at = locations[i];
        const int64_t next = i + 1 < locations.size() ? locations[i + 1].first_row : row_count;
        if (at.offset < 0 || at.compressed_size < 0 || at.first_row < 0 || at.first_row > next ||
            next > row_count || (i == 0 && at.first_row != 0))
            return {};
        const auto offset = static_cast<uint64_t>(at.offset);
        const auto size = static_cast<uint64_t>(at.compressed_size);
        if (offset < last_end || offset > data_end || size > data_end - offset) return {};
        last_end = offset + size;
        pages.push_back({offset, size, at.first_row, next - at.first_row});
    }
    return pages;
}

void restrict_to_rows(ChunkPlan& plan, const std::vector<PageLocation>& locations,
                      const format::RowRanges& rows) {
    const std::vector<PlannedPage> pages = pages_of(locations, plan.row_count, plan.hard_end);
    if (pages.empty() || pages.front().offset < plan.begin) return;
    size_t range = 0;
    for (const PlannedPage& page : pages) {
        while (range < rows.size() && rows[range].end <= page.first_row) ++range;
        const bool wanted =
            range < rows.size() && rows[range].begin < page.first_row + page.row_count;
        if (wanted)
            plan.pages.push_back(page);
        else
            ++plan.pages_left_out;
    }
    plan.by_pages = true;
    plan.dictionary_begin = plan.begin;
    plan.dictionary_end = pages.front().offset;
}

}  // namespace loom::parquet
