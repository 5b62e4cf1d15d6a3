#pragma once
// The part of PostgreSQL's advanced regular expressions that the engine matches itself. Whether a
// text matches somewhere is all that is asked for, so greediness and captures mean nothing.

#include <optional>
#include <string_view>
#include <vector>

#include "exec/regex/char_set.h"

namespace loom::exec::regex {

enum class Case : uint8_t { kSensitive, kInsensitive };

/// Which locale decides what is a letter, a digit or a blank. The values travel in plans, as the
/// `index` of the constant pattern.
enum class Locale : int8_t {
    kUnknown = -1,
    kC = 0,       ///< ASCII only
    kProcess = 1  ///< that of the process, by the C library
};

struct Tree {
    enum class Kind : uint8_t {
        kSet,           ///< one character of `set`
        kSequence,      ///< all of `parts`; none is the empty text
        kAlternatives,  ///< one of `parts`
        kRepeat,        ///< parts[0] from `least` to `most` times
        kBegin,         ///< the start of the text
        kEnd            ///< the end of the text
    };
    Kind kind = Kind::kSequence;
    CharSet set;
    int least = 0;
    int most = 0;  ///< -1: without end
    std::vector<Tree> parts;
};

/// Parses a pattern that PostgreSQL takes, or returns nothing if it has what is left to PostgreSQL:
/// options, back references, conditions on what lies around, collating elements, word boundaries,
/// other than ASCII letters without case. A pattern that PostgreSQL refuses may pass.
std::optional<Tree> parse(std::string_view pattern, Case match_case, Locale locale);

}  // namespace loom::exec::regex
