#include "simd/bit_unpack.h"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/buffer.h"

namespace loom::simd {
namespace {

std::vector<InstructionSet> supported() {
    std::vector<InstructionSet> sets{InstructionSet::kScalar};
    if (best_instruction_set() >= InstructionSet::kAvx2) sets.push_back(InstructionSet::kAvx2);
    if (best_instruction_set() >= InstructionSet::kAvx512) sets.push_back(InstructionSet::kAvx512);
    return sets;
}

void run(const UnpackKernels& k, const uint8_t* p, int w, int64_t n, uint8_t* o) {
    k.u8(p, w, n, o);
}
void run(const UnpackKernels& k, const uint8_t* p, int w, int64_t n, uint16_t* o) {
    k.u16(p, w, n, o);
}
void run(const UnpackKernels& k, const uint8_t* p, int w, int64_t n, uint32_t* o) {
    k.u32(p, w, n, o);
}
void run(const UnpackKernels& k, const uint8_t* p, int w, int64_t n, uint64_t* o) {
    k.u64(p, w, n, o);
}

// Every width and many counts against a bit-by-bit packer; buffers are exact, so that the address
// sanitizer would see a kernel that leaves the documented slack.
template <typename T>
void compare_all() {
    std::mt19937_64 random(7);
    for (int width = 0; width <= static_cast<int>(8 * sizeof(T)); ++width)
        for (int64_t count : {0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 100, 257, 1000}) {
            std::vector<T> expected(count);
            const size_t bytes = (count * width + 7) / 8;
            std::vector<uint8_t> packed(bytes + kUnpackSlack, 0xA5);
            std::fill_n(packed.begin(), bytes, 0);
            for (int64_t i = 0; i < count; ++i) {
                const uint64_t value = width == 0 ? 0 : random() >> (64 - width);
                expected[i] = static_cast<T>(value);
                for (int b = 0; b < width; ++b)
                    if (value >> b & 1) packed[(i * width + b) >> 3] |= 1U << ((i * width + b) & 7);
            }
            for (InstructionSet set : supported()) {
                std::vector<T> out(count + kUnpackSlack / sizeof(T));
                run(unpack_kernels(set), packed.data(), width, count, out.data());
                out.resize(count);
                EXPECT_EQ(out, expected)
                    << "width " << width << " count " << count << " set " << static_cast<int>(set);
            }
        }
}

TEST(BitUnpack, U8) {
    compare_all<uint8_t>();
}
TEST(BitUnpack, U16) {
    compare_all<uint16_t>();
}
TEST(BitUnpack, U32) {
    compare_all<uint32_t>();
}
TEST(BitUnpack, U64) {
    compare_all<uint64_t>();
}

}  // namespace
}  // namespace loom::simd
