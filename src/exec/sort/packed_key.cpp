#include "exec/sort/packed_key.h"

#include <algorithm>
#include <bit>
#include <string_view>

#include "exec/row_store.h"
#include "exec/sort/order_words.h"

namespace loom::exec {

namespace {

bool is_text(plan::Type type) {
    return plan::physical(type) == plan::Physical::kBytes;
}

// Shortens `common` to what `text` begins with, too.
void keep_common(std::string& common, std::string_view text) {
    size_t same = 0;
    while (same < common.size() && same < text.size() && common[same] == text[same]) ++same;
    common.resize(same);
}

}  // namespace

void KeyRange::merge(const KeyRange& other) {
    lowest = std::min(lowest, other.lowest);
    highest = std::max(highest, other.highest);
    nulls = nulls || other.nulls;
    longest = std::max(longest, other.longest);
    if (!any)
        common = other.common;
    else if (other.any)
        keep_common(common, other.common);
    any = any || other.any;
}

const uint64_t* KeyWords::compute(const Vector& rows, int64_t skip) {
    plain_ = to_plain(rows, values_, validity_);
    order_words(plain_, plain_.length, words_, skip);
    return words_;
}

void KeyWords::widen(const Vector& rows, KeyRange& range) {
    if (is_text(rows.type)) {
        plain_ = to_plain(rows, values_, validity_);
        return widen_texts(range);
    }
    compute(rows);
    const int64_t count = plain_.length;
    if (plain_.validity == nullptr) {
        for (int64_t i = 0; i < count; ++i) {
            range.lowest = std::min(range.lowest, words_[i]);
            range.highest = std::max(range.highest, words_[i]);
        }
        range.any = range.any || count > 0;
        return;
    }
    for (int64_t i = 0; i < count; ++i) {
        if (!base::bit_at(plain_.validity, i)) {
            range.nulls = true;
            continue;
        }
        range.any = true;
        range.lowest = std::min(range.lowest, words_[i]);
        range.highest = std::max(range.highest, words_[i]);
    }
}

void KeyWords::widen_texts(KeyRange& range) const {
    const auto* texts = plain_.as<column::BytesView>();
    for (int64_t i = 0; i < plain_.length; ++i) {
        if (plain_.is_null(i)) {
            range.nulls = true;
            continue;
        }
        const std::string_view text = texts[i].text();
        range.longest = std::max(range.longest, texts[i].size);
        if (!range.any)
            range.common = text.substr(0, 256);
        else if (!text.starts_with(range.common))
            keep_common(range.common, text);
        range.any = true;
    }
}

PackedKey::PackedKey(const std::vector<plan::Type>& types, const std::vector<plan::SortKey>& keys,
                     const std::vector<KeyRange>& ranges) {
    for (size_t k = 0; k < keys.size(); ++k, ++first_open_) {
        const plan::Type type = types[static_cast<size_t>(keys[k].column)];
        Part part;
        part.column = keys[k].column;
        part.descending = keys[k].descending;
        part.nulls_first = keys[k].nulls_first;
        part.nulls = ranges[k].nulls;
        part.range = ranges[k];
        part.skip = static_cast<int64_t>(ranges[k].common.size());
        const int left = 64 - bits_ - (part.nulls ? 1 : 0);
        if (left <= 0) return;
        // A key that has no values decides nothing, and leaves nothing open.
        bool decided = !ranges[k].any;
        if (decided) {
            part.range.lowest = part.range.highest = 0;
        } else if (is_text(type)) {
            // Texts hold no zero bytes, so that those behind the end tell a shorter one.
            const int64_t bytes = std::min<int64_t>(ranges[k].longest - part.skip, 8);
            part.range.lowest = 0;
            part.range.highest = UINT64_MAX;
            part.width = std::min(static_cast<int>(8 * bytes), left);
            part.cut = 64 - part.width;
            decided = type.id == plan::TypeId::kText && part.width == 8 * bytes &&
                      ranges[k].longest - part.skip <= 8;
        } else {
            const int needed = std::bit_width(part.range.highest - part.range.lowest);
            part.width = std::min(needed, left);
            part.cut = needed - part.width;
            decided = part.cut == 0 && part.range.lowest > 0 && part.range.highest < UINT64_MAX &&
                      !words_are_prefixes(plan::physical(type));
        }
        bits_ += part.width + (part.nulls ? 1 : 0);
        parts_.push_back(part);
        if (!decided) return;
    }
}

int PackedKey::bits(size_t keys) const noexcept {
    int bits = 0;
    for (size_t i = 0; i < std::min(keys, parts_.size()); ++i)
        bits += parts_[i].width + (parts_[i].nulls ? 1 : 0);
    return bits;
}

void PackedKey::pack(std::span<const Vector> columns, int64_t count, KeyWords& words,
                     uint64_t* packed) const {
    std::fill_n(packed, count, 0);
    for (const Part& part : parts_) {
        const uint64_t* values =
            words.compute(columns[static_cast<size_t>(part.column)], part.skip);
        const uint8_t* validity = words.validity();
        const int shift = part.width + (part.nulls ? 1 : 0);
        const auto place = [&](uint64_t value) {
            const uint64_t offset =
                part.descending ? part.range.highest - value : value - part.range.lowest;
            return part.cut == 64 ? 0 : offset >> part.cut;
        };
        const auto push = [shift](uint64_t above, uint64_t low) {
            return (shift == 64 ? 0 : above << shift) | low;
        };
        if (!part.nulls) {
            for (int64_t i = 0; i < count; ++i) packed[i] = push(packed[i], place(values[i]));
            continue;
        }
        const uint64_t mark = uint64_t{1} << part.width;
        for (int64_t i = 0; i < count; ++i) {
            const bool null = validity != nullptr && !base::bit_at(validity, i);
            const uint64_t value = null ? 0 : place(values[i]);
            packed[i] = push(packed[i], value | (null != part.nulls_first ? mark : 0));
        }
    }
}

}  // namespace loom::exec
