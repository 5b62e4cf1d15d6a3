#pragma once
// From the bounds that a file states to bounds that may be used.

#include "format/parquet/schema/footer.h"
#include "format/table_reader.h"

namespace loom::parquet {

/// Decodes one bound, stated in the plain encoding of the leaf's physical type. Returns kNone for a
/// value that is impossible, for NaN, and for types whose values have no order or don't fit a
/// Scalar.
column::Scalar decode_bound(const LeafType& leaf, base::ByteSpan bytes);

/// Returns whether the leaf's values have an order in which min_value and max_value can be used.
bool has_usable_order(const LeafType& leaf, Footer::Order order) noexcept;

/// Gives `out` both bounds unless they contradict each other.
void set_bounds(column::Scalar min, column::Scalar max, format::ColumnStatistics& out);

/// Returns the bounds of a whole column chunk. Unknown where the file says nothing that can be
/// trusted: see the rules in statistics.cpp.
format::ColumnStatistics usable_statistics(const Leaf& leaf, Footer::Order order,
                                           const ColumnChunk& chunk);

}  // namespace loom::parquet
