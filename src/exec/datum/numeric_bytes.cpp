#include "exec/datum/numeric_bytes.h"

#include <cstddef>
#include <cstring>

namespace loom::exec {

namespace {

constexpr int kBase = 10'000;
constexpr int kMaxGroups = (kMostNumericBytes - 4) / 2;
constexpr uint16_t kShort = 0x8000;
constexpr uint16_t kShortNegative = 0x2000;
constexpr int kShortScaleShift = 7;
constexpr int kShortScaleMax = 0x3F;
constexpr uint16_t kShortWeightSign = 0x0040;
constexpr int kShortWeightMax = 63;
constexpr int kShortWeightMin = -64;
constexpr uint16_t kLongNegative = 0x4000;

constexpr uint32_t kPowers[4] = {1, 10, 100, 1000};

// Packs `count` groups, least significant first, of which the lowest stands for 10000^low_weight.
int pack(const int16_t* groups, int count, int low_weight, bool negative, int display_scale,
         uint8_t* out) {
    int first = 0;  // trailing zero groups carry no information
    while (first < count && groups[first] == 0) ++first;
    while (count > first && groups[count - 1] == 0) --count;
    const int digits = count - first;
    const int weight = digits == 0 ? 0 : low_weight + count - 1;
    if (digits == 0) negative = false;
    int size = 0;
    const auto put = [&](int word) {
        const auto bits = static_cast<uint16_t>(word);
        std::memcpy(out + size, &bits, sizeof bits);
        size += static_cast<int>(sizeof bits);
    };
    if (display_scale <= kShortScaleMax && weight <= kShortWeightMax && weight >= kShortWeightMin) {
        put(kShort | (negative ? kShortNegative : 0) | (display_scale << kShortScaleShift) |
            (weight < 0 ? kShortWeightSign : 0) | (weight & 0x3F));
    } else {
        put((negative ? kLongNegative : 0) | display_scale);
        put(weight);
    }
    for (int i = 0; i < digits; ++i) put(groups[count - 1 - i]);
    return size;
}

// Where the groups of a number scaled by 10^scale fall: multiply by 10^shift, then the lowest group
// stands for 10000^low_weight.
struct Alignment {
    int shift;
    int low_weight;
    int display_scale;
};

Alignment align(int scale) {
    if (scale >= 0) {
        const int groups = (scale + 3) / 4;
        return {groups * 4 - scale, -groups, scale};
    }
    return {-scale % 4, -scale / 4, 0};
}

template <typename U>
int split(U magnitude, int16_t* groups) {
    int count = 0;
    for (; magnitude != 0; magnitude /= kBase)
        groups[count++] = static_cast<int16_t>(static_cast<uint32_t>(magnitude % kBase));
    return count;
}

// Multiplies by 10^shift and splits a magnitude given as eight 32-bit limbs, least significant
// first.
int split_wide(uint32_t (&limbs)[9], int shift, int16_t* groups) {
    uint64_t carry = 0;
    for (uint32_t& limb : limbs) {
        const uint64_t product = uint64_t{limb} * kPowers[shift] + carry;
        limb = static_cast<uint32_t>(product);
        carry = product >> 32;
    }
    int used = 9;
    int count = 0;
    for (;;) {
        while (used > 0 && limbs[used - 1] == 0) --used;
        if (used == 0) return count;
        uint64_t rest = 0;
        for (int i = used - 1; i >= 0; --i) {
            const uint64_t part = (rest << 32) | limbs[i];
            limbs[i] = static_cast<uint32_t>(part / kBase);
            rest = part % kBase;
        }
        groups[count++] = static_cast<int16_t>(rest);
    }
}

}  // namespace

int write_numeric(__int128 value, int scale, uint8_t* out) noexcept {
    const bool negative = value < 0;
    auto magnitude = static_cast<unsigned __int128>(value);
    if (negative) magnitude = -magnitude;
    const Alignment alignment = align(scale);
    int16_t groups[kMaxGroups];
    int count;
    if (magnitude < UINT64_MAX / 1000) {
        count = split(static_cast<uint64_t>(magnitude) * kPowers[alignment.shift], groups);
    } else {
        uint32_t limbs[9] = {};
        for (int i = 0; i < 4; ++i) limbs[i] = static_cast<uint32_t>(magnitude >> (32 * i));
        count = split_wide(limbs, alignment.shift, groups);
    }
    return pack(groups, count, alignment.low_weight, negative, alignment.display_scale, out);
}

int write_wide_numeric(const uint8_t* bytes, int scale, uint8_t* out) noexcept {
    uint32_t limbs[9] = {};
    std::memcpy(limbs, bytes, 32);
    const bool negative = (limbs[7] >> 31) != 0;
    if (negative) {
        uint64_t carry = 1;
        for (int i = 0; i < 8; ++i) {
            carry += static_cast<uint32_t>(~limbs[i]);
            limbs[i] = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
    }
    const Alignment alignment = align(scale);
    int16_t groups[kMaxGroups];
    const int count = split_wide(limbs, alignment.shift, groups);
    return pack(groups, count, alignment.low_weight, negative, alignment.display_scale, out);
}

}  // namespace loom::exec
