#pragma once
// The highest of many unsigned integers: how readers check that dictionary codes lie within their
// dictionary.

#include <cstdint>

namespace loom::simd {

/// Returns the highest of values[0, count), or 0 if count is 0.
uint8_t highest(const uint8_t* values, int64_t count) noexcept;
uint16_t highest(const uint16_t* values, int64_t count) noexcept;
uint32_t highest(const uint32_t* values, int64_t count) noexcept;

}  // namespace loom::simd
