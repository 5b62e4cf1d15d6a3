#pragma once
// The kernels of each instruction set, for mask.cpp and its relatives only.

#include "simd/mask.h"

namespace loom::simd {

extern const MaskKernels kMaskScalar;
#if defined(__x86_64__)
extern const MaskKernels kMaskAvx2;
extern const MaskKernels kMaskAvx512;
#endif

}  // namespace loom::simd
