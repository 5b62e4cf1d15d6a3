#pragma once
// Puts the dense values of a page where the rows that hold them are.

#include <cstdint>

namespace loom::parquet {

/// Moves dense values of `width` bytes to the rows whose bit in validity[offset, + count) is set;
/// other rows become zero. `dense` may be read one slot behind the values, `out` has the usual
/// slack. The two must not overlap.
void expand_slots(const uint8_t* dense, int32_t width, const uint8_t* validity, int64_t offset,
                  int64_t count, uint8_t* out) noexcept;

}  // namespace loom::parquet
