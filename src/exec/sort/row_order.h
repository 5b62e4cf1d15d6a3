#pragma once
// The order of rows, value by value.

#include <vector>

#include "exec/row_store.h"
#include "plan/operator.h"

namespace loom::exec {

/// Compares two values of plain vectors of one type that are not NULL, as PostgreSQL does; below,
/// at or above 0.
int compare_values(const Vector& a, uint32_t a_row, const Vector& b, uint32_t b_row,
                   plan::Physical physical);

/// Likewise of two vectors of numerics, whatever their scales and widths.
int compare_numerics(const Vector& a, uint32_t a_row, const Vector& b, uint32_t b_row);

/// Compares rows of a store by its keys from `first` on.
class RowOrder {
  public:
    RowOrder(const RowStore& rows, const std::vector<plan::SortKey>& keys, size_t first = 0);
    bool operator()(uint32_t a, uint32_t b) const;

  private:
    std::vector<Vector> columns_;
    std::vector<plan::Physical> physical_;
    const std::vector<plan::SortKey>& keys_;
    size_t first_;
};

}  // namespace loom::exec
