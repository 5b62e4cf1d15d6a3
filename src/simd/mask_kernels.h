#pragma once
// The kernels of each instruction set, for mask.cpp and its relatives only.

#include "simd/mask.h"

namespace loom::simd {

/// Brings what lies 2 KB behind `from` into the caches: batches of several columns are read in
/// turn, in which the processor finds no streams by itself. May point behind the values.
inline void fetch_ahead(const void* from) noexcept {
    __builtin_prefetch(static_cast<const char*>(from) + 2048);
}

extern const MaskKernels kMaskScalar;
#if defined(__x86_64__)
extern const MaskKernels kMaskAvx2;
extern const MaskKernels kMaskAvx512;
#endif

}  // namespace loom::simd
