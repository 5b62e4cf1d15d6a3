#pragma once
// A LIKE pattern that is known beforehand, cut at its % into pieces.

#include <string>
#include <string_view>
#include <vector>

#include "sql/definition.h"

namespace loom::exec {

class LikePattern {
  public:
    explicit LikePattern(std::string_view pattern);

    /// False for a pattern that ends in its escape: sql::like() says when that is an error.
    bool valid() const noexcept { return valid_; }
    bool matches(sql::Bytes text) const noexcept;

  private:
    bool matches_pieces(sql::Bytes text) const noexcept;

    std::string pattern_;
    bool valid_ = true;
    bool simple_ = true;  // no _: literal pieces
    bool open_start_ = false;
    bool open_end_ = false;
    std::vector<std::string> pieces_;
};

}  // namespace loom::exec
