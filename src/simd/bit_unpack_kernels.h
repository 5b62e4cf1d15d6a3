#pragma once
// The kernels of each instruction set, for bit_unpack.cpp only.

#include "simd/bit_unpack.h"

namespace loom::simd {

extern const UnpackKernels kUnpackScalar;
#if defined(__x86_64__)
extern const UnpackKernels kUnpackAvx2;
extern const UnpackKernels kUnpackAvx512;
#endif

/// Returns a mask of the lowest `width` bits, 0 to 64.
constexpr uint64_t low_bits(int width) noexcept {
    return width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
}

}  // namespace loom::simd
