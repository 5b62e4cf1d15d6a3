#pragma once
// Where partitions, groups of peers and frames lie in sorted rows.

#include <cstdint>
#include <span>

#include "base/buffer.h"
#include "exec/row_store.h"
#include "exec/tasks.h"
#include "plan/operator.h"

namespace loom::exec {

/// A half-open range of rows.
struct RowSpan {
    int32_t begin = 0;
    int32_t end = 0;

    int64_t length() const noexcept { return end > begin ? end - begin : 0; }
};

/// One RowSpan a row, and how it was made.
class RowSpans {
  public:
    RowSpans(int64_t rows, base::MemoryBudget* budget);
    RowSpan& operator[](int64_t row) noexcept { return spans_.as<RowSpan>()[row]; }
    const RowSpan& operator[](int64_t row) const noexcept { return spans_.as<RowSpan>()[row]; }
    int64_t length() const noexcept { return length_; }

  private:
    base::Buffer spans_;
    int64_t length_;
};

/// A frame with its offsets known.
struct BoundFrame {
    plan::FrameMode mode = plan::FrameMode::kRange;
    plan::FrameBound start = plan::FrameBound::kUnbounded;
    plan::FrameBound end = plan::FrameBound::kCurrent;
    int64_t start_offset = 0;  ///< not negative
    int64_t end_offset = 0;
    /// kRange with an offset: columns of plan::Frame's values, and the order of `key`.
    int key = -1;
    int start_value = -1;
    int end_value = -1;
    bool descending = false;
    bool nulls_first = false;
};

/// Splits runs of rows that are equal in `columns` within each span of `within`; without columns
/// the spans stay as they are. NULLs are equal.
RowSpans split(const RowSpans& within, const RowStore& rows, std::span<const int> columns,
               base::MemoryBudget* budget, const Poll& poll);
/// Returns one span of all rows for each.
RowSpans whole(int64_t rows, base::MemoryBudget* budget);
/// Returns the frame of each row.
RowSpans frames_of(const BoundFrame& frame, const RowStore& rows, const RowSpans& partitions,
                   const RowSpans& peers, base::MemoryBudget* budget, const Poll& poll);

}  // namespace loom::exec
