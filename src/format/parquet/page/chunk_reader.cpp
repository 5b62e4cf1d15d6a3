#include "format/parquet/page/chunk_reader.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <libdeflate.h>

#include "format/codec/codec.h"

namespace loom::parquet {

namespace {

// Headers are small, but may hold long strings as bounds.
constexpr uint64_t kHeaderBytes = 1024;
constexpr uint64_t kMaxHeaderBytes = 16 << 20;

uint64_t now_ns() noexcept {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

}  // namespace

ChunkReader::ChunkReader(io::File& file, ChunkPlan plan, MaxLevels levels,
                         const format::OpenOptions& options)
    : file_(file),
      plan_(std::move(plan)),
      levels_(levels),
      options_(options),
      pool_(options.budget) {
    profile_.pages_skipped = plan_.pages_left_out;
    rewind();
}

void ChunkReader::rewind() noexcept {
    position_ = plan_.begin;
    slots_passed_ = 0;
    next_planned_ = 0;
    planned_ = nullptr;
    dictionary_pending_ = plan_.by_pages && plan_.dictionary_begin < plan_.dictionary_end;
}

bool ChunkReader::next() {
    while (next_header())
        if (header_.is_data() || header_.type == PageType::kDictionary) return true;
    return false;
}

bool ChunkReader::move_to_next_page() {
    if (!plan_.by_pages) {
        // Behind the stated end only while values are missing. With repetitions, the number of
        // values is the only sign that the last record is whole: the stated end may be too late as
        // well.
        const bool all_passed = slots_passed_ >= plan_.slot_count;
        if (all_passed && (position_ >= plan_.end || levels_.repetition > 0)) return false;
        page_offset_ = position_;
        limit_ = plan_.hard_end;
        return page_offset_ < limit_;
    }
    if (dictionary_pending_) {
        dictionary_pending_ = false;
        page_offset_ = plan_.dictionary_begin;
        limit_ = plan_.dictionary_end;
        return true;
    }
    if (next_planned_ == plan_.pages.size()) return false;
    const PlannedPage& page = plan_.pages[next_planned_++];
    page_offset_ = page.offset;
    limit_ = page.offset + page.size;
    planned_ = &page;
    return true;
}

bool ChunkReader::next_header() {
    if (!move_to_next_page()) return false;
    parse_header();
    check_header();
    if (header_.is_data()) slots_passed_ += header_.value_count;
    position_ = body_offset_ + static_cast<uint64_t>(header_.compressed_size);
    return true;
}

void ChunkReader::parse_header() {
    for (uint64_t wanted = kHeaderBytes;; wanted *= 8) {
        // Bytes behind the chunk's stated end are read only if the header does not end before it,
        // so that the window keeps the chunk.
        const bool first = wanted == kHeaderBytes && page_offset_ < plan_.end;
        const uint64_t size =
            std::min(wanted, (first ? std::min(plan_.end, limit_) : limit_) - page_offset_);
        thrift::CompactReader in(at(page_offset_, size));
        try {
            header_ = read_page_header(in);
            body_offset_ = page_offset_ + in.position();
            return;
        } catch (const base::Error&) {
            // Cut off, or damaged: the whole rest decides.
            if (size == limit_ - page_offset_ || wanted >= kMaxHeaderBytes) throw;
        }
    }
}

void ChunkReader::check_header() {
    if (header_.compressed_size < 0 || header_.uncompressed_size < 0 || header_.value_count < 0 ||
        header_.definition_bytes < 0 || header_.repetition_bytes < 0)
        base::corrupt("a page header has a negative size");
    if (static_cast<uint64_t>(header_.compressed_size) > limit_ - body_offset_)
        base::corrupt("a page of {} bytes where the column chunk has {}", header_.compressed_size,
                      limit_ - body_offset_);
}

// Returns bytes [offset, offset + size), which lie in the chunk; reads more if that is likely to
// help.
base::ByteSpan ChunkReader::at(uint64_t offset, uint64_t size) {
    if (window_ == nullptr || offset < window_begin_ || offset + size > window_end_)
        fetch(offset, size);
    return {window_->data() + (offset - window_begin_), static_cast<size_t>(size)};
}

// How much to read at once when [offset, offset + size) is needed.
uint64_t ChunkReader::window_size(uint64_t offset, uint64_t size) const {
    if (hopping_) return size;
    if (plan_.by_pages) {
        uint64_t end = limit_;
        for (size_t i = next_planned_; i < plan_.pages.size(); ++i) {
            const PlannedPage& page = plan_.pages[i];
            if (page.offset > end + kMergeGapBytes) break;
            if (page.offset + page.size - offset > kWholeChunkBytes) break;
            end = page.offset + page.size;
        }
        return std::max(size, end - offset);
    }
    const uint64_t rest = plan_.end > offset ? plan_.end - offset : 0;
    if (plan_.end - plan_.begin <= kWholeChunkBytes) return std::max(size, rest);
    return std::max(size, std::min(rest, kWindowBytes));
}

void ChunkReader::fetch(uint64_t offset, uint64_t size) {
    base::check_stop(options_.stop);
    const uint64_t wanted = window_size(offset, size);
    std::shared_ptr<base::Buffer> fresh = pool_.take(wanted);
    uint64_t have = 0;
    if (window_ != nullptr && offset >= window_begin_ && offset < window_end_) {
        have = std::min(window_end_ - offset, wanted);
        std::memcpy(fresh->data(), window_->data() + (offset - window_begin_), have);
    }
    const uint64_t start = now_ns();
    file_.read_at(offset + have, {fresh->data() + have, static_cast<size_t>(wanted - have)});
    io_ns_ += now_ns() - start;
    profile_.bytes_read += wanted - have;
    window_ = std::move(fresh);
    window_begin_ = offset;
    window_end_ = offset + wanted;
}

void ChunkReader::check_crc(base::ByteSpan body) const {
    if (!options_.verify_checksums || !header_.crc) return;
    const uint32_t actual = libdeflate_crc32(0, body.data(), body.size());
    if (actual != static_cast<uint32_t>(*header_.crc))
        base::corrupt("the page's checksum is {:08x}, its header says {:08x}", actual,
                      static_cast<uint32_t>(*header_.crc));
}

void ChunkReader::decompress(base::ByteSpan from, std::span<uint8_t> to) const {
    if (to.empty()) return;
    codec::decompress(plan_.codec, from, to);
}

// Decompresses a body, or leaves it where it is.
base::ByteSpan ChunkReader::plain_body(base::ByteSpan body, Page& page) {
    if (plan_.codec == codec::Codec::kNone) {
        page.owner = window_;
        return body;
    }
    const auto size = static_cast<uint64_t>(header_.uncompressed_size);
    check_expansion(plan_.codec, body.size(), size);
    page.owner = pool_.take(size);
    decompress(body, {page.owner->data(), size});
    return {page.owner->data(), size};
}

// The levels of a v2 page are never compressed; they are copied in front of the values, which begin
// on a multiple of 64 bytes so that they can be handed out in place.
void ChunkReader::load_v2(base::ByteSpan body, Page& page) {
    const uint64_t levels = static_cast<uint64_t>(header_.definition_bytes) +
                            static_cast<uint64_t>(header_.repetition_bytes);
    if (levels > body.size() || levels > static_cast<uint64_t>(header_.uncompressed_size))
        base::corrupt("levels of {} bytes in a page of {} bytes", levels, body.size());
    const bool compressed = header_.is_compressed || plan_.v2_always_compressed;
    if (plan_.codec == codec::Codec::kNone || !compressed) {
        page.owner = window_;
        split_page_v2(body, levels_, page);
        return;
    }
    const uint64_t size = static_cast<uint64_t>(header_.uncompressed_size) - levels;
    check_expansion(plan_.codec, body.size() - levels, size);
    const uint64_t front = (levels + 63) / 64 * 64;
    page.owner = pool_.take(front + size);
    uint8_t* to = page.owner->data();
    if (levels != 0) std::memcpy(to + front - levels, body.data(), levels);
    decompress(body.subspan(levels), {to + front, size});
    split_page_v2({to + front - levels, static_cast<size_t>(levels + size)}, levels_, page);
}

Page ChunkReader::load() {
    base::check_stop(options_.stop);
    const auto size = static_cast<uint64_t>(header_.compressed_size);
    const base::ByteSpan body = at(body_offset_, size);
    check_crc(body);
    Page page;
    page.header = header_;
    if (header_.type == PageType::kDataV2) {
        load_v2(body, page);
    } else {
        const base::ByteSpan bytes = plain_body(body, page);
        if (header_.type == PageType::kData)
            split_page_v1(bytes, levels_, page);
        else
            page.values = bytes;
    }
    if (header_.is_data()) ++profile_.pages_read;
    return page;
}

bool ChunkReader::all_pages_are_codes() {
    bool codes = false;
    bool all = true;
    rewind();
    // Of a chunk that is not read whole anyway, only the headers are read here.
    hopping_ = plan_.by_pages || plan_.end - plan_.begin > kWholeChunkBytes;
    while (all && (plan_.by_pages || slots_passed_ < plan_.row_count) && next()) {
        if (!header_.is_data() || header_.value_count == 0) continue;
        codes = true;
        all = is_dictionary(header_.encoding);
    }
    hopping_ = false;
    rewind();
    return codes && all;
}

}  // namespace loom::parquet
