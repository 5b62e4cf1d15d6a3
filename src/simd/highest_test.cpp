#include "simd/highest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace loom::simd {

template <typename T>
class HighestTest : public testing::Test {};
using Types = testing::Types<uint8_t, uint16_t, uint32_t>;
TYPED_TEST_SUITE(HighestTest, Types);

TYPED_TEST(HighestTest, FindsTheHighestAtAnyPlace) {
    std::mt19937 random(1);
    for (const int64_t count : {0, 1, 15, 16, 17, 127, 128, 129, 511, 512, 513, 4096, 4099}) {
        std::vector<TypeParam> values(static_cast<size_t>(count));
        for (int round = 0; round < 20; ++round) {
            for (TypeParam& value : values) value = static_cast<TypeParam>(random());
            const TypeParam expected =
                values.empty() ? TypeParam{0} : *std::max_element(values.begin(), values.end());
            ASSERT_EQ(highest(values.data(), count), expected) << count;
            if (count == 0) break;
            for (TypeParam& value : values) value = static_cast<TypeParam>(value / 2);
            values[random() % values.size()] = std::numeric_limits<TypeParam>::max();
            ASSERT_EQ(highest(values.data(), count), std::numeric_limits<TypeParam>::max());
        }
    }
}

}  // namespace loom::simd
