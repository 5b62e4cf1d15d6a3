#pragma once
// File-name patterns with named parts, in the form that Arrow_Fdw users know.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "column/data_type.h"

namespace loom::io {

/// A pattern over file names: `?` is one character, `*` any number of characters, `${KEY}` one or
/// more characters that become the value of KEY, `@{KEY}` the same for decimal digits only.
class PathPattern {
  public:
    struct Key {
        std::string name;
        bool digits;  ///< @{KEY}
    };

    /// Parses `text`; raises kBadOption for an unclosed or empty key or a key that occurs twice.
    explicit PathPattern(std::string_view text);

    const std::vector<Key>& keys() const noexcept { return keys_; }

    /// Returns one value per key, in order, if `name` matches as a whole. Each part takes as few
    /// characters as a match allows, from the left.
    std::optional<std::vector<std::string>> match(std::string_view name) const;

  private:
    enum class Kind { kLiteral, kAny, kStar, kText, kDigits };
    struct Part {
        Kind kind;
        std::string literal;
    };
    bool match_from(size_t part, std::string_view rest, std::vector<std::string>& values,
                    int& budget) const;

    std::vector<Part> parts_;
    std::vector<Key> keys_;
};

}  // namespace loom::io
