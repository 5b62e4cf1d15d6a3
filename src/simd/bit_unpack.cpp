// Plain kernels and the choice among all of them.

#include "simd/bit_unpack.h"

#include "base/bytes.h"
#include "simd/bit_unpack_kernels.h"

namespace loom::simd {

namespace {

// Reads one value at bit position `bit`. The 8-byte load starts within the packed bytes; a value of
// more than 57 bits may need a ninth byte, which then holds some of its bits.
uint64_t value_at(const uint8_t* packed, uint64_t bit, int width) noexcept {
    const uint8_t* from = packed + (bit >> 3);
    const int shift = static_cast<int>(bit & 7);
    uint64_t word = base::load<uint64_t>(from) >> shift;
    if (shift + width > 64) word |= static_cast<uint64_t>(from[8]) << (64 - shift);
    return word & low_bits(width);
}

template <typename T>
void unpack_scalar(const uint8_t* packed, int width, int64_t count, T* out) noexcept {
    uint64_t bit = 0;
    for (int64_t i = 0; i < count; ++i, bit += static_cast<uint64_t>(width))
        out[i] = static_cast<T>(width == 0 ? 0 : value_at(packed, bit, width));
}

}  // namespace

const UnpackKernels kUnpackScalar = {unpack_scalar<uint8_t>, unpack_scalar<uint16_t>,
                                     unpack_scalar<uint32_t>, unpack_scalar<uint64_t>};

const UnpackKernels& unpack_kernels(InstructionSet set) noexcept {
#if defined(__x86_64__)
    if (set == InstructionSet::kAvx512) return kUnpackAvx512;
    if (set == InstructionSet::kAvx2) return kUnpackAvx2;
#endif
    return kUnpackScalar;
}

namespace {
const UnpackKernels& best() noexcept {
    static const UnpackKernels& kernels = unpack_kernels(best_instruction_set());
    return kernels;
}
}  // namespace

void unpack(const uint8_t* packed, int width, int64_t count, uint8_t* out) noexcept {
    best().u8(packed, width, count, out);
}
void unpack(const uint8_t* packed, int width, int64_t count, uint16_t* out) noexcept {
    best().u16(packed, width, count, out);
}
void unpack(const uint8_t* packed, int width, int64_t count, uint32_t* out) noexcept {
    best().u32(packed, width, count, out);
}
void unpack(const uint8_t* packed, int width, int64_t count, uint64_t* out) noexcept {
    best().u64(packed, width, count, out);
}

}  // namespace loom::simd
