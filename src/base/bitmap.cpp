#include "base/bitmap.h"

#include <cstring>

namespace loom::base {

int64_t count_bits(const uint8_t* bits, int64_t offset, int64_t count) noexcept {
    int64_t total = 0;
    int64_t i = offset;
    const int64_t end = offset + count;
    for (; i < end && (i & 7) != 0; ++i) total += bit_at(bits, i);
    for (; i + 64 <= end; i += 64) total += std::popcount(load<uint64_t>(bits + (i >> 3)));
    for (; i < end; ++i) total += bit_at(bits, i);
    return total;
}

void copy_bits(const uint8_t* from, int64_t from_offset, int64_t count, uint8_t* to,
               int64_t to_offset) noexcept {
    int64_t i = 0;
    if ((from_offset & 7) == 0 && (to_offset & 7) == 0) {
        std::memcpy(to + (to_offset >> 3), from + (from_offset >> 3), count >> 3);
        i = count & ~int64_t{7};
    } else {
        for (; i < count && ((to_offset + i) & 7) != 0; ++i)
            put_bit(to, to_offset + i, bit_at(from, from_offset + i));
        for (; i + 8 <= count; i += 8) {
            int64_t source = from_offset + i;
            unsigned low = from[source >> 3] >> (source & 7);
            unsigned high = (source & 7) == 0 ? 0U : from[(source >> 3) + 1] << (8 - (source & 7));
            to[(to_offset + i) >> 3] = static_cast<uint8_t>(low | high);
        }
    }
    for (; i < count; ++i) put_bit(to, to_offset + i, bit_at(from, from_offset + i));
}

void fill_bits(uint8_t* to, int64_t offset, int64_t count, bool value) noexcept {
    int64_t i = offset;
    const int64_t end = offset + count;
    for (; i < end && (i & 7) != 0; ++i) put_bit(to, i, value);
    if (end - i >= 8) {
        std::memset(to + (i >> 3), value ? 0xFF : 0, (end - i) >> 3);
        i += (end - i) & ~int64_t{7};
    }
    for (; i < end; ++i) put_bit(to, i, value);
}

}  // namespace loom::base
