#pragma once
// The dictionary of a column chunk in the column's own type.

#include <memory>

#include "column/column.h"
#include "format/parquet/page/page.h"
#include "format/parquet/schema/leaf_type.h"

namespace loom::parquet {

/// Owns decoded dictionary values; what they point to lies in the kept page.
class ChunkDictionary {
  public:
    /// Decodes a dictionary page. Raises kCorrupt if its entries don't fit its bytes.
    ChunkDictionary(const LeafType& leaf, Page page, base::MemoryBudget* budget);

    const column::Dictionary& dictionary() const noexcept { return dictionary_; }
    int64_t size() const noexcept { return dictionary_.values.length; }
    /// Returns the bytes a code takes: 1, 2 or 4.
    uint8_t code_width() const noexcept { return size() <= 256 ? 1 : size() <= 65536 ? 2 : 4; }

  private:
    Page page_;
    column::TypePtr type_;
    base::Buffer values_;
    column::Dictionary dictionary_;
};

}  // namespace loom::parquet
