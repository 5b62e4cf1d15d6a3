// What range of keys a build side has, for statistics of the probe side.

#include <algorithm>
#include <bit>

#include "exec/join/join_table.h"
#include "exec/tasks.h"

namespace loom::exec {

namespace {

using column::Scalar;

// Bitmap words looked at: what lies beyond is one range.
constexpr uint64_t kMostWords = uint64_t{1} << 16;

struct Integers {
    int64_t low;
    int64_t high;
};

// Joins neighbours until at most `most` ranges are left, across the narrowest gaps first.
std::vector<Integers> widened(std::vector<Integers> ranges, size_t most) {
    if (ranges.size() <= most) return ranges;
    std::vector<uint64_t> gaps;
    for (size_t i = 1; i < ranges.size(); ++i)
        gaps.push_back(static_cast<uint64_t>(ranges[i].low) -
                       static_cast<uint64_t>(ranges[i - 1].high));
    std::nth_element(gaps.begin(), gaps.begin() + static_cast<ptrdiff_t>(most - 1), gaps.end(),
                     std::greater<>());
    const uint64_t kept = gaps[most - 1];  // gaps wider than this one part ranges
    std::vector<Integers> result = {ranges[0]};
    for (size_t i = 1; i < ranges.size(); ++i) {
        if (static_cast<uint64_t>(ranges[i].low) - static_cast<uint64_t>(ranges[i - 1].high) > kept)
            result.push_back(ranges[i]);
        else
            result.back().high = ranges[i].high;
    }
    return result;
}

// Runs of set bits.
std::vector<Integers> runs_of(const uint64_t* words, uint64_t bits, int64_t base) {
    std::vector<Integers> runs;
    for (uint64_t at = 0; at < bits;) {
        if (at % (64 * 4096) == 0) poll_thread();
        const uint64_t word = words[at / 64] >> (at % 64);
        if (word == 0) {
            at = (at / 64 + 1) * 64;
            continue;
        }
        at += static_cast<uint64_t>(std::countr_zero(word));
        const int64_t key = static_cast<int64_t>(static_cast<uint64_t>(base) + at);
        if (!runs.empty() && runs.back().high == key - 1)
            runs.back().high = key;
        else
            runs.push_back({key, key});
        ++at;
    }
    return runs;
}

int64_t integer_at(const Vector& keys, int64_t row, plan::Physical physical) {
    return physical == plan::Physical::kInt16   ? keys.as<int16_t>()[row]
           : physical == plan::Physical::kInt32 ? keys.as<int32_t>()[row]
                                                : keys.as<int64_t>()[row];
}

std::vector<Integers> ranges_of(std::vector<int64_t> keys) {
    std::sort(keys.begin(), keys.end());
    std::vector<Integers> ranges;
    for (const int64_t key : keys)
        if (ranges.empty() || ranges.back().high != key) ranges.push_back({key, key});
    return ranges;
}

}  // namespace

std::optional<std::vector<BuildKeyRange>> JoinTable::key_ranges(size_t most) const {
    if (keys_.size() != 1) return std::nullopt;
    const Vector& keys = key_views_[0];
    std::vector<BuildKeyRange> result;
    if (keys.type.id == plan::TypeId::kText) {
        if (rows_.length() > static_cast<int64_t>(most)) return std::nullopt;
        const VectorDictionary* dictionary = keys.form == Form::kCodes ? keys.dictionary : nullptr;
        const auto* texts =
            (dictionary != nullptr ? dictionary->values : keys).as<column::BytesView>();
        for (int64_t row = 0; row < rows_.length(); ++row) {
            if (keys.is_null(row)) continue;
            const column::BytesView text = texts[dictionary != nullptr ? keys.code(row) : row];
            const Scalar scalar = Scalar::of_bytes(std::string(text.text()));
            result.push_back({scalar, scalar});
        }
        std::sort(result.begin(), result.end(), [](const BuildKeyRange& a, const BuildKeyRange& b) {
            return column::compare(a.low, b.low) < 0;
        });
        return result;
    }
    if (!range_known_) return std::nullopt;
    std::vector<Integers> ranges;
    if (low_ <= high_) ranges.push_back({low_, high_});
    // A few keys are as good as a bitmap.
    constexpr int64_t kFew = 4096;
    if (rows_.length() <= kFew) {
        std::vector<int64_t> values;
        for (int64_t row = 0; row < rows_.length(); ++row)
            if (!keys.is_null(row)) values.push_back(integer_at(keys, row, physical_[0]));
        ranges = ranges_of(std::move(values));
    } else if (bitmap_ && range_ / 64 < kMostWords) {
        ranges = runs_of(bits_.as<uint64_t>(), range_, base_);
    }
    for (const Integers& range : widened(std::move(ranges), most))
        result.push_back({Scalar::of_int(range.low), Scalar::of_int(range.high)});
    return result;
}

}  // namespace loom::exec
