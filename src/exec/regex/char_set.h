#pragma once
// Sets of code points, of some of which only the locale can tell whether they are in.

#include <cstdint>
#include <vector>

namespace loom::exec::regex {

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;

struct CodeRange {
    uint32_t first = 0;
    uint32_t last = 0;
};

class CharSet {
  public:
    void add(uint32_t first, uint32_t last) { sure_.push_back({first, last}); }
    void add_unsure(uint32_t first, uint32_t last) { unsure_.push_back({first, last}); }
    void add(const CharSet& other);
    /// Adds the other case of ASCII letters.
    void add_other_case();
    void complement();
    /// Sorts the ranges and joins those that touch; what is sure is unsure no more.
    void normalise();

    /// After normalise(): ascending, apart from each other.
    const std::vector<CodeRange>& sure() const noexcept { return sure_; }
    const std::vector<CodeRange>& unsure() const noexcept { return unsure_; }

  private:
    std::vector<CodeRange> sure_;
    std::vector<CodeRange> unsure_;
};

}  // namespace loom::exec::regex
