#include "column/gather.h"

#include <cstring>

#include "base/bitmap.h"

namespace loom::column {

namespace {

// A value is fetched into the caches so many positions before it is wanted.
constexpr int64_t kAhead = 32;

template <int kWords>
struct Wide {
    uint64_t words[kWords];
};

template <typename T, typename Position>
void gather_as(const void* values, const Position* positions, int64_t count, void* out) noexcept {
    const auto* from = static_cast<const uint8_t*>(values);
    auto* to = static_cast<uint8_t*>(out);
    const auto copy = [&](int64_t i) {
        T value;  // files align wide values to 8 bytes only
        std::memcpy(&value, from + static_cast<size_t>(positions[i]) * sizeof(T), sizeof value);
        std::memcpy(to + static_cast<size_t>(i) * sizeof(T), &value, sizeof value);
    };
    int64_t i = 0;
    if constexpr (sizeof(Position) > 1)
        for (; i + kAhead < count; ++i) {
            __builtin_prefetch(from + static_cast<size_t>(positions[i + kAhead]) * sizeof(T));
            copy(i);
        }
    for (; i < count; ++i) copy(i);
}

template <typename Position>
void gather_by_width(const void* values, int width, const Position* positions, int64_t count,
                     void* out) noexcept {
    switch (width) {
        case 1:
            return gather_as<uint8_t>(values, positions, count, out);
        case 2:
            return gather_as<uint16_t>(values, positions, count, out);
        case 4:
            return gather_as<uint32_t>(values, positions, count, out);
        case 8:
            return gather_as<uint64_t>(values, positions, count, out);
        case 16:
            return gather_as<Wide<2>>(values, positions, count, out);
        default:
            return gather_as<Wide<4>>(values, positions, count, out);
    }
}

template <typename Position>
void gather_bits_at(const uint8_t* bits, const Position* positions, int64_t count,
                    uint8_t* out) noexcept {
    for (int64_t i = 0; i < count; i += 8) {
        const int64_t end = count - i < 8 ? count - i : 8;
        unsigned byte = 0;
        for (int64_t j = 0; j < end; ++j)
            byte |= static_cast<unsigned>(base::bit_at(bits, positions[i + j])) << j;
        out[i >> 3] = static_cast<uint8_t>(byte);
    }
}

}  // namespace

void gather_values(const void* values, int width, const uint8_t* positions, int64_t count,
                   void* out) noexcept {
    gather_by_width(values, width, positions, count, out);
}
void gather_values(const void* values, int width, const uint16_t* positions, int64_t count,
                   void* out) noexcept {
    gather_by_width(values, width, positions, count, out);
}
void gather_values(const void* values, int width, const uint32_t* positions, int64_t count,
                   void* out) noexcept {
    gather_by_width(values, width, positions, count, out);
}

void gather_bits(const uint8_t* bits, const uint16_t* positions, int64_t count,
                 uint8_t* out) noexcept {
    gather_bits_at(bits, positions, count, out);
}
void gather_bits(const uint8_t* bits, const uint32_t* positions, int64_t count,
                 uint8_t* out) noexcept {
    gather_bits_at(bits, positions, count, out);
}

}  // namespace loom::column
