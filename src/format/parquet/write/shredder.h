#pragma once
// Takes columns apart into leaves (Dremel: repetition and definition levels).

#include <span>
#include <vector>

#include "column/column.h"
#include "format/parquet/write/leaf_buffer.h"

namespace loom::parquet::write {

/// Appends rows [begin, begin + count) of `view`, the column that `node` describes, to the buffers
/// of its leaves. `buffers` is indexed by Node::leaf. Raises kTypeMismatch for a NULL where the
/// schema allows none.
void shred(const Node& node, const column::ColumnView& view, int64_t begin, int64_t count,
           std::span<LeafBuffer> buffers);

}  // namespace loom::parquet::write
