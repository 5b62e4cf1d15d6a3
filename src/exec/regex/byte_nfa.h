#pragma once
// A pattern as a nondeterministic automaton over the bytes of UTF-8.

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/regex/syntax.h"

namespace loom::exec::regex {

struct ByteNfa {
    enum class Kind : uint8_t {
        kBytes,   ///< a byte from first to last leads to next
        kSplit,   ///< next and other
        kBegin,   ///< next, at the start of the text
        kEnd,     ///< next, at the end of the text
        kUnsure,  ///< whether the text matches depends on the locale
        kAccept
    };
    struct State {
        Kind kind = Kind::kAccept;
        uint8_t first = 0;
        uint8_t last = 0;
        int32_t next = -1;
        int32_t other = -1;
    };
    std::vector<State> states;
    int32_t start = 0;
};

/// Returns nothing if the automaton would be too large.
std::optional<ByteNfa> make_nfa(const Tree& tree);

}  // namespace loom::exec::regex
