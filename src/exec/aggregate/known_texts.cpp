#include "exec/aggregate/known_texts.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bitmap.h"

namespace loom::exec {

namespace {

// Half or twice as much was no faster.
constexpr uint64_t kMostBytes = uint64_t{4} << 20;
// Rows between the fetch of a line and the look into it.
constexpr int64_t kAhead = 24;

struct alignas(64) Line {
    TextKey keys[2];
};

struct Numbers {
    uint32_t of[2];
};

}  // namespace

KnownTexts::KnownTexts(uint64_t bytes, base::MemoryBudget* budget)
    : lines_(budget), numbers_(budget) {
    const uint64_t size = std::bit_floor(std::clamp<uint64_t>(bytes, sizeof(Line), kMostBytes));
    const uint64_t count = size / sizeof(Line);
    lines_.resize(size);
    std::memset(lines_.data(), 0, size);
    numbers_.resize(count * sizeof(Numbers));
    std::memset(numbers_.data(), 0, count * sizeof(Numbers));
    mask_ = count - 1;
}

void KnownTexts::add(const column::BytesView& text, uint64_t hash, uint32_t number) {
    if (text.size > kLongest) return;
    Line& line = lines_.as<Line>()[hash & mask_];
    for (int i = 0; i < 2; ++i) {
        if (!equal_keys(line.keys[i], TextKey())) continue;
        line.keys[i] = text_key(text);
        numbers_.as<Numbers>()[hash & mask_].of[i] = number;
        return;
    }
}

void KnownTexts::find(const column::BytesView* texts, const uint8_t* validity,
                      const uint64_t* hashes, int64_t count, uint32_t* numbers) const {
    const auto* const lines = lines_.as<Line>();
    const auto* const known = numbers_.as<Numbers>();
    const auto fetch = [&](int64_t row) {
        __builtin_prefetch(lines + (hashes[row] & mask_));
        __builtin_prefetch(known + (hashes[row] & mask_));
    };
    for (int64_t i = 0; i < std::min(kAhead, count); ++i) fetch(i);
    for (int64_t i = 0; i < count; ++i) {
        if (i + kAhead < count) fetch(i + kAhead);
        numbers[i] = kNone;
        if (validity != nullptr && !base::bit_at(validity, i)) continue;
        if (texts[i].size > kLongest) continue;
        const TextKey key = text_key(texts[i]);
        const Line& line = lines[hashes[i] & mask_];
        const Numbers& both = known[hashes[i] & mask_];
        const uint32_t second = equal_keys(line.keys[1], key) ? both.of[1] : kNone;
        numbers[i] = equal_keys(line.keys[0], key) ? both.of[0] : second;
    }
}

}  // namespace loom::exec
