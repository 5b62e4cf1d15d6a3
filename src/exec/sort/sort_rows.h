#pragma once
// Sorts rows in memory.

#include <cstdint>
#include <vector>

#include "exec/row_store.h"
#include "exec/sort/packed_key.h"
#include "exec/tasks.h"

namespace loom::exec {

/// Sorts `rows` and keeps the first `limit` (-1: all). words[i] is the packed key of row i, and
/// equal words leave the keys from `first_open` on to be compared. Releases `words`.
RowStore sort_rows(const RowStore& rows, base::Buffer& words, size_t first_open,
                   const std::vector<plan::SortKey>& keys, const std::vector<plan::Type>& types,
                   int64_t limit, const Poll& poll, base::MemoryBudget* budget);

}  // namespace loom::exec
