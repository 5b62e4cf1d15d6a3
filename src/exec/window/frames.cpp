#include "exec/window/frames.h"

#include <algorithm>

#include "exec/key.h"

namespace loom::exec {

namespace {

constexpr int64_t kRowsPerPoll = 1 << 16;

// Whether row `row` equals the one before it.
class SameAsBefore {
  public:
    SameAsBefore(const RowStore& rows, std::span<const int> columns) {
        for (const int column : columns) {
            columns_.push_back(rows.column(static_cast<size_t>(column)).view());
            physical_.push_back(plan::physical(columns_.back().type));
        }
    }
    bool operator()(int64_t row) const {
        for (size_t i = 0; i < columns_.size(); ++i) {
            const Vector& column = columns_[i];
            const bool null = column.is_null(row);
            if (null != column.is_null(row - 1)) return false;
            if (!null && !key_equal(column, row - 1, column, row, physical_[i])) return false;
        }
        return true;
    }

  private:
    std::vector<Vector> columns_;
    std::vector<plan::Physical> physical_;
};

int32_t clamp(int64_t row, const RowSpan& partition) {
    return static_cast<int32_t>(std::clamp<int64_t>(row, partition.begin, partition.end));
}

// `row` moved by an offset that may be as large as any int64.
int64_t before(int64_t row, int64_t offset) {
    return offset > row ? -1 : row - offset;
}
int64_t after(int64_t row, int64_t offset) {
    return offset > INT32_MAX ? int64_t{INT32_MAX} + 1 : row + offset;
}

void rows_frame(const BoundFrame& frame, const RowSpan& partition, RowSpans& out) {
    using Bound = plan::FrameBound;
    for (int64_t row = partition.begin; row < partition.end; ++row) {
        RowSpan& span = out[row];
        span = partition;
        if (frame.start == Bound::kPreceding)
            span.begin = clamp(before(row, frame.start_offset), partition);
        else if (frame.start == Bound::kCurrent)
            span.begin = static_cast<int32_t>(row);
        else if (frame.start == Bound::kFollowing)
            span.begin = clamp(after(row, frame.start_offset), partition);
        if (frame.end == Bound::kPreceding)
            span.end = clamp(before(row, frame.end_offset) + 1, partition);
        else if (frame.end == Bound::kCurrent)
            span.end = static_cast<int32_t>(row) + 1;
        else if (frame.end == Bound::kFollowing)
            span.end = clamp(after(row, frame.end_offset) + 1, partition);
    }
}

// Ranges without offsets and groups: bounds are those of groups of peers.
void peers_frame(const BoundFrame& frame, const RowSpan& partition, const RowSpans& peers,
                 RowSpans& out) {
    using Bound = plan::FrameBound;
    std::vector<RowSpan> groups;
    for (int64_t row = partition.begin; row < partition.end; row = peers[row].end)
        groups.push_back(peers[row]);
    const auto count = static_cast<int64_t>(groups.size());
    const auto begin_of = [&](int64_t group) {
        return group < 0       ? partition.begin
               : group < count ? groups[static_cast<size_t>(group)].begin
                               : partition.end;
    };
    const auto end_of = [&](int64_t group) {
        return group < 0       ? partition.begin
               : group < count ? groups[static_cast<size_t>(group)].end
                               : partition.end;
    };
    for (int64_t group = 0; group < count; ++group) {
        RowSpan span = partition;
        if (frame.start == Bound::kPreceding)
            span.begin = begin_of(before(group, frame.start_offset));
        else if (frame.start == Bound::kCurrent)
            span.begin = begin_of(group);
        else if (frame.start == Bound::kFollowing)
            span.begin = begin_of(after(group, frame.start_offset));
        if (frame.end == Bound::kPreceding)
            span.end = end_of(before(group, frame.end_offset));
        else if (frame.end == Bound::kCurrent)
            span.end = end_of(group);
        else if (frame.end == Bound::kFollowing)
            span.end = end_of(after(group, frame.end_offset));
        const RowSpan& rows = groups[static_cast<size_t>(group)];
        for (int64_t row = rows.begin; row < rows.end; ++row) out[row] = span;
    }
}

}  // namespace

RowSpans::RowSpans(int64_t rows, base::MemoryBudget* budget) : spans_(budget), length_(rows) {
    spans_.resize(static_cast<uint64_t>(rows) * sizeof(RowSpan));
}

RowSpans whole(int64_t rows, base::MemoryBudget* budget) {
    RowSpans spans(rows, budget);
    for (int64_t row = 0; row < rows; ++row) spans[row] = {0, static_cast<int32_t>(rows)};
    return spans;
}

RowSpans split(const RowSpans& within, const RowStore& rows, std::span<const int> columns,
               base::MemoryBudget* budget, const Poll& poll) {
    RowSpans spans(within.length(), budget);
    const SameAsBefore same(rows, columns);
    for (int64_t begin = 0; begin < within.length();) {
        int64_t end = columns.empty() ? within[begin].end : begin + 1;
        while (end < within[begin].end && same(end)) {
            if (end % kRowsPerPoll == 0) poll();
            ++end;
        }
        if (begin % kRowsPerPoll == 0) poll();
        for (int64_t row = begin; row < end; ++row)
            spans[row] = {static_cast<int32_t>(begin), static_cast<int32_t>(end)};
        begin = end;
    }
    return spans;
}

RowSpans frames_of(const BoundFrame& frame, const RowSpans& partitions, const RowSpans& peers,
                   base::MemoryBudget* budget) {
    RowSpans frames(partitions.length(), budget);
    for (int64_t row = 0; row < partitions.length(); row = partitions[row].end) {
        if (frame.mode == plan::FrameMode::kRows)
            rows_frame(frame, partitions[row], frames);
        else
            peers_frame(frame, partitions[row], peers, frames);
    }
    return frames;
}

}  // namespace loom::exec
