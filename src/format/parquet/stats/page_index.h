#pragma once
// The page index: where the pages of a chunk lie and what bounds they have.

#include <vector>

#include "format/parquet/read/file_state.h"

namespace loom::parquet {

/// Reads the offset index of a chunk. Returns nothing if there is none or it can't be used.
std::vector<PageLocation> read_page_locations(const FileState& file, int64_t row_group, int leaf);

/// Reads offset and column index of a leaf that is not nested. Returns nothing if one of them is
/// missing or they contradict each other.
std::vector<format::PageStatistics> read_page_statistics(const FileState& file, int64_t row_group,
                                                         int leaf);

}  // namespace loom::parquet
