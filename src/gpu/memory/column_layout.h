#pragma once
// How the values of a column lie in device memory; src/gpu/runtime/tile.h reads them.

#include <cstdint>
#include <string>

#include "plan/type.h"

namespace loom::gpu {

enum class Encoding : uint8_t {
    kOffset8,
    kOffset16,
    kOffset32,
    kPacked,  ///< `bits` of them a value, with a base for each tile
    kWide     ///< 8 bytes, no base
};

/// The same for all blocks of a column that one kernel reads.
struct ColumnLayout {
    Encoding encoding = Encoding::kWide;
    uint8_t bits = 0;       ///< kPacked: even, 2 to 30
    bool nullable = false;  ///< blocks may say which values are there

    bool operator==(const ColumnLayout&) const = default;
};

/// A column of a scanned table, as all its blocks lie.
struct ScanColumn {
    plan::Type type;
    ColumnLayout layout;
    int64_t origin = 0;  ///< offsets of rows are counted from here
    int64_t min = 0;     ///< of the values that are there
    int64_t max = -1;    ///< below min: there are none
    bool dictionary = false;

    bool has_values() const noexcept { return min <= max; }
    /// Values from min to max.
    uint64_t reach() const noexcept {
        return static_cast<uint64_t>(max) - static_cast<uint64_t>(min) + 1;
    }
};

/// Returns the name of the encoding in src/gpu/runtime/tile.h.
std::string encoding_name(const ColumnLayout& layout);

/// Returns the bytes of a tile's values.
uint32_t tile_bytes(const ColumnLayout& layout);

}  // namespace loom::gpu
