#pragma once
// Where a match can begin: found without the automaton, many bytes at a time.

#include <cstdint>

#include "simd/text_search.h"

namespace loom::exec::regex {

class Automaton;

/// The three bytes that a match can begin with, if they are few enough to be worth looking for.
class PrefixFilter {
  public:
    PrefixFilter() = default;
    explicit PrefixFilter(const Automaton& automaton);

    bool useful() const noexcept { return useful_; }
    /// Whether texts in which find() finds nothing need not be looked at, whatever they end with.
    bool decides() const noexcept { return decides_; }
    /// Returns a place from which the automaton, idle, gives the same answer as from `from`, for a
    /// text that ends at `end`.
    const uint8_t* skip(const uint8_t* from, const uint8_t* end) const noexcept {
        if (end - from < 3) return from;
        const uint8_t* found = simd::find_triple(triples_, from, end);
        return found != nullptr ? found : end - 2;
    }
    /// Returns the first place where a match can begin, or null.
    const uint8_t* find(const uint8_t* from, const uint8_t* end) const noexcept {
        return simd::find_triple(triples_, from, end);
    }

  private:
    bool useful_ = false;
    bool decides_ = false;
    simd::ByteTriples triples_;
};

}  // namespace loom::exec::regex
