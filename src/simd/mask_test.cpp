#include "simd/mask.h"

#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace loom::simd {
namespace {

constexpr int64_t kLengths[] = {0, 1, 7, 31, 32, 33, 63, 64, 65, 127, 1023, 1025, 4095, 4096};

std::vector<InstructionSet> supported() {
    std::vector<InstructionSet> sets{InstructionSet::kScalar};
    if (best_instruction_set() >= InstructionSet::kAvx2) sets.push_back(InstructionSet::kAvx2);
    if (best_instruction_set() >= InstructionSet::kAvx512) sets.push_back(InstructionSet::kAvx512);
    return sets;
}

bool bit(const std::vector<uint64_t>& words, int64_t i) {
    return (words[static_cast<size_t>(i >> 6)] >> (i & 63) & 1) != 0;
}

// Runs `make` into a mask full of ones and compares all of its bits with `expected`.
template <typename Make, typename Expected>
void check(int64_t count, Make make, Expected expected) {
    for (InstructionSet set : supported()) {
        std::vector<uint64_t> mask(static_cast<size_t>(mask_words(count)), ~uint64_t{0});
        make(mask_kernels(set), mask.data());
        for (int64_t i = 0; i < mask_words(count) * 64; ++i)
            ASSERT_EQ(bit(mask, i), i < count && expected(i))
                << "row " << i << " of " << count << " set " << static_cast<int>(set);
    }
}

// Vectors are exact, so that the address sanitizer sees a read behind them.
template <typename T, typename Member>
void check_codes(const std::vector<int64_t>& sizes, Member member) {
    std::mt19937_64 random(3);
    for (int64_t codes : sizes)
        for (int64_t count : kLengths) {
            std::vector<uint64_t> bitmap(static_cast<size_t>(mask_words(codes)));
            for (uint64_t& word : bitmap) word = random();
            std::vector<T> values(static_cast<size_t>(count));
            for (T& value : values) value = static_cast<T>(random() % codes);
            check(
                count,
                [&](const MaskKernels& k, uint64_t* mask) {
                    (k.*member)(values.data(), count, bitmap.data(), codes, mask);
                },
                [&](int64_t i) { return bit(bitmap, values[static_cast<size_t>(i)]); });
        }
}

TEST(Mask, Codes) {
    check_codes<uint8_t>({1, 2, 64, 65, 200, 256}, &MaskKernels::codes8);
    check_codes<uint16_t>({1, 64, 65, 1024, 1025, 2048, 2049, 3000, 4096, 4097, 65536},
                          &MaskKernels::codes16);
    check_codes<uint32_t>({1, 65, 4097, 1000000}, &MaskKernels::codes32);
}

template <typename T, typename Member>
void check_range(Member member) {
    using Limits = std::numeric_limits<T>;
    const T edges[] = {Limits::min(), Limits::min() + 1, -100,         -1, 0, 1,
                       100,           Limits::max() - 1, Limits::max()};
    std::mt19937_64 random(5);
    for (int64_t count : kLengths) {
        std::vector<T> values(static_cast<size_t>(count));
        for (T& value : values)
            value = random() % 2 == 0 ? edges[random() % std::size(edges)]
                                      : static_cast<T>(random() % 256 - 128);
        for (T low : edges)
            for (T high : edges)
                if (low <= high)
                    check(
                        count,
                        [&](const MaskKernels& k, uint64_t* mask) {
                            (k.*member)(values.data(), count, low, high, mask);
                        },
                        [&](int64_t i) {
                            const T value = values[static_cast<size_t>(i)];
                            return value >= low && value <= high;
                        });
    }
}

TEST(Mask, Range) {
    check_range<int16_t>(&MaskKernels::range16);
    check_range<int32_t>(&MaskKernels::range32);
    check_range<int64_t>(&MaskKernels::range64);
}

TEST(Mask, Members) {
    std::mt19937_64 random(9);
    for (int64_t base : {int64_t{INT32_MIN}, int64_t{-70}, int64_t{0}, int64_t{INT32_MAX} - 50})
        for (uint32_t size : {1U, 64U, 100U, 5000U})
            for (int64_t count : kLengths) {
                std::vector<uint64_t> bitmap(static_cast<size_t>(mask_words(size)));
                for (uint64_t& word : bitmap) word = random();
                std::vector<int32_t> values(static_cast<size_t>(count));
                for (int32_t& value : values)
                    value =
                        static_cast<int32_t>(base + static_cast<int64_t>(random() % 6000) - 500);
                const auto expected = [&](int64_t i) {
                    const int64_t at = values[static_cast<size_t>(i)] - base;
                    return at >= 0 && at < size && bit(bitmap, at);
                };
                check(
                    count,
                    [&](const MaskKernels& k, uint64_t* mask) {
                        if (base + size - 1 <= INT32_MAX)
                            k.members32(values.data(), count, base, bitmap.data(), size, mask);
                        else
                            members_to_mask(values.data(), count, base, bitmap.data(), size, mask);
                    },
                    expected);
                std::vector<int64_t> wide(values.begin(), values.end());
                check(
                    count,
                    [&](const MaskKernels&, uint64_t* mask) {
                        members_to_mask(wide.data(), count, base, bitmap.data(), size, mask);
                    },
                    expected);
            }
}

TEST(Mask, BoolsAndBack) {
    std::mt19937_64 random(11);
    for (int64_t count : kLengths) {
        std::vector<uint8_t> values(static_cast<size_t>(count));
        for (uint8_t& value : values) value = random() & 1;
        check(
            count,
            [&](const MaskKernels& k, uint64_t* mask) { k.bools(values.data(), count, mask); },
            [&](int64_t i) { return values[static_cast<size_t>(i)] != 0; });
        std::vector<uint64_t> mask(static_cast<size_t>(mask_words(count)));
        bools_to_mask(values.data(), count, mask.data());
        for (InstructionSet set : supported()) {
            std::vector<uint8_t> out(static_cast<size_t>(count) + kSelectionSlack);
            mask_kernels(set).expand(mask.data(), count, out.data());
            out.resize(static_cast<size_t>(count));
            EXPECT_EQ(out, values);
        }
    }
}

TEST(Mask, Selection) {
    std::mt19937_64 random(13);
    for (int64_t count : {0, 1, 63, 64, 65, 4096, 65536})
        for (int density : {0, 1, 8, 63, 64}) {
            std::vector<uint64_t> mask(static_cast<size_t>(mask_words(count)));
            std::vector<uint16_t> expected;
            for (int64_t i = 0; i < count; ++i)
                if (static_cast<int>(random() % 64) < density) {
                    mask[static_cast<size_t>(i >> 6)] |= uint64_t{1} << (i & 63);
                    expected.push_back(static_cast<uint16_t>(i));
                }
            EXPECT_EQ(count_mask(mask.data(), count), static_cast<int64_t>(expected.size()));
            for (InstructionSet set : supported()) {
                std::vector<uint16_t> out(expected.size() + kSelectionSlack / 2);
                const int64_t rows = mask_kernels(set).selection(mask.data(), count, out.data());
                ASSERT_EQ(rows, static_cast<int64_t>(expected.size()));
                out.resize(expected.size());
                EXPECT_EQ(out, expected);
            }
        }
}

}  // namespace
}  // namespace loom::simd
