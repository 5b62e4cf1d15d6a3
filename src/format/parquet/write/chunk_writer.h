#pragma once
// Turns one collected leaf of a row group into a column chunk: pages, statistics, indexes.

#include <map>
#include <string>
#include <vector>

#include "format/parquet/write/bounds.h"
#include "format/parquet/write/leaf_buffer.h"
#include "format/parquet/write/options.h"

namespace loom::parquet::write {

/// Options of one leaf with the file's defaults filled in.
struct ChunkOptions {
    codec::Codec codec = codec::Codec::kSnappy;
    int level = 0;
    Encoding encoding = Encoding::kPlain;
    int64_t dictionary_bytes = 0;
    bool bloom_filter = false;
    double bloom_false_positives = 0.01;
    int64_t page_rows = 0;
    int64_t page_bytes = 0;
    int page_version = 1;
    bool checksums = false;
};

/// Counts of level values, by level; empty for a leaf whose highest level is 0.
using Histogram = std::vector<int64_t>;

/// One data page in the finished chunk.
struct Page {
    int64_t offset = 0;  ///< of its header, from the start of the chunk
    int64_t size = 0;    ///< compressed, with header
    int64_t first_row = 0;
    int64_t nulls = 0;
    int64_t values = 0;  ///< that are not NULL
    Bounds bounds;
    int64_t unencoded_bytes = 0;
    Histogram definitions;
    Histogram repetitions;
};

/// A column chunk before it has a place in the file.
struct Chunk {
    std::string bytes;         ///< dictionary page and data pages
    std::string bloom_filter;  ///< header and bits, or nothing
    std::vector<Page> pages;
    int64_t dictionary_size = 0;  ///< bytes of the dictionary page, 0 without one
    int64_t uncompressed_size = 0;
    int64_t levels = 0;  ///< what the format calls num_values
    int64_t nulls = 0;
    int64_t distinct = -1;
    Bounds bounds;
    std::vector<Encoding> encodings;
    Encoding data_encoding = Encoding::kPlain;
    PageType page_type = PageType::kData;
};

/// Memory that one thread reuses from chunk to chunk.
struct ChunkScratch {
    std::string plain;
    base::Buffer compressed;
    std::vector<uint8_t> used;
    std::vector<uint32_t> used_codes;
};

/// Encodes and compresses `leaf`, which was finished.
Chunk write_chunk(const LeafBuffer& leaf, const ChunkOptions& options, ChunkScratch& scratch);

}  // namespace loom::parquet::write
