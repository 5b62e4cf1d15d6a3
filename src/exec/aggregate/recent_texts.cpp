#include "exec/aggregate/recent_texts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "exec/hash.h"

namespace loom::exec {

namespace {

// A worker's part of the last-level cache; twice as much was no faster, half of it was slower.
constexpr uint64_t kMostBytes = uint64_t{8} << 20;
// Rows between the fetch of a line and the look into it.
constexpr int64_t kAhead = 24;
// Says that a key has the form of InlineBytes; longer texts have their length in its place.
constexpr uint64_t kInline = 1;

/// A text and its length. Zeros are none.
struct Key {
    uint64_t words[4];
};

/// What one look-up touches; what was met more than once comes first.
struct alignas(64) Line {
    Key keys[2];
};

uint64_t load(const uint8_t* from) {
    uint64_t word;
    std::memcpy(&word, from, sizeof word);
    return word;
}

// Of more than 15 bytes the first 16 and the last 16, whose first byte is one of those before: the
// length takes its place.
Key key_of(const column::BytesView& text) {
    static_assert(RecentTexts::kLongest == 2 * kMaxInlineBytes + 1);
    if (text.size <= kMaxInlineBytes) {
        const InlineBytes bytes = inline_bytes(text.data, text.size);
        return {{bytes.low, bytes.high, kInline, 0}};
    }
    const uint8_t* end = text.data + text.size;
    const uint64_t third = (load(end - 16) & ~uint64_t{0xff}) | static_cast<uint64_t>(text.size);
    return {{load(text.data), load(text.data + 8), third, load(end - 8)}};
}

bool equal(const Key& a, const Key& b) {
    return ((a.words[0] ^ b.words[0]) | (a.words[1] ^ b.words[1]) | (a.words[2] ^ b.words[2]) |
            (a.words[3] ^ b.words[3])) == 0;
}

}  // namespace

RecentTexts::RecentTexts(uint64_t bytes, base::MemoryBudget* budget) : lines_(budget) {
    const uint64_t size = std::bit_floor(std::clamp<uint64_t>(bytes, sizeof(Line), kMostBytes));
    lines_.resize(size);
    std::memset(lines_.data(), 0, size);
    mask_ = size / sizeof(Line) - 1;
}

bool RecentTexts::drop_known(const column::BytesView* texts, const uint64_t* hashes, int64_t count,
                             uint64_t* rows, uint64_t* longer) {
    auto* const lines = lines_.as<Line>();
    const auto fetch = [&](int64_t row) { __builtin_prefetch(lines + (hashes[row] & mask_), 1); };
    for (int64_t i = 0; i < std::min(kAhead, count); ++i) fetch(i);
    uint64_t any_longer = 0;
    for (int64_t begin = 0; begin < count; begin += 64) {
        const int64_t end = std::min(begin + 64, count);
        uint64_t known = 0;
        uint64_t long_ones = 0;
        const uint64_t wanted = rows[begin >> 6];
        for (int64_t i = begin; i < end; ++i) {
            if (i + kAhead < count) fetch(i + kAhead);
            const uint64_t bit = uint64_t{1} << (i & 63);
            if ((wanted & bit) == 0) continue;
            if (texts[i].size > kLongest) {
                long_ones |= bit;
                continue;
            }
            const Key key = key_of(texts[i]);
            Line& line = lines[hashes[i] & mask_];
            if (equal(line.keys[0], key)) {
                known |= bit;
            } else if (equal(line.keys[1], key)) {
                known |= bit;
                std::swap(line.keys[0], line.keys[1]);
            } else {
                line.keys[1] = key;
            }
        }
        rows[begin >> 6] = wanted & ~(known | long_ones);
        longer[begin >> 6] = long_ones;
        any_longer |= long_ones;
    }
    return any_longer != 0;
}

}  // namespace loom::exec
