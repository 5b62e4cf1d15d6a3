#pragma once
// Picks rows of plain arrays: the inner loops of selections and joins.

#include <cstdint>

namespace loom::column {

/// Copies the values at `positions` to `out`; a value takes `width` bytes (1, 2, 4, 8, 16 or 32).
/// `out` may be `values` itself if positions ascend without repeats.
void gather_values(const void* values, int width, const uint8_t* positions, int64_t count,
                   void* out) noexcept;
void gather_values(const void* values, int width, const uint16_t* positions, int64_t count,
                   void* out) noexcept;
void gather_values(const void* values, int width, const uint32_t* positions, int64_t count,
                   void* out) noexcept;

/// Copies the bits at `positions`; `out` may be `bits` itself under the same condition. Bits of the
/// last byte behind `count` are cleared.
void gather_bits(const uint8_t* bits, const uint16_t* positions, int64_t count,
                 uint8_t* out) noexcept;
void gather_bits(const uint8_t* bits, const uint32_t* positions, int64_t count,
                 uint8_t* out) noexcept;

}  // namespace loom::column
