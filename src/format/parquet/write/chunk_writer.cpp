#include "format/parquet/write/chunk_writer.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "format/parquet/write/bloom_filter.h"
#include "format/parquet/write/encode.h"
#include "format/parquet/write/rle.h"
#include "format/parquet/write/thrift_writer.h"

namespace loom::parquet::write {

namespace {

// Pages keep batches whole as long as they hold more than one.
constexpr int64_t kBatchRows = column::kBatchRows;

/// Entries [level_begin, level_end) of the level stream and the values among them.
struct PageRange {
    int64_t level_begin = 0;
    int64_t level_end = 0;
    int64_t value_begin = 0;
    int64_t value_end = 0;
    int64_t first_row = 0;
    int64_t rows = 0;
};

int bit_width(uint64_t highest) {
    return std::bit_width(highest);
}

class ChunkWriter {
  public:
    ChunkWriter(const LeafBuffer& leaf, const ChunkOptions& options, ChunkScratch& scratch)
        : leaf_(leaf), options_(options), scratch_(scratch) {}

    Chunk write();

  private:
    void write_dictionary_page();
    int64_t page_row_limit() const;
    PageRange next_page(const PageRange& last, int64_t row_limit) const;
    void write_data_page(const PageRange& range);
    void append_levels(std::span<const uint8_t> levels, int64_t count, uint8_t highest,
                       std::string& out) const;
    void append_page_levels(const PageRange& range, size_t& repetition_bytes,
                            size_t& definition_bytes);
    void append_page_values(const PageRange& range);
    void append_page(PageType type, const PageRange& range, int64_t values, size_t repetition_bytes,
                     size_t definition_bytes);
    void measure(const PageRange& range, Page& page);
    void collect_used_codes(const PageRange& range);

    const LeafBuffer& leaf_;
    const ChunkOptions& options_;
    ChunkScratch& scratch_;
    Chunk chunk_;
};

Chunk ChunkWriter::write() {
    chunk_.levels = leaf_.level_count();
    chunk_.nulls = leaf_.level_count() - leaf_.value_count();
    chunk_.page_type = options_.page_version == 2 ? PageType::kDataV2 : PageType::kData;
    chunk_.data_encoding = leaf_.coding() ? Encoding::kRleDictionary : options_.encoding;
    chunk_.encodings = {chunk_.data_encoding};
    if (leaf_.coding()) {
        // Entries differ in their bits, and only floats have equal values of different bits.
        if (leaf_.leaf().order != Order::kFloat) chunk_.distinct = leaf_.dictionary().size();
        chunk_.encodings.push_back(Encoding::kPlain);
        write_dictionary_page();
    }
    if (leaf_.leaf().max_definition != 0 || leaf_.leaf().max_repetition != 0)
        if (chunk_.data_encoding != Encoding::kRle) chunk_.encodings.push_back(Encoding::kRle);
    const int64_t row_limit = page_row_limit();
    PageRange range;
    do {
        range = next_page(range, row_limit);
        write_data_page(range);
    } while (range.level_end < leaf_.level_count());
    if (options_.bloom_filter)
        append_bloom_filter(leaf_.coding() ? leaf_.dictionary() : leaf_.values(),
                            options_.bloom_false_positives, chunk_.bloom_filter);
    return std::move(chunk_);
}

void ChunkWriter::write_dictionary_page() {
    const ValueStore& entries = leaf_.dictionary();
    scratch_.plain.clear();
    append_values(leaf_.leaf(), Encoding::kPlain, entries, 0, entries.size(), scratch_.plain);
    append_page(PageType::kDictionary, {}, entries.size(), 0, 0);
    chunk_.dictionary_size = static_cast<int64_t>(chunk_.bytes.size());
}

// How many rows make a page of about the wanted size, judged by the average of the chunk.
int64_t ChunkWriter::page_row_limit() const {
    const ValueStore& values = leaf_.values();
    const int64_t bytes = leaf_.coding()
                              ? 4 * leaf_.value_count()
                              : values.byte_size() + (values.width() == 0 ? 4 * values.size() : 0);
    const int64_t per_level = bytes / std::max<int64_t>(leaf_.level_count(), 1) + 1;
    int64_t rows = std::clamp<int64_t>(options_.page_bytes / per_level, 1, options_.page_rows);
    if (rows > kBatchRows) rows -= rows % kBatchRows;
    return rows;
}

// A page begins with a row; repeated leaves are cut by rows and by level entries.
PageRange ChunkWriter::next_page(const PageRange& last, int64_t row_limit) const {
    PageRange range;
    range.level_begin = range.level_end = last.level_end;
    range.value_begin = range.value_end = last.value_end;
    range.first_row = last.first_row + last.rows;
    const std::span<const uint8_t> repetitions = leaf_.repetitions();
    if (repetitions.empty()) {
        range.rows = std::min(row_limit, leaf_.level_count() - range.level_begin);
        range.level_end += range.rows;
    } else {
        while (range.level_end < leaf_.level_count()) {
            if (repetitions[range.level_end] == 0) {
                if (range.rows == row_limit || range.level_end - range.level_begin >= row_limit)
                    break;
                ++range.rows;
            }
            ++range.level_end;
        }
    }
    const std::span<const uint8_t> definitions = leaf_.definitions();
    const int64_t levels = range.level_end - range.level_begin;
    range.value_end += definitions.empty() ? levels
                                           : std::count(definitions.begin() + range.level_begin,
                                                        definitions.begin() + range.level_end,
                                                        leaf_.leaf().max_definition);
    return range;
}

void ChunkWriter::append_levels(std::span<const uint8_t> levels, int64_t count, uint8_t highest,
                                std::string& out) const {
    if (levels.empty())
        append_rle_run(count, highest, bit_width(highest), out);
    else
        append_rle(levels, bit_width(highest), out);
}

// Version 1 puts the length before each kind of levels, version 2 into the page header.
void ChunkWriter::append_page_levels(const PageRange& range, size_t& repetition_bytes,
                                     size_t& definition_bytes) {
    const int64_t count = range.level_end - range.level_begin;
    auto append = [&](std::span<const uint8_t> levels, uint8_t highest) -> size_t {
        if (highest == 0) return 0;
        std::string& out = scratch_.plain;
        const size_t old = out.size();
        const size_t prefix = options_.page_version == 1 ? sizeof(uint32_t) : 0;
        out.resize(old + prefix);
        append_levels(levels.empty() ? levels : levels.subspan(range.level_begin, count), count,
                      highest, out);
        const size_t written = out.size() - old - prefix;
        if (prefix != 0) base::store(out.data() + old, static_cast<uint32_t>(written));
        return written;
    };
    repetition_bytes = append(leaf_.repetitions(), leaf_.leaf().max_repetition);
    definition_bytes = append(leaf_.definitions(), leaf_.leaf().max_definition);
}

void ChunkWriter::append_page_values(const PageRange& range) {
    if (!leaf_.coding())
        return append_values(leaf_.leaf(), options_.encoding, leaf_.values(), range.value_begin,
                             range.value_end, scratch_.plain);
    const int64_t entries = leaf_.dictionary().size();
    const int width = entries == 0 ? 0 : bit_width(static_cast<uint64_t>(entries - 1));
    scratch_.plain.push_back(static_cast<char>(width));
    append_rle(leaf_.codes().subspan(range.value_begin, range.value_end - range.value_begin), width,
               scratch_.plain);
}

void ChunkWriter::write_data_page(const PageRange& range) {
    Page page;
    page.offset = static_cast<int64_t>(chunk_.bytes.size());
    page.first_row = range.first_row;
    page.values = range.value_end - range.value_begin;
    page.nulls = range.level_end - range.level_begin - page.values;
    measure(range, page);
    scratch_.plain.clear();
    size_t repetition_bytes = 0, definition_bytes = 0;
    append_page_levels(range, repetition_bytes, definition_bytes);
    append_page_values(range);
    append_page(chunk_.page_type, range, range.level_end - range.level_begin, repetition_bytes,
                definition_bytes);
    page.size = static_cast<int64_t>(chunk_.bytes.size()) - page.offset;
    merge(leaf_.leaf(), page.bounds, chunk_.bounds);
    chunk_.pages.push_back(std::move(page));
}

// Compresses scratch_.plain and appends header and page to the chunk.
void ChunkWriter::append_page(PageType type, const PageRange& range, int64_t values,
                              size_t repetition_bytes, size_t definition_bytes) {
    const bool v2 = type == PageType::kDataV2;
    const size_t levels = v2 ? repetition_bytes + definition_bytes : 0;
    const base::ByteSpan plain = base::as_bytes(scratch_.plain);
    bool is_compressed = options_.codec != codec::Codec::kNone;
    base::ByteSpan body = plain.subspan(levels);
    if (is_compressed) {
        codec::compress(options_.codec, body, options_.level, scratch_.compressed);
        // Only version 2 can say that a page is stored as it is.
        if (v2 && scratch_.compressed.size() >= body.size())
            is_compressed = false;
        else
            body = scratch_.compressed.span();
    }
    if (std::max(plain.size(), levels + body.size()) > std::numeric_limits<int32_t>::max())
        base::raise(base::ErrorKind::kLimit, "a page of {} bytes", plain.size());
    const size_t header_begin = chunk_.bytes.size();
    ThriftWriter thrift(&chunk_.bytes);
    thrift.begin_root();
    thrift.field_i32(1, static_cast<int32_t>(type));
    thrift.field_i32(2, static_cast<int32_t>(plain.size()));
    thrift.field_i32(3, static_cast<int32_t>(levels + body.size()));
    if (options_.checksums) {
        uint32_t crc = libdeflate_crc32(0, plain.data(), levels);
        crc = libdeflate_crc32(crc, body.data(), body.size());
        thrift.field_i32(4, static_cast<int32_t>(crc));
    }
    const auto count = static_cast<int32_t>(values);
    if (type == PageType::kDictionary) {
        thrift.begin_struct(7);
        thrift.field_i32(1, count);
        thrift.field_i32(2, static_cast<int32_t>(Encoding::kPlain));
    } else if (v2) {
        thrift.begin_struct(8);
        thrift.field_i32(1, count);
        thrift.field_i32(2, static_cast<int32_t>(count - (range.value_end - range.value_begin)));
        thrift.field_i32(3, static_cast<int32_t>(range.rows));
        thrift.field_i32(4, static_cast<int32_t>(chunk_.data_encoding));
        thrift.field_i32(5, static_cast<int32_t>(definition_bytes));
        thrift.field_i32(6, static_cast<int32_t>(repetition_bytes));
        thrift.field_bool(7, is_compressed);
    } else {
        thrift.begin_struct(5);
        thrift.field_i32(1, count);
        thrift.field_i32(2, static_cast<int32_t>(chunk_.data_encoding));
        thrift.field_i32(3, static_cast<int32_t>(Encoding::kRle));
        thrift.field_i32(4, static_cast<int32_t>(Encoding::kRle));
    }
    thrift.end_struct();
    thrift.end_struct();
    const size_t header_bytes = chunk_.bytes.size() - header_begin;
    chunk_.bytes.append(scratch_.plain, 0, levels);
    chunk_.bytes.append(base::as_text(body));
    chunk_.uncompressed_size += static_cast<int64_t>(header_bytes + plain.size());
}

void ChunkWriter::collect_used_codes(const PageRange& range) {
    scratch_.used.assign(leaf_.dictionary().size(), 0);
    for (uint32_t code :
         leaf_.codes().subspan(range.value_begin, range.value_end - range.value_begin))
        scratch_.used[code] = 1;
    scratch_.used_codes.clear();
    for (uint32_t code = 0; code < scratch_.used.size(); ++code)
        if (scratch_.used[code] != 0) scratch_.used_codes.push_back(code);
}

Histogram count_levels(std::span<const uint8_t> levels, int64_t begin, int64_t end,
                       uint8_t highest) {
    if (highest == 0) return {};
    Histogram counts(highest + 1);
    if (levels.empty())
        counts[highest] = end - begin;
    else
        for (int64_t i = begin; i < end; ++i) ++counts[levels[i]];
    return counts;
}

// Fills in statistics and sizes of a page.
void ChunkWriter::measure(const PageRange& range, Page& page) {
    const Leaf& leaf = leaf_.leaf();
    if (leaf_.coding()) {
        collect_used_codes(range);
        page.bounds = bounds_of(leaf, leaf_.dictionary(), scratch_.used_codes);
    } else {
        page.bounds = bounds_of(leaf, leaf_.values(), range.value_begin, range.value_end);
    }
    if (leaf.physical == PhysicalType::kByteArray) {
        if (leaf_.coding())
            for (uint32_t code : leaf_.codes().subspan(range.value_begin, page.values))
                page.unencoded_bytes += static_cast<int64_t>(leaf_.dictionary().bytes(code).size());
        else
            page.unencoded_bytes = static_cast<int64_t>(
                leaf_.values().range(range.value_begin, range.value_end).size());
    }
    page.definitions =
        count_levels(leaf_.definitions(), range.level_begin, range.level_end, leaf.max_definition);
    page.repetitions =
        count_levels(leaf_.repetitions(), range.level_begin, range.level_end, leaf.max_repetition);
}

}  // namespace

Chunk write_chunk(const LeafBuffer& leaf, const ChunkOptions& options, ChunkScratch& scratch) {
    return ChunkWriter(leaf, options, scratch).write();
}

}  // namespace loom::parquet::write
