#pragma once
// How the definitions of this folder are declared, so that one text serves the host's compiler and
// NVRTC. Nothing here includes a header of the standard library's containers or throws.

#if defined(__CUDACC_RTC__)
#define LOOM_SQL __device__ __forceinline__
#else
#include <cstdint>
/// Inlined into kernels of any instruction set, so that the loop around it decides how it is
/// compiled.
#define LOOM_SQL __attribute__((always_inline)) inline
#endif

namespace loom::sql {

using Int128 = __int128;
using UInt128 = unsigned __int128;

/// Text or bytea; laid out as column::BytesView.
struct Bytes {
    const uint8_t* data = nullptr;
    int64_t size = 0;
};

/// Laid out as plan::Interval.
struct Interval {
    int64_t microseconds = 0;
    int32_t days = 0;
    int32_t months = 0;
};

/// Laid out as plan::Uuid.
struct Uuid {
    uint8_t bytes[16] = {};
};

}  // namespace loom::sql
