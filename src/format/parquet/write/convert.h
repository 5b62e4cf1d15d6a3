#pragma once
// Converts values of a plain ColumnView to Parquet's physical representation.

#include <cstdint>

#include "base/buffer.h"
#include "column/column_view.h"
#include "format/parquet/write/schema_plan.h"

namespace loom::parquet::write {

/// Which rows of a view are meant: rows[0..count), or begin + (0..count) where `rows` is null.
struct RowPick {
    const int64_t* rows = nullptr;
    int64_t begin = 0;
    int64_t count = 0;
};

/// Writes the picked values (none of them NULL) of `view` to `out`: leaf.width bytes each, or a
/// BytesView each where the width is 0. Raises kValueRange for a value that the file's type can't
/// hold.
void convert_values(const Leaf& leaf, const column::ColumnView& view, const RowPick& pick,
                    base::Buffer& out);

}  // namespace loom::parquet::write
