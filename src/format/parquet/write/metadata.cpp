#include "format/parquet/write/metadata.h"

#include <algorithm>
#include <limits>

#include "format/parquet/write/thrift_writer.h"

namespace loom::parquet::write {

namespace {

// Longer bounds of byte arrays are cut.
constexpr size_t kBoundBytes = 64;

int codec_number(codec::Codec codec) {
    switch (codec) {
        case codec::Codec::kNone:
            return 0;
        case codec::Codec::kSnappy:
            return 1;
        case codec::Codec::kGzip:
            return 2;
        case codec::Codec::kBrotli:
            return 4;
        case codec::Codec::kLz4Hadoop:
            return 5;
        case codec::Codec::kZstd:
            return 6;
        case codec::Codec::kLz4Raw:
            return 7;
        case codec::Codec::kLz4Frame:
            break;
    }
    base::raise(base::ErrorKind::kUnsupported, "Parquet has no codec {}", codec::name(codec));
}

void add_histogram(const Histogram& more, Histogram& into) {
    into.resize(std::max(into.size(), more.size()));
    for (size_t i = 0; i < more.size(); ++i) into[i] += more[i];
}

void write_statistics(ThriftWriter& out, int id, const Leaf& leaf, const Chunk& chunk) {
    out.begin_struct(id);
    out.field_i64(3, chunk.nulls);
    if (chunk.distinct >= 0) out.field_i64(4, chunk.distinct);
    if (chunk.bounds.known) {
        const WrittenBound max = upper_bound(leaf, chunk.bounds.max, kBoundBytes);
        const WrittenBound min = lower_bound(leaf, chunk.bounds.min, kBoundBytes);
        out.field_binary(5, max.bytes);
        out.field_binary(6, min.bytes);
        out.field_bool(7, max.exact);
        out.field_bool(8, min.exact);
    }
    out.end_struct();
}

void write_encoding_stats(ThriftWriter& out, int id, const Chunk& chunk) {
    out.begin_list(id, ThriftType::kStruct, chunk.dictionary_size != 0 ? 2 : 1);
    auto write = [&](PageType type, Encoding encoding, size_t count) {
        out.begin_element();
        out.field_i32(1, static_cast<int32_t>(type));
        out.field_i32(2, static_cast<int32_t>(encoding));
        out.field_i32(3, static_cast<int32_t>(count));
        out.end_struct();
    };
    if (chunk.dictionary_size != 0) write(PageType::kDictionary, Encoding::kPlain, 1);
    write(chunk.page_type, chunk.data_encoding, chunk.pages.size());
}

void write_size_statistics(ThriftWriter& out, int id, const Leaf& leaf, const Chunk& chunk) {
    int64_t bytes = 0;
    Histogram repetitions, definitions;
    for (const Page& page : chunk.pages) {
        bytes += page.unencoded_bytes;
        add_histogram(page.repetitions, repetitions);
        add_histogram(page.definitions, definitions);
    }
    out.begin_struct(id);
    if (leaf.physical == PhysicalType::kByteArray) out.field_i64(1, bytes);
    if (!repetitions.empty()) out.list_i64(2, repetitions);
    if (!definitions.empty()) out.list_i64(3, definitions);
    out.end_struct();
}

void write_column_metadata(ThriftWriter& out, const Leaf& leaf, const PlacedChunk& placed) {
    const Chunk& chunk = placed.chunk;
    out.begin_struct(3);
    out.field_i32(1, static_cast<int32_t>(leaf.physical));
    out.begin_list(2, ThriftType::kI32, chunk.encodings.size());
    for (Encoding encoding : chunk.encodings) out.element_integer(static_cast<int64_t>(encoding));
    out.begin_list(3, ThriftType::kBinary, leaf.path.size());
    for (const std::string& part : leaf.path) out.element_binary(part);
    out.field_i32(4, codec_number(placed.codec));
    out.field_i64(5, chunk.levels);
    out.field_i64(6, chunk.uncompressed_size);
    out.field_i64(7, placed.size);
    out.field_i64(9, placed.offset + chunk.dictionary_size);
    if (chunk.dictionary_size != 0) out.field_i64(11, placed.offset);
    write_statistics(out, 12, leaf, chunk);
    write_encoding_stats(out, 13, chunk);
    if (placed.bloom_size != 0) {
        out.field_i64(14, placed.bloom_offset);
        out.field_i32(15, static_cast<int32_t>(placed.bloom_size));
    }
    write_size_statistics(out, 16, leaf, chunk);
    out.end_struct();
}

void write_column_chunk(ThriftWriter& out, const Leaf& leaf, const PlacedChunk& placed) {
    out.begin_element();
    out.field_i64(2, placed.offset);
    write_column_metadata(out, leaf, placed);
    if (placed.offset_index_size != 0) {
        out.field_i64(4, placed.offset_index_offset);
        out.field_i32(5, static_cast<int32_t>(placed.offset_index_size));
    }
    if (placed.column_index_size != 0) {
        out.field_i64(6, placed.column_index_offset);
        out.field_i32(7, static_cast<int32_t>(placed.column_index_size));
    }
    out.end_struct();
}

void write_sorting(ThriftWriter& out, int id, const SchemaPlan& plan,
                   const std::vector<SortingColumn>& sorting) {
    out.begin_list(id, ThriftType::kStruct, sorting.size());
    for (const SortingColumn& entry : sorting) {
        const auto leaf = std::find_if(
            plan.leaves.begin(), plan.leaves.end(),
            [&](const Leaf& candidate) { return candidate.dotted_path() == entry.column; });
        out.begin_element();
        out.field_i32(1, static_cast<int32_t>(leaf - plan.leaves.begin()));
        out.field_bool(2, entry.direction == Direction::kDescending);
        out.field_bool(3, entry.nulls == Nulls::kFirst);
        out.end_struct();
    }
}

void write_row_group(ThriftWriter& out, const SchemaPlan& plan, const WriterOptions& options,
                     const PlacedRowGroup& group, size_t ordinal) {
    int64_t uncompressed = 0, compressed = 0;
    out.begin_element();
    out.begin_list(1, ThriftType::kStruct, group.chunks.size());
    for (size_t i = 0; i < group.chunks.size(); ++i) {
        write_column_chunk(out, plan.leaves[i], group.chunks[i]);
        uncompressed += group.chunks[i].chunk.uncompressed_size;
        compressed += group.chunks[i].size;
    }
    out.field_i64(2, uncompressed);
    out.field_i64(3, group.rows);
    if (!options.sorting.empty()) write_sorting(out, 4, plan, options.sorting);
    if (!group.chunks.empty()) out.field_i64(5, group.chunks[0].offset);
    out.field_i64(6, compressed);
    if (ordinal <= static_cast<size_t>(std::numeric_limits<int16_t>::max()))
        out.field_i16(7, static_cast<int16_t>(ordinal));
    out.end_struct();
}

void write_key_values(ThriftWriter& out, int id, const std::vector<column::KeyValue>& pairs) {
    out.begin_list(id, ThriftType::kStruct, pairs.size());
    for (const column::KeyValue& pair : pairs) {
        out.begin_element();
        out.field_binary(1, pair.key);
        out.field_binary(2, pair.value);
        out.end_struct();
    }
}

enum BoundaryOrder { kUnordered = 0, kAscending = 1, kDescending = 2 };

BoundaryOrder boundary_order(const Leaf& leaf, const std::vector<std::string>& mins,
                             const std::vector<std::string>& maxs, const std::vector<Page>& pages) {
    bool ascending = true, descending = true;
    const std::string* last_min = nullptr;
    const std::string* last_max = nullptr;
    for (size_t i = 0; i < pages.size(); ++i) {
        if (pages[i].values == 0) continue;
        if (last_min != nullptr) {
            const int by_min = compare(leaf, *last_min, mins[i]);
            const int by_max = compare(leaf, *last_max, maxs[i]);
            ascending = ascending && by_min <= 0 && by_max <= 0;
            descending = descending && by_min >= 0 && by_max >= 0;
        }
        last_min = &mins[i];
        last_max = &maxs[i];
    }
    return ascending ? kAscending : descending ? kDescending : kUnordered;
}

void write_histograms(ThriftWriter& out, int id, const std::vector<Page>& pages,
                      Histogram Page::*member) {
    std::vector<int64_t> all;
    for (const Page& page : pages)
        all.insert(all.end(), (page.*member).begin(), (page.*member).end());
    if (!all.empty()) out.list_i64(id, all);
}

}  // namespace

bool append_column_index(const Leaf& leaf, const Chunk& chunk, std::string& out) {
    const std::vector<Page>& pages = chunk.pages;
    std::vector<std::string> mins, maxs;
    for (const Page& page : pages) {
        // A page of NaN only has values without bounds; the format has no way to say that.
        if (page.values != 0 && !page.bounds.known) return false;
        mins.push_back(page.bounds.known ? lower_bound(leaf, page.bounds.min, kBoundBytes).bytes
                                         : "");
        maxs.push_back(page.bounds.known ? upper_bound(leaf, page.bounds.max, kBoundBytes).bytes
                                         : "");
    }
    ThriftWriter thrift(&out);
    thrift.begin_root();
    thrift.begin_list(1, ThriftType::kTrue, pages.size());
    for (const Page& page : pages) thrift.element_bool(page.values == 0);
    thrift.begin_list(2, ThriftType::kBinary, pages.size());
    for (const std::string& min : mins) thrift.element_binary(min);
    thrift.begin_list(3, ThriftType::kBinary, pages.size());
    for (const std::string& max : maxs) thrift.element_binary(max);
    thrift.field_i32(4, boundary_order(leaf, mins, maxs, pages));
    thrift.begin_list(5, ThriftType::kI64, pages.size());
    for (const Page& page : pages) thrift.element_integer(page.nulls);
    write_histograms(thrift, 6, pages, &Page::repetitions);
    write_histograms(thrift, 7, pages, &Page::definitions);
    thrift.end_struct();
    return true;
}

void append_offset_index(const Leaf& leaf, const PlacedChunk& placed, std::string& out) {
    const std::vector<Page>& pages = placed.chunk.pages;
    ThriftWriter thrift(&out);
    thrift.begin_root();
    thrift.begin_list(1, ThriftType::kStruct, pages.size());
    for (const Page& page : pages) {
        thrift.begin_element();
        thrift.field_i64(1, placed.offset + page.offset);
        thrift.field_i32(2, static_cast<int32_t>(page.size));
        thrift.field_i64(3, page.first_row);
        thrift.end_struct();
    }
    if (leaf.physical == PhysicalType::kByteArray) {
        thrift.begin_list(2, ThriftType::kI64, pages.size());
        for (const Page& page : pages) thrift.element_integer(page.unencoded_bytes);
    }
    thrift.end_struct();
}

void append_file_metadata(const SchemaPlan& plan, const WriterOptions& options,
                          const std::vector<column::KeyValue>& schema_metadata,
                          const std::vector<PlacedRowGroup>& row_groups, std::string& out) {
    int64_t rows = 0;
    for (const PlacedRowGroup& group : row_groups) rows += group.rows;
    std::vector<column::KeyValue> metadata = schema_metadata;
    metadata.insert(metadata.end(), options.metadata.begin(), options.metadata.end());
    ThriftWriter thrift(&out);
    thrift.begin_root();
    thrift.field_i32(1, options.page_version);
    plan.write_elements(thrift, 2);
    thrift.field_i64(3, rows);
    thrift.begin_list(4, ThriftType::kStruct, row_groups.size());
    for (size_t i = 0; i < row_groups.size(); ++i)
        write_row_group(thrift, plan, options, row_groups[i], i);
    if (!metadata.empty()) write_key_values(thrift, 5, metadata);
    thrift.field_binary(6, options.created_by);
    // Each leaf has the order of its type; ColumnOrder is a union whose member 1 says so.
    thrift.begin_list(7, ThriftType::kStruct, plan.leaves.size());
    for (size_t i = 0; i < plan.leaves.size(); ++i) {
        thrift.begin_element();
        thrift.begin_struct(1);
        thrift.end_struct();
        thrift.end_struct();
    }
    thrift.end_struct();
}

}  // namespace loom::parquet::write
