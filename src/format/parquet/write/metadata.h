#pragma once
// Footer and page indexes: what a file says about its chunks.

#include <string>
#include <vector>

#include "format/parquet/write/chunk_writer.h"
#include "format/parquet/write/options.h"
#include "format/parquet/write/schema_plan.h"

namespace loom::parquet::write {

/// A chunk whose bytes are in the file.
struct PlacedChunk {
    Chunk chunk;  ///< without its bytes
    int64_t offset = 0;
    int64_t size = 0;
    codec::Codec codec = codec::Codec::kNone;
    int64_t bloom_offset = 0;
    int64_t bloom_size = 0;  ///< 0: no filter
    int64_t column_index_offset = 0;
    int64_t column_index_size = 0;  ///< 0: no index
    int64_t offset_index_offset = 0;
    int64_t offset_index_size = 0;
};

struct PlacedRowGroup {
    int64_t rows = 0;
    std::vector<PlacedChunk> chunks;
};

/// Appends the column index of a chunk; false (and nothing) if its pages have no usable bounds.
bool append_column_index(const Leaf& leaf, const Chunk& chunk, std::string& out);

/// Appends the offset index of a chunk whose first byte is at `offset` in the file.
void append_offset_index(const Leaf& leaf, const PlacedChunk& placed, std::string& out);

/// Appends FileMetaData.
void append_file_metadata(const SchemaPlan& plan, const WriterOptions& options,
                          const std::vector<column::KeyValue>& schema_metadata,
                          const std::vector<PlacedRowGroup>& row_groups, std::string& out);

}  // namespace loom::parquet::write
