#include "exec/expr/like_pattern.h"

#include <cstring>

#include "sql/like.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace loom::exec {

namespace {

// Finds a piece of at least one byte: candidates are places where its first and last byte stand,
// sixteen at a time. Only bytes of the text are read.
const uint8_t* find(const uint8_t* from, const uint8_t* end, const std::string& piece) noexcept {
    const auto size = static_cast<int64_t>(piece.size());
    const int64_t places = end - from - size + 1;
    if (places <= 0) return nullptr;
    int64_t at = 0;
#if defined(__x86_64__)
    const __m128i first = _mm_set1_epi8(piece.front());
    const __m128i last = _mm_set1_epi8(piece.back());
    const auto candidates = [&](int64_t i) {
        const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + size - 1));
        return static_cast<unsigned>(
            _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last))));
    };
    while (places >= 16 && at < places) {
        // The last step overlaps the one before it.
        if (at + 16 > places) at = places - 16;
        for (unsigned left = candidates(at); left != 0; left &= left - 1) {
            const uint8_t* place = from + at + __builtin_ctz(left);
            if (size <= 2 ||
                std::memcmp(place + 1, piece.data() + 1, static_cast<size_t>(size - 2)) == 0)
                return place;
        }
        at += 16;
    }
#endif
    for (; at < places; ++at)
        if (from[at] == static_cast<uint8_t>(piece.front()) &&
            std::memcmp(from + at, piece.data(), piece.size()) == 0)
            return from + at;
    return nullptr;
}

bool equal(const uint8_t* at, const std::string& piece) noexcept {
    return piece.empty() || std::memcmp(at, piece.data(), piece.size()) == 0;
}

}  // namespace

LikePattern::LikePattern(std::string_view pattern) : pattern_(pattern) {
    std::string piece;
    bool last_open = false;
    for (size_t i = 0; i < pattern.size(); ++i) {
        last_open = false;
        if (pattern[i] == '\\') {
            if (++i == pattern.size()) {
                valid_ = false;
                return;
            }
            piece += pattern[i];
        } else if (pattern[i] == '_') {
            simple_ = false;
        } else if (pattern[i] == '%') {
            if (pieces_.empty() && piece.empty()) {
                open_start_ = true;
            } else if (!piece.empty()) {
                pieces_.push_back(std::move(piece));
                piece.clear();
            }
            last_open = true;
        } else {
            piece += pattern[i];
        }
    }
    open_end_ = last_open;
    if (!piece.empty()) pieces_.push_back(std::move(piece));
}

bool LikePattern::matches(sql::Bytes text) const noexcept {
    if (simple_) return matches_pieces(text);
    sql::Fault fault;
    return sql::like(
        text,
        {reinterpret_cast<const uint8_t*>(pattern_.data()), static_cast<int64_t>(pattern_.size())},
        fault);
}

bool LikePattern::matches_from(const uint8_t* place, const uint8_t* end) const noexcept {
    const uint8_t* from = place;
    size_t last = pieces_.size();
    if (!open_end_) {
        const auto size = static_cast<int64_t>(pieces_.back().size());
        if (end - from < size || !equal(end - size, pieces_.back())) return false;
        end -= size;
        --last;
    }
    for (size_t i = 0; i < last; ++i) {
        from = i == 0 ? place : find(from, end, pieces_[i]);
        if (from == nullptr || end - from < static_cast<int64_t>(pieces_[i].size())) return false;
        from += pieces_[i].size();
    }
    return true;
}

// The first and the last piece are tied to the ends unless a % stands there; those between are each
// found at the first place behind the one before.
bool LikePattern::matches_pieces(sql::Bytes text) const noexcept {
    const uint8_t* from = text.data;
    const uint8_t* end = from + text.size;
    if (pieces_.empty()) return open_start_ || text.size == 0;
    size_t first = 0;
    size_t last = pieces_.size();
    if (!open_start_ && !open_end_ && pieces_.size() == 1)
        return text.size == static_cast<int64_t>(pieces_[0].size()) && equal(from, pieces_[0]);
    if (!open_start_) {
        const auto size = static_cast<int64_t>(pieces_[0].size());
        if (end - from < size || !equal(from, pieces_[0])) return false;
        from += size;
        first = 1;
    }
    if (!open_end_) {
        const auto size = static_cast<int64_t>(pieces_.back().size());
        if (end - from < size || !equal(end - size, pieces_.back())) return false;
        end -= size;
        --last;
    }
    for (; first < last; ++first) {
        from = find(from, end, pieces_[first]);
        if (from == nullptr) return false;
        from += pieces_[first].size();
    }
    return true;
}

}  // namespace loom::exec
