#pragma once
// From decoded physical values to values of the column's type.

#include <cstdint>

#include "format/parquet/schema/leaf_type.h"

namespace loom::parquet {

/// Converts `count` values in slots of leaf.physical_width() to slots of leaf.logical_width(), for
/// all conversions but kNone, kBool and kAllNull. Raises kCorrupt for a value that the type can't
/// hold, kDatetimeRange for a timestamp that microseconds can't.
void convert_values(const LeafType& leaf, const uint8_t* from, int64_t count, uint8_t* to);

/// Packs `count` bytes (0 or 1) to bits[offset, + count).
void pack_booleans(const uint8_t* from, int64_t count, uint8_t* bits, int64_t offset) noexcept;

/// Reads a big-endian two's complement number of `size` bytes into `width` little-endian bytes
/// (4, 8, 16 or 32). Redundant sign bytes are accepted; returns false if the number does not fit.
bool read_big_endian(const uint8_t* from, int64_t size, int width, uint8_t* to) noexcept;

}  // namespace loom::parquet
