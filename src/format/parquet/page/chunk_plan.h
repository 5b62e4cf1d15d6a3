#pragma once
// Which bytes and pages of a column chunk a reader has to fetch.

#include <cstdint>
#include <vector>

#include "format/parquet/schema/footer.h"
#include "format/table_reader.h"

namespace loom::parquet {

/// A page known from the offset index.
struct PlannedPage {
    uint64_t offset = 0;
    uint64_t size = 0;  ///< with its header
    int64_t first_row = 0;
    int64_t row_count = 0;
};

/// Where the pages of one column chunk lie.
struct ChunkPlan {
    codec::Codec codec = codec::Codec::kNone;
    uint64_t begin = 0;
    uint64_t end = 0;        ///< as the metadata say
    uint64_t hard_end = 0;   ///< where pages may really end: old writers state too few bytes
    int64_t row_count = 0;   ///< rows of the row group
    int64_t slot_count = 0;  ///< values, NULLs and empty lists that the metadata promise
    bool v2_always_compressed = false;  ///< the writer's is_compressed flag can't be believed
    bool by_pages =
        false;  ///< read only `pages`, and the dictionary page in front of the first one
    uint64_t dictionary_begin = 0;
    uint64_t dictionary_end = 0;     ///< equal to begin: there is none
    std::vector<PlannedPage> pages;  ///< those that hold wanted rows
    int64_t pages_left_out = 0;
};

/// Finds the bytes of a chunk. Raises kCorrupt for places outside the file, kUnsupported for a
/// codec that is not there, for encryption and for data in another file.
ChunkPlan plan_chunk(const Footer& footer, int64_t row_group, int leaf);

/// Restricts a plan to pages that overlap `rows`. Does nothing if `locations` make no sense.
void restrict_to_rows(ChunkPlan& plan, const std::vector<PageLocation>& locations,
                      const format::RowRanges& rows);

/// Returns the row count of each page, or nothing if the locations contradict the row group.
std::vector<PlannedPage> pages_of(const std::vector<PageLocation>& locations, int64_t row_count,
                                  uint64_t data_end);

}  // namespace loom::parquet
