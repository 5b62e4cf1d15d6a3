#pragma once
// Window functions and aggregates over windows, a column of results at a time.

#include <cstdint>
#include <span>

#include "exec/window/frames.h"

namespace loom::exec {

/// What a function sees.
struct WindowInput {
    const RowStore& rows;
    const RowSpans& partitions;
    const RowSpans& peers;
    const RowSpans& frames;
    std::span<const int> args;   ///< columns of `rows`
    int filter;                  ///< column, or -1: rows that count
    const plan::Layout* layout;  ///< array_agg: of the result
    base::MemoryBudget* budget;
    const Poll& poll;

    Vector arg(size_t index) const { return rows.column(static_cast<size_t>(args[index])).view(); }
    int64_t length() const noexcept { return rows.length(); }
};

/// Appends the results of function `function` (pg_proc OID) for all rows to `out`. Raises SqlFault
/// and Unrepresentable.
void compute_window(uint32_t function, const WindowInput& input, StoredColumn& out);

/// The part of compute_window() for percentile_disc, percentile_cont, mode, string_agg and
/// array_agg, whose value is the first argument, in the order of the rows. The first row of a
/// partition gets the result, the others NULL.
void compute_ordered_set(uint32_t function, const WindowInput& input, StoredColumn& out);

/// The part of compute_window() for aggregates.
void compute_aggregate(uint32_t function, const WindowInput& input, StoredColumn& out);
/// Returns whether compute_aggregate() knows an aggregate over an argument of this type.
bool has_window_aggregate(uint32_t function, std::span<const plan::Type> args);

/// Appends `count` values to `out`; present[i] tells which are not NULL (null: all).
void append_values(StoredColumn& out, const void* values, const uint8_t* present, int64_t count);

}  // namespace loom::exec
