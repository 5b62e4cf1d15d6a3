#pragma once
// Copies chosen rows of a column: what dictionaries of nested values, list views out of order,
// expanded runs, dictionary deltas and ColumnReader::gather need.

#include <span>

#include "base/buffer.h"
#include "column/column.h"

namespace loom::arrow {

/// Row number that gather_rows() turns into a NULL.
inline constexpr int64_t kNullRow = -1;

/// Most list elements that one call may copy. A small file can state many rows that all refer to
/// the same long list; beyond this the answer is kLimit.
inline constexpr int64_t kGatherLimit = int64_t{1} << 26;

/// Appends rows in[rows[i]] to `out`, which was made for in.type by new_column() or is empty of
/// rows. Row numbers are not checked. BytesViews are copied, not the bytes they point to. Plain and
/// dictionary-encoded input (codes stay codes) at the top; nested members must be plain.
void gather_rows(const column::ColumnView& in, std::span<const int64_t> rows, column::Column& out);

/// Returns a column without rows for `type` that takes its memory from `budget`.
column::Column new_column(const column::TypePtr& type, base::MemoryBudget* budget);

/// Removes all rows and keeps the memory.
void clear_rows(column::Column& column);

/// Returns a view of what was gathered; without validity if there are no NULLs.
column::ColumnView gathered_view(column::Column& column);

}  // namespace loom::arrow
