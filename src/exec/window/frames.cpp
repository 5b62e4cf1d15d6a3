#include "exec/window/frames.h"

#include <algorithm>

#include "exec/key.h"
#include "exec/sort/row_order.h"

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

// Ranges with offsets. A bound only moves forward from row to row of a partition, also where its
// value goes back, which months added to the last days of one do: PostgreSQL looks for it so.
class ValueBounds {
  public:
    ValueBounds(const BoundFrame& frame, const RowStore& rows) : frame_(frame) {
        const auto column = [&](int index) {
            return index < 0 ? Vector() : rows.column(static_cast<size_t>(index)).view();
        };
        key_ = column(frame.key);
        starts_ = column(frame.start_value);
        ends_ = column(frame.end_value);
    }

    void fill(const RowSpan& partition, const RowSpans& peers, RowSpans& out,
              const Poll& poll) const {
        using Bound = plan::FrameBound;
        RowSpan span{partition.begin, partition.begin};
        for (int32_t row = partition.begin; row < partition.end; ++row) {
            if (row % kRowsPerPoll == 0) poll();
            if (frame_.start == Bound::kCurrent)
                span.begin = peers[row].begin;
            else if (frame_.start != Bound::kUnbounded)
                while (span.begin < partition.end && precedes(span.begin, row)) ++span.begin;
            if (frame_.end == Bound::kCurrent)
                span.end = peers[row].end;
            else if (frame_.end == Bound::kUnbounded)
                span.end = partition.end;
            else
                while (span.end < partition.end && !exceeds(span.end, row)) ++span.end;
            out[row] = span;
        }
    }

  private:
    int compare(int32_t other, const Vector& bounds, int32_t row) const {
        const auto a = static_cast<uint32_t>(other);
        const auto b = static_cast<uint32_t>(row);
        return key_.type.id == plan::TypeId::kNumeric
                   ? compare_numerics(key_, a, bounds, b)
                   : compare_values(key_, a, bounds, b, plan::physical(key_.type));
    }
    // Whether row `other` comes before the frame of `row`; NULLs are in the frames of each other.
    bool precedes(int32_t other, int32_t row) const {
        const bool null = key_.is_null(row);
        if (null || key_.is_null(other))
            return null != frame_.nulls_first && null != key_.is_null(other);
        const int order = compare(other, starts_, row);
        return frame_.descending ? order > 0 : order < 0;
    }
    // Whether row `other` comes behind the frame of `row`.
    bool exceeds(int32_t other, int32_t row) const {
        const bool null = key_.is_null(row);
        if (null || key_.is_null(other)) return frame_.nulls_first ? !key_.is_null(other) : !null;
        const int order = compare(other, ends_, row);
        return frame_.descending ? order < 0 : order > 0;
    }

    const BoundFrame& frame_;
    Vector key_;
    Vector starts_;
    Vector ends_;
};

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

RowSpans frames_of(const BoundFrame& frame, const RowStore& rows, const RowSpans& partitions,
                   const RowSpans& peers, base::MemoryBudget* budget, const Poll& poll) {
    RowSpans frames(partitions.length(), budget);
    if (frame.key >= 0) {
        const ValueBounds bounds(frame, rows);
        for (int64_t row = 0; row < partitions.length(); row = partitions[row].end)
            bounds.fill(partitions[row], peers, frames, poll);
        return frames;
    }
    for (int64_t row = 0; row < partitions.length(); row = partitions[row].end) {
        if (frame.mode == plan::FrameMode::kRows)
            rows_frame(frame, partitions[row], frames);
        else
            peers_frame(frame, partitions[row], peers, frames);
    }
    return frames;
}

}  // namespace loom::exec
