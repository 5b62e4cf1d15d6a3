#include "simd/instruction_set.h"

namespace loom::simd {

namespace {
InstructionSet detect() noexcept {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    const bool avx512 =
        avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    return avx512 ? InstructionSet::kAvx512
           : avx2 ? InstructionSet::kAvx2
                  : InstructionSet::kScalar;
#else
    return InstructionSet::kScalar;
#endif
}
}  // namespace

InstructionSet best_instruction_set() noexcept {
    static const InstructionSet best = detect();
    return best;
}

}  // namespace loom::simd
