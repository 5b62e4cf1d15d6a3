#pragma once
// Builds numeric datums from scaled integers without going through text.

#include "pg/compat/backend.h"

namespace loom::pg {

/// Returns value / 10^scale as a palloc'd numeric with display scale max(scale, 0). Exact.
Datum numeric_from_int128(__int128 value, int scale);

/// Returns the little-endian two's complement integer of `width` bytes (4, 8, 16 or 32) at `bytes`,
/// divided by 10^scale. Exact; scale may be negative.
Datum numeric_from_bytes(const uint8_t* bytes, int width, int scale);

}  // namespace loom::pg
