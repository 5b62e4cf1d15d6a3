#include "exec/aggregate/recent_texts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "exec/aggregate/text_key.h"

namespace loom::exec {

namespace {

// A worker's part of the last-level cache; twice as much was no faster, half of it was slower.
constexpr uint64_t kMostBytes = uint64_t{8} << 20;
// Rows between the fetch of a line and the look into it.
constexpr int64_t kAhead = 24;
/// What one look-up touches; what was met more than once comes first.
struct alignas(64) Line {
    TextKey keys[2];
};

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
            const TextKey key = text_key(texts[i]);
            Line& line = lines[hashes[i] & mask_];
            if (equal_keys(line.keys[0], key)) {
                known |= bit;
            } else if (equal_keys(line.keys[1], key)) {
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
