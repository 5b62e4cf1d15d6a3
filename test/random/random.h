#pragma once
// Random choices that are the same on every machine: the standard's distributions are not.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

namespace loom::test {

/// A source of random choices. One seed gives one sequence.
class Random {
  public:
    explicit Random(uint64_t seed) : engine_(seed) {}

    /// Returns a number from 0 to `limit` - 1.
    uint64_t below(uint64_t limit) { return engine_() % limit; }
    /// Returns a number from `low` to `high`.
    int between(int low, int high) {
        return low + static_cast<int>(below(static_cast<uint64_t>(high - low) + 1));
    }
    /// Returns true in `percent` of 100 calls.
    bool chance(int percent) { return below(100) < static_cast<uint64_t>(percent); }

    template <typename T>
    const T& pick(const std::vector<T>& values) {
        return values[below(values.size())];
    }
    template <typename T>
    T pick(std::initializer_list<T> values) {
        return *(values.begin() + below(values.size()));
    }
    template <typename T>
    void shuffle(std::vector<T>& values) {
        for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

  private:
    std::mt19937_64 engine_;
};

}  // namespace loom::test
