#include "exec/expr/member_set.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "column/column_view.h"
#include "simd/mask.h"

namespace loom::exec {

namespace {

// Bits of a bitmap that stays in the first-level cache.
constexpr uint64_t kMaxBitmap = 1U << 16;

uint64_t mix(uint64_t value) noexcept {
    value *= 0x9E3779B97F4A7C15ULL;
    return value ^ (value >> 32);
}

uint64_t hash(std::string_view text) noexcept {
    uint64_t state = text.size();
    size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        state = mix(state ^ word) + 0x632BE59BD9B4E019ULL;
    }
    uint64_t rest = 0;
    if (i < text.size()) std::memcpy(&rest, text.data() + i, text.size() - i);
    return mix(state ^ rest);
}

template <typename T, typename Test>
void fill(const T* values, int64_t rows, uint64_t* mask, Test test) noexcept {
    for (int64_t i = 0; i < rows; i += 64) {
        const int64_t end = std::min<int64_t>(rows - i, 64);
        uint64_t word = 0;
        for (int64_t j = 0; j < end; ++j) word |= static_cast<uint64_t>(test(values[i + j])) << j;
        mask[i >> 6] = word;
    }
}

}  // namespace

void MemberSet::set_integers(std::vector<int64_t> values) {
    if (values.empty()) return;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const uint64_t span = static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low);
    if (span < kMaxBitmap) {
        base_ = *low;
        size_ = static_cast<uint32_t>(span + 1);
        bitmap_.assign(static_cast<size_t>(simd::mask_words(size_)), 0);
        for (int64_t value : values) {
            const auto at = static_cast<uint64_t>(value) - static_cast<uint64_t>(base_);
            bitmap_[at >> 6] |= uint64_t{1} << (at & 63);
        }
        return;
    }
    const size_t slots = std::bit_ceil(values.size() * 2);
    integers_.assign(slots, 0);
    integer_used_.assign(slots, 0);
    for (int64_t value : values) {
        size_t at = mix(static_cast<uint64_t>(value)) & (slots - 1);
        while (integer_used_[at] != 0 && integers_[at] != value) at = (at + 1) & (slots - 1);
        integers_[at] = value;
        integer_used_[at] = 1;
    }
}

void MemberSet::set_strings(std::vector<std::string> values) {
    strings_ = std::move(values);
    if (strings_.empty()) return;
    const size_t slots = std::bit_ceil(strings_.size() * 2);
    string_slots_.assign(slots, 0);
    for (size_t i = 0; i < strings_.size(); ++i) {
        size_t at = hash(strings_[i]) & (slots - 1);
        while (string_slots_[at] != 0 && strings_[string_slots_[at] - 1] != strings_[i])
            at = (at + 1) & (slots - 1);
        string_slots_[at] = static_cast<uint32_t>(i + 1);
    }
}

bool MemberSet::contains(int64_t value) const noexcept {
    if (!bitmap_.empty()) {
        const auto at = static_cast<uint64_t>(value) - static_cast<uint64_t>(base_);
        return at < size_ && (bitmap_[at >> 6] >> (at & 63) & 1) != 0;
    }
    if (integers_.empty()) return false;
    size_t at = mix(static_cast<uint64_t>(value)) & (integers_.size() - 1);
    for (; integer_used_[at] != 0; at = (at + 1) & (integers_.size() - 1))
        if (integers_[at] == value) return true;
    return false;
}

bool MemberSet::contains(std::string_view value) const noexcept {
    if (string_slots_.empty()) return false;
    size_t at = hash(value) & (string_slots_.size() - 1);
    for (; string_slots_[at] != 0; at = (at + 1) & (string_slots_.size() - 1))
        if (strings_[string_slots_[at] - 1] == value) return true;
    return false;
}

void MemberSet::strings_to_mask(const column::BytesView* values, int64_t rows,
                                const uint64_t* known, uint64_t* mask) const noexcept {
    for (int64_t w = 0; w < simd::mask_words(rows); ++w) {
        uint64_t word = 0;
        for (uint64_t left = known[w]; left != 0; left &= left - 1) {
            const int bit = std::countr_zero(left);
            word |= static_cast<uint64_t>(contains(values[w * 64 + bit].text())) << bit;
        }
        mask[w] = word;
    }
}

void MemberSet::to_mask(plan::Physical physical, const void* values, int64_t rows,
                        const uint64_t* known, uint64_t* mask) const noexcept {
    const auto integers = [&](const auto* typed) {
        if (!bitmap_.empty())
            simd::members_to_mask(typed, rows, base_, bitmap_.data(), size_, mask);
        else
            fill(typed, rows, mask,
                 [this](auto value) { return contains(static_cast<int64_t>(value)); });
    };
    switch (physical) {
        case plan::Physical::kInt16:
            return integers(static_cast<const int16_t*>(values));
        case plan::Physical::kInt32:
            return integers(static_cast<const int32_t*>(values));
        case plan::Physical::kInt64:
            return integers(static_cast<const int64_t*>(values));
        default:
            return strings_to_mask(static_cast<const column::BytesView*>(values), rows, known,
                                   mask);
    }
}

}  // namespace loom::exec
