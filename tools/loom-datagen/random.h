#pragma once
// Random numbers as a function of position: any thread can make any part of a table.

#include <cmath>
#include <cstdint>
#include <string_view>

namespace loom::datagen {

/// The finaliser of SplitMix64: a bijection that scatters consecutive numbers.
inline uint64_t scatter(uint64_t x) noexcept {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
}

/// A sequence of random numbers that is read at any position. Sequences with different keys are
/// independent. Plain data, thread safe.
class Sequence {
  public:
    /// Names the sequence `salt` of `table` under `seed`.
    Sequence(uint64_t seed, std::string_view table, uint64_t salt) noexcept {
        key_ = scatter(seed + kStep);
        for (char c : table) key_ = scatter(key_ ^ static_cast<uint8_t>(c));
        key_ = scatter(key_ + (salt + 1) * kStep);
    }

    uint64_t bits(uint64_t position) const noexcept {
        return scatter(key_ + (position + 1) * kStep);
    }
    /// Returns a number in [0, n).
    uint32_t below(uint64_t position, uint32_t n) const noexcept {
        return static_cast<uint32_t>((bits(position) >> 32) * n >> 32);
    }
    int32_t between(uint64_t position, int32_t low, int32_t high) const noexcept {
        return low + static_cast<int32_t>(below(position, static_cast<uint32_t>(high - low + 1)));
    }
    /// Returns a number in [0, n) for n beyond 32 bits.
    uint64_t below_wide(uint64_t position, uint64_t n) const noexcept {
        return static_cast<uint64_t>(static_cast<unsigned __int128>(bits(position)) * n >> 64);
    }
    /// Returns a number in [0, 1).
    double unit(uint64_t position) const noexcept {
        return static_cast<double>(bits(position) >> 11) * 0x1p-53;
    }
    /// Returns an exponentially distributed number.
    double exponential(uint64_t position, double mean) const noexcept {
        return -mean * std::log1p(-unit(position));
    }
    bool chance(uint64_t position, double probability) const noexcept {
        return unit(position) < probability;
    }

  private:
    static constexpr uint64_t kStep = 0x9e3779b97f4a7c15U;
    uint64_t key_;
};

}  // namespace loom::datagen
