#include "format/parquet/write/leaf_buffer.h"

#include <algorithm>
#include <bit>

namespace loom::parquet::write {

using column::BytesView;
using column::ColumnView;
using column::kBatchRows;

namespace {

constexpr uint32_t kUnmapped = 0xffffffff;
// Values after which a dictionary of nearly as many entries is given up.
constexpr int64_t kFirstTrial = kBatchRows;
constexpr int64_t kSecondTrial = 4 * kBatchRows;

bool repeats_too_little(int64_t values, int64_t entries) {
    return (values >= kFirstTrial && entries > values / 16 * 15) ||
           (values >= kSecondTrial && entries > values / 4 * 3);
}

bool is_present(const ColumnView& view, int64_t row) {
    if (view.is_null(row)) return false;
    return view.dictionary == nullptr || !view.dictionary->values.is_null(view.code(row));
}

bool may_have_nulls(const ColumnView& view) {
    if (view.validity != nullptr && view.null_count != 0) return true;
    return view.dictionary != nullptr && view.dictionary->values.validity != nullptr;
}

}  // namespace

LeafBuffer::LeafBuffer(const Leaf& leaf, int64_t dictionary_limit)
    : leaf_(leaf),
      dictionary_limit_(leaf.physical == PhysicalType::kBoolean ? 0 : dictionary_limit),
      coding_(dictionary_limit_ != 0),
      builder_(leaf.width),
      values_(leaf.width) {}

void LeafBuffer::clear() {
    level_count_ = 0;
    definitions_.clear();
    repetitions_.clear();
    coding_ = dictionary_limit_ != 0;
    builder_.clear();
    codes_.clear();
    values_.clear();
    mapped_version_ = 0;
}

void LeafBuffer::add_full_levels(int64_t count) {
    level_count_ += count;
    if (!definitions_.empty()) definitions_.resize(level_count_, leaf_.max_definition);
}

void LeafBuffer::add_level(uint8_t definition) {
    if (definition == leaf_.max_definition) return add_full_levels(1);
    if (definitions_.empty()) definitions_.assign(level_count_, leaf_.max_definition);
    definitions_.push_back(definition);
    ++level_count_;
}

void LeafBuffer::append_rows(const ColumnView& view, int64_t begin, int64_t count) {
    const bool nulls = view.type->id == column::TypeId::kNull || may_have_nulls(view);
    for (const int64_t end = begin + count; begin < end; begin += kBatchRows) {
        const int64_t batch = std::min(end - begin, kBatchRows);
        if (!nulls) {
            add_full_levels(batch);
            add_values(view, {nullptr, begin, batch});
            continue;
        }
        rows_.clear();
        for (int64_t row = begin; row < begin + batch; ++row) {
            if (view.type->id != column::TypeId::kNull && is_present(view, row)) {
                rows_.push_back(row);
                add_full_levels(1);
            } else if (leaf_.max_definition == 0) {
                base::raise(base::ErrorKind::kTypeMismatch, "a NULL in a column without NULLs");
            } else {
                add_level(0);
            }
        }
        add_values(view, {rows_.data(), 0, static_cast<int64_t>(rows_.size())});
    }
}

void LeafBuffer::append_slots(const ColumnView& view, std::span<const Slot> slots) {
    for (size_t begin = 0; begin < slots.size(); begin += kBatchRows) {
        rows_.clear();
        for (const Slot& slot :
             slots.subspan(begin, std::min<size_t>(kBatchRows, slots.size() - begin))) {
            add_level(slot.definition);
            if (leaf_.max_repetition != 0) repetitions_.push_back(slot.repetition);
            if (slot.row >= 0) rows_.push_back(slot.row);
        }
        add_values(view, {rows_.data(), 0, static_cast<int64_t>(rows_.size())});
    }
}

void LeafBuffer::add_values(const ColumnView& view, const RowPick& pick) {
    if (pick.count == 0) return;
    if (view.encoding == column::Encoding::kDictionary)
        add_coded(view, pick);
    else
        add_plain(view, pick);
    if (coding_) give_up_if_useless();
}

void LeafBuffer::encode(const base::Buffer& converted, int64_t count, uint32_t* codes) {
    if (leaf_.width == 4 || leaf_.width == 8)
        return builder_.encode_fixed(converted.data(), count, codes);
    if (leaf_.width == 0) return builder_.encode_bytes(converted.as<BytesView>(), count, codes);
    for (int64_t i = 0; i < count; ++i) {
        const BytesView value{converted.data() + i * leaf_.width, leaf_.width};
        builder_.encode_bytes(&value, 1, codes + i);
    }
}

void LeafBuffer::store(const base::Buffer& converted, int64_t count) {
    if (leaf_.width == 0)
        values_.append_many(converted.as<BytesView>(), count);
    else
        values_.append_fixed(converted.data(), count);
}

void LeafBuffer::add_plain(const ColumnView& view, const RowPick& pick) {
    convert_values(leaf_, view, pick, scratch_);
    if (!coding_) return store(scratch_, pick.count);
    const size_t old = codes_.size();
    codes_.resize(old + pick.count);
    encode(scratch_, pick.count, codes_.data() + old);
}

// Translates the source's codes; a source value is looked at once per row group.
void LeafBuffer::add_coded(const ColumnView& view, const RowPick& pick) {
    const column::Dictionary& source = *view.dictionary;
    auto row_at = [&](int64_t i) { return pick.rows == nullptr ? pick.begin + i : pick.rows[i]; };
    if (!coding_) {
        entry_rows_.resize(pick.count);
        for (int64_t i = 0; i < pick.count; ++i) entry_rows_[i] = view.code(row_at(i));
        return add_plain(source.values, {entry_rows_.data(), 0, pick.count});
    }
    if (mapped_version_ != source.version || mapped_version_ == 0) {
        map_.assign(source.values.length, kUnmapped);
        mapped_version_ = source.version;
    }
    const size_t old = codes_.size();
    codes_.resize(old + pick.count);
    uint32_t* to = codes_.data() + old;
    for (int64_t i = 0; i < pick.count; ++i) {
        const uint32_t code = view.code(row_at(i));
        to[i] = map_[code] != kUnmapped ? map_[code] : map_entry(source.values, code);
    }
}

uint32_t LeafBuffer::map_entry(const ColumnView& entries, uint32_t code) {
    convert_values(leaf_, entries, {nullptr, code, 1}, scratch_);
    encode(scratch_, 1, &map_[code]);
    return map_[code];
}

void LeafBuffer::give_up_if_useless() {
    const ValueStore& entries = builder_.entries();
    const auto values = static_cast<int64_t>(codes_.size());
    const int64_t bytes = entries.byte_size() + (leaf_.width == 0 ? 4 * entries.size() : 0);
    if (bytes > dictionary_limit_ || repeats_too_little(values, entries.size()))
        abandon_dictionary();
}

void LeafBuffer::finish() {
    if (!coding_) return;
    const ValueStore& entries = builder_.entries();
    const int64_t prefix = leaf_.width == 0 ? 4 : 0;
    int64_t plain = prefix * static_cast<int64_t>(codes_.size());
    if (leaf_.width != 0)
        plain += leaf_.width * static_cast<int64_t>(codes_.size());
    else
        for (uint32_t code : codes_) plain += static_cast<int64_t>(entries.bytes(code).size());
    const int code_bits =
        entries.size() <= 1 ? 1 : std::bit_width(static_cast<uint64_t>(entries.size() - 1));
    const int64_t coded = entries.byte_size() + prefix * entries.size() +
                          static_cast<int64_t>(codes_.size()) * code_bits / 8;
    if (codes_.empty() || coded > plain / 3 * 2) abandon_dictionary();
}

void LeafBuffer::abandon_dictionary() {
    values_.append_decoded(builder_.entries(), codes_);
    codes_.clear();
    builder_.clear();
    mapped_version_ = 0;
    coding_ = false;
}

}  // namespace loom::parquet::write
