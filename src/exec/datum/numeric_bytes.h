#pragma once
// The form in which PostgreSQL keeps a numeric: an optional long header and digits in base 10,000
// (src/backend/utils/adt/numeric.c, "struct NumericData"). Heap files have it, so it cannot change
// without breaking pg_upgrade.

#include <cstdint>

namespace loom::exec {

/// Bytes that a numeric takes at most, without the header of a varlena: 256 bits are 78 digits,
/// alignment adds one group at either end.
inline constexpr int kMostNumericBytes = 4 + 24 * 2;

/// Writes value / 10^scale with display scale max(scale, 0) to `out`, what follows a varlena's
/// header, and returns how many bytes. Exact.
int write_numeric(__int128 value, int scale, uint8_t* out) noexcept;
/// Likewise of a little-endian two's complement integer of 32 bytes.
int write_wide_numeric(const uint8_t* bytes, int scale, uint8_t* out) noexcept;

}  // namespace loom::exec
