#pragma once
// Decides from statistics which row groups, pages and files can hold no wanted row.
//
// Every answer errs on the side of reading: bounds may be inexact, NULL and NaN may be uncounted.

#include <optional>
#include <string>
#include <vector>

#include "format/table_reader.h"

namespace loom::format {

/// A closed range in the domain of a column's type; an unknown end is open. lo == hi is one value.
struct ScalarRange {
    column::Scalar lo;
    column::Scalar hi;
};

/// A condition on one column that a wanted row must meet: its value lies in one of `ranges`, or it
/// is NULL and `nulls` allows that. Callers may widen a condition, never narrow it.
struct PruneCondition {
    int column = -1;
    std::vector<ScalarRange> ranges;
    bool nulls = false;  ///< rows with NULL are wanted (IS NULL)
    bool nans = true;    ///< floats: NaN may lie in the ranges (PostgreSQL: NaN above all numbers)
    std::string text;    ///< for EXPLAIN
};

/// Returns whether rows with these bounds may meet `condition`; `rows` is how many there are.
bool may_match(const PruneCondition& condition, const ColumnStatistics& statistics, int64_t rows);

/// Returns the index of the first condition that excludes `row_group`, or nullopt. Looks at
/// row-group statistics first, then at Bloom filters for conditions that list single values.
std::optional<size_t> excluding_condition(const TableReader& table, int64_t row_group,
                                          const std::vector<PruneCondition>& conditions);

/// Returns the rows of `row_group` in pages that may match all conditions.
RowRanges matching_rows(const TableReader& table, int64_t row_group,
                        const std::vector<PruneCondition>& conditions);

/// Intersects two lists of ranges.
RowRanges intersect(const RowRanges& a, const RowRanges& b);

}  // namespace loom::format
