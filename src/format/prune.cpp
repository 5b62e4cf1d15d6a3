#include "format/prune.h"

#include <algorithm>

namespace loom::format {

using column::compare;
using column::Scalar;

namespace {

bool overlaps(const ScalarRange& range, const ColumnStatistics& statistics) {
    auto comparable = [](const Scalar& a, const Scalar& b) {
        return a.known() && b.known() && a.kind == b.kind;
    };
    if (comparable(range.lo, statistics.max) && compare(range.lo, statistics.max) > 0) return false;
    if (comparable(range.hi, statistics.min) && compare(range.hi, statistics.min) < 0) return false;
    return true;
}

bool is_point(const ScalarRange& range) {
    return range.lo.known() && range.lo.kind == range.hi.kind && compare(range.lo, range.hi) == 0;
}

}  // namespace

bool may_match(const PruneCondition& condition, const ColumnStatistics& statistics, int64_t rows) {
    if (condition.nulls && statistics.null_count != 0) return true;
    if (statistics.null_count >= 0 && statistics.null_count >= rows) return false;  // all NULL
    if (condition.nans && statistics.nan_count != 0 &&
        (statistics.min.kind == Scalar::Kind::kFloat ||
         statistics.max.kind == Scalar::Kind::kFloat))
        return true;
    return std::any_of(condition.ranges.begin(), condition.ranges.end(),
                       [&](const ScalarRange& range) { return overlaps(range, statistics); });
}

std::optional<size_t> excluding_condition(const TableReader& table, int64_t row_group,
                                          const std::vector<PruneCondition>& conditions) {
    const int64_t rows = table.row_group_rows(row_group);
    for (size_t i = 0; i < conditions.size(); ++i)
        if (!may_match(conditions[i], table.statistics(row_group, conditions[i].column), rows))
            return i;
    for (size_t i = 0; i < conditions.size(); ++i) {
        const PruneCondition& condition = conditions[i];
        if (condition.nulls || condition.ranges.empty()) continue;
        if (!std::all_of(condition.ranges.begin(), condition.ranges.end(), is_point)) continue;
        const bool found = std::any_of(
            condition.ranges.begin(), condition.ranges.end(), [&](const ScalarRange& range) {
                return table.may_contain(row_group, condition.column, range.lo);
            });
        if (!found) return i;
    }
    return std::nullopt;
}

RowRanges intersect(const RowRanges& a, const RowRanges& b) {
    RowRanges result;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const int64_t begin = std::max(a[i].begin, b[j].begin);
        const int64_t end = std::min(a[i].end, b[j].end);
        if (begin < end) result.push_back({begin, end});
        a[i].end < b[j].end ? ++i : ++j;
    }
    return result;
}

RowRanges matching_rows(const TableReader& table, int64_t row_group,
                        const std::vector<PruneCondition>& conditions) {
    const int64_t rows = table.row_group_rows(row_group);
    if (rows == 0) return {};
    RowRanges result{{0, rows}};
    for (const PruneCondition& condition : conditions) {
        std::vector<PageStatistics> pages = table.page_statistics(row_group, condition.column);
        if (pages.empty()) continue;
        RowRanges kept;
        for (const PageStatistics& page : pages) {
            if (page.row_count <= 0 || !may_match(condition, page.statistics, page.row_count))
                continue;
            const int64_t end = page.first_row + page.row_count;
            if (!kept.empty() && kept.back().end == page.first_row)
                kept.back().end = end;
            else
                kept.push_back({page.first_row, end});
        }
        result = intersect(result, kept);
    }
    return result;
}

}  // namespace loom::format
