#pragma once
// A LIKE pattern that is known beforehand, cut at its % into pieces.

#include <string>
#include <string_view>
#include <vector>

#include "exec/text_run.h"
#include "simd/text_search.h"
#include "sql/definition.h"

namespace loom::exec {

class LikePattern {
  public:
    explicit LikePattern(std::string_view pattern);

    /// False for a pattern that ends in its escape: sql::like() says when that is an error.
    bool valid() const noexcept { return valid_; }
    bool matches(sql::Bytes text) const noexcept;
    /// Whether match_all() may be asked: the pattern begins with % and a literal piece.
    bool searches() const noexcept { return simple_ && open_start_ && !pieces_.empty(); }
    /// Asks many texts at once: calls yes(row) for each that matches.
    template <typename Yes>
    void match_all(const TextRows& rows, const Yes& yes) const;

  private:
    /// Whether a text matches whose first piece is found at `place` first.
    bool matches_from(const uint8_t* place, const uint8_t* end) const noexcept;
    bool matches_pieces(sql::Bytes text) const noexcept;

    std::string pattern_;
    bool valid_ = true;
    bool simple_ = true;  // no _: literal pieces
    bool open_start_ = false;
    bool open_end_ = false;
    std::vector<std::string> pieces_;
};

template <typename Yes>
void LikePattern::match_all(const TextRows& rows, const Yes& yes) const {
    const std::string& piece = pieces_[0];
    const auto size = static_cast<int64_t>(piece.size());
    const auto* bytes = reinterpret_cast<const uint8_t*>(piece.data());
    search_texts(
        rows,
        [&](const uint8_t* from, const uint8_t* end) {
            return simd::find_piece(from, end, bytes, size);
        },
        [&](int64_t i, const uint8_t* place) {
            const uint8_t* const end = rows.end(i);
            // It may reach into what lies behind the text.
            if (place + size <= end && matches_from(place, end)) yes(i);
            return end;
        },
        [&](int64_t i) {
            if (matches(rows.texts[i])) yes(i);
        });
}

}  // namespace loom::exec
