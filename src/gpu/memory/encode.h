#pragma once
// Writes values as kernels read them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gpu/memory/column_layout.h"

namespace loom::gpu {

/// Values of some rows of one column: integers of the engine's domain, or codes. `valid` has a bit
/// for each row (bit i % 8 of byte i / 8), or is empty if none is NULL; values of NULL rows do not
/// count.
struct Values {
    std::span<const int64_t> values;
    std::span<const uint8_t> valid;

    bool is_null(int64_t row) const {
        return !valid.empty() && (valid[static_cast<size_t>(row / 8)] >> row % 8 & 1) == 0;
    }
};

/// What the values of a column need, over one block or many.
class ColumnShape {
  public:
    ColumnShape() = default;
    /// As add() finds it; `min` above `max`: no values.
    ColumnShape(int64_t min, int64_t max, int tile_bits, bool has_nulls)
        : min_(min), max_(max), tile_bits_(tile_bits), has_nulls_(has_nulls) {}

    /// Looks at further rows, which begin a new block.
    void add(const Values& values);
    void add(const ColumnShape& other);

    bool has_nulls() const noexcept { return has_nulls_; }
    /// No value (all NULL, or no rows) if not.
    bool has_values() const noexcept { return min_ <= max_; }
    int64_t min() const noexcept { return min_; }
    int64_t max() const noexcept { return max_; }
    /// Returns the encoding of fewest bytes that is read fast.
    ColumnLayout layout() const;
    /// Whether another one has room for all values.
    bool fits(const ColumnLayout& layout) const;

  private:
    int64_t min_ = INT64_MAX;
    int64_t max_ = INT64_MIN;
    int tile_bits_ = 0;  ///< that offsets within a tile take at most; above 32: more
    bool has_nulls_ = false;
};

/// Bytes for device memory.
struct EncodedBlock {
    std::vector<uint8_t> data;         ///< whole tiles
    std::vector<uint32_t> tile_bases;  ///< kPacked
    std::vector<uint16_t> valid;       ///< empty if all values are there
    int64_t base = 0;                  ///< offsets are counted from here; kWide: 0
    int64_t min = INT64_MAX;           ///< of the values that are there
    int64_t max = INT64_MIN;
    int64_t rows = 0;
};

/// Encodes one block, whose values the layout has room for (ColumnShape::layout).
EncodedBlock encode(const Values& values, const ColumnLayout& layout);

}  // namespace loom::gpu
