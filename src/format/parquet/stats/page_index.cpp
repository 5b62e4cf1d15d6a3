#include "format/parquet/stats/page_index.h"

#include "format/parquet/page/chunk_plan.h"
#include "format/parquet/stats/statistics.h"

namespace loom::parquet {

namespace {

// An index larger than this is not worth reading: it would take longer than the pages it saves.
constexpr int64_t kMaxIndexBytes = 64 << 20;

// Reads [offset, offset + length) if that lies in front of the footer. Returns whether it did.
bool read_index_bytes(const FileState& file, int64_t offset, int64_t length, base::Buffer& out) {
    if (offset <= 0 || length <= 0 || length > kMaxIndexBytes) return false;
    const uint64_t end = file.footer.data_end();
    const auto from = static_cast<uint64_t>(offset);
    const auto size = static_cast<uint64_t>(length);
    if (from > end || size > end - from) return false;
    out.resize_discarding(size);
    file.file->read_at(from, {out.data(), size});
    return true;
}

// Runs `parse`; an index only helps, so that a damaged one counts as absent.
template <typename Parse>
bool parses(Parse&& parse) {
    try {
        parse();
        return true;
    } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::kCorrupt) throw;
        return false;
    }
}

std::vector<PageLocation> read_locations(const FileState& file, const ColumnChunk& chunk) {
    base::Buffer bytes(file.options.budget);
    std::vector<PageLocation> locations;
    if (!read_index_bytes(file, chunk.offset_index_offset, chunk.offset_index_length, bytes) ||
        !parses([&] {
            thrift::CompactReader in(bytes.span());
            locations = read_offset_index(in);
        }))
        return {};
    return locations;
}

format::PageStatistics page_statistics(const Leaf& leaf, bool ordered, const ColumnIndex& index,
                                       size_t i, const PlannedPage& page) {
    format::PageStatistics out;
    out.first_row = page.first_row;
    out.row_count = page.row_count;
    format::ColumnStatistics& statistics = out.statistics;
    if (index.null_pages[i] != 0) {
        statistics.null_count = page.row_count;
        return out;
    }
    if (i < index.null_counts.size() && index.null_counts[i] >= 0 &&
        index.null_counts[i] <= page.row_count)
        statistics.null_count = index.null_counts[i];
    if (i < index.nan_counts.size() && index.nan_counts[i] >= 0)
        statistics.nan_count = index.nan_counts[i];
    // Bounds of pages may be truncated, and nothing says whether they are: never exact.
    if (ordered)
        set_bounds(decode_bound(leaf.type, index.min_values[i]),
                   decode_bound(leaf.type, index.max_values[i]), statistics);
    return out;
}

}  // namespace

std::vector<PageLocation> read_page_locations(const FileState& file, int64_t row_group, int leaf) {
    return read_locations(file, file.footer.chunk(row_group, leaf));
}

std::vector<format::PageStatistics> read_page_statistics(const FileState& file, int64_t row_group,
                                                         int leaf_index) {
    const ColumnChunk chunk = file.footer.chunk(row_group, leaf_index);
    const Leaf& leaf = file.footer.schema().leaves[static_cast<size_t>(leaf_index)];
    if (chunk.encrypted) return {};
    base::Buffer bytes(file.options.budget);
    ColumnIndex index;
    if (!read_index_bytes(file, chunk.column_index_offset, chunk.column_index_length, bytes) ||
        !parses([&] {
            thrift::CompactReader in(bytes.span());
            index = read_column_index(in);
        }))
        return {};
    const std::vector<PlannedPage> pages = pages_of(
        read_locations(file, chunk), file.footer.row_groups()[static_cast<size_t>(row_group)].rows,
        file.footer.data_end());
    if (pages.size() != index.null_pages.size() || pages.size() != index.min_values.size() ||
        pages.size() != index.max_values.size())
        return {};
    const bool ordered = has_usable_order(leaf.type, file.footer.order(leaf_index));
    std::vector<format::PageStatistics> out;
    out.reserve(pages.size());
    for (size_t i = 0; i < pages.size(); ++i)
        out.push_back(page_statistics(leaf, ordered, index, i, pages[i]));
    return out;
}

}  // namespace loom::parquet
