#include "format/parquet/stats/page_index.h"

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

}  // namespace

std::vector<PageLocation> read_page_locations(const FileState& file, int64_t row_group, int leaf) {
    const ColumnChunk chunk = file.footer.chunk(row_group, leaf);
    base::Buffer bytes(file.options.budget);
    if (!read_index_bytes(file, chunk.offset_index_offset, chunk.offset_index_length, bytes))
        return {};
    try {
        thrift::CompactReader in(bytes.span());
        return read_offset_index(in);
    } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::kCorrupt) throw;
        return {};  // an index only helps; without it the chunk is read whole
    }
}

}  // namespace loom::parquet
