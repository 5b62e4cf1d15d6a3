#include "format/parquet/stats/xxhash64.h"

#include <bit>

namespace loom::parquet {

namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87U;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9U;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63U;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5U;

uint64_t mix_lane(uint64_t accumulator, uint64_t lane) noexcept {
    return std::rotl(accumulator + lane * kPrime2, 31) * kPrime1;
}

uint64_t merge(uint64_t hash, uint64_t accumulator) noexcept {
    return (hash ^ mix_lane(0, accumulator)) * kPrime1 + kPrime4;
}

// Takes whole stripes of 32 bytes off `bytes`.
uint64_t hash_stripes(base::ByteSpan& bytes) noexcept {
    uint64_t lanes[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
    while (bytes.size() >= 32) {
        for (size_t i = 0; i < 4; ++i)
            lanes[i] = mix_lane(lanes[i], base::load<uint64_t>(bytes.data() + 8 * i));
        bytes = bytes.subspan(32);
    }
    uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
                    std::rotl(lanes[3], 18);
    for (const uint64_t lane : lanes) hash = merge(hash, lane);
    return hash;
}

}  // namespace

uint64_t xxhash64(base::ByteSpan bytes) noexcept {
    const uint64_t length = bytes.size();
    uint64_t hash = bytes.size() >= 32 ? hash_stripes(bytes) : kPrime5;
    hash += length;
    for (; bytes.size() >= 8; bytes = bytes.subspan(8))
        hash = std::rotl(hash ^ mix_lane(0, base::load<uint64_t>(bytes.data())), 27) * kPrime1 +
               kPrime4;
    if (bytes.size() >= 4) {
        hash =
            std::rotl(hash ^ base::load<uint32_t>(bytes.data()) * kPrime1, 23) * kPrime2 + kPrime3;
        bytes = bytes.subspan(4);
    }
    for (const uint8_t byte : bytes) hash = std::rotl(hash ^ byte * kPrime5, 11) * kPrime1;
    hash = (hash ^ hash >> 33) * kPrime2;
    hash = (hash ^ hash >> 29) * kPrime3;
    return hash ^ hash >> 32;
}

}  // namespace loom::parquet
