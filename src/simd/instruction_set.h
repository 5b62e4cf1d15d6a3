#pragma once
// Which vector instructions the running processor has.

#include <cstdint>

namespace loom::simd {

/// Levels of kernels, each including the ones before it. kAvx512 stands for F, BW, DQ, VL, VBMI and
/// VBMI2 together (Ice Lake, Zen 4 and later).
enum class InstructionSet : uint8_t { kScalar, kAvx2, kAvx512 };

/// Returns the best level that this processor and operating system support.
InstructionSet best_instruction_set() noexcept;

}  // namespace loom::simd
