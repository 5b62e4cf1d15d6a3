#include "exec/join/join_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/fault.h"
#include "exec/key.h"
#include "exec/mask.h"
#include "exec/tasks.h"

namespace loom::exec {

namespace {

// An array by key costs 4 bytes a value of the range: worth it where the range is a small multiple
// of the rows, or small anyway.
constexpr uint64_t kDenseFactor = 32;
constexpr uint64_t kSmallRange = 1 << 16;
// A bitmap costs an eighth of a byte. One that fits the second-level cache is tested several times
// as fast as a hash table, however few the rows (SSB Q2.3 at scale 10, 798 keys in 800,000: 72
// instead of 122 ms for the fact table's pipeline, two Zen 4 cores, 2026-12-01).
constexpr uint64_t kBitmapFactor = 128;
constexpr uint64_t kBitmapRange = 1 << 23;
// Rows entered between two looks at the stop token: some milliseconds.
constexpr int64_t kRowsPerPoll = 1 << 15;

// Entries of a hash table.
uint64_t table_size(uint64_t rows) {
    return std::bit_ceil(std::max<uint64_t>(rows * 2, 64));
}

template <typename T>
bool key_range(const Vector& keys, int64_t* low, int64_t* high) {
    const T* values = keys.as<T>();
    bool any = false;
    for (int64_t i = 0; i < keys.length; ++i) {
        if (i % kRowsPerPoll == 0) poll_thread();
        if (keys.is_null(i)) continue;
        const int64_t value = values[i];
        *low = any ? std::min(*low, value) : value;
        *high = any ? std::max(*high, value) : value;
        any = true;
    }
    return any;
}

}  // namespace

JoinTable::JoinTable(RowStore rows, std::vector<int> keys, const std::function<void()>& poll,
                     uint64_t room, base::MemoryBudget* budget)
    : budget_(budget),
      room_(room),
      rows_(std::move(rows)),
      keys_(std::move(keys)),
      bits_(budget),
      first_(budget),
      next_(budget),
      entries_(budget) {
    if (rows_.length() > INT32_MAX)
        throw Unrepresentable("the build side of a join has more than 2,147,483,647 rows");
    for (const int key : keys_) {
        const StoredColumn& column = rows_.column(key);
        physical_.push_back(physical(column.type()));
        key_views_.push_back(column.view());
        null_key_ |= column.has_nulls();
    }
    if (keys_.empty()) {
        // No keys: every row matches every row. The chain lists them all.
        unique_ = rows_.length() <= 1;
        next_.resize(static_cast<uint64_t>(rows_.length()) * sizeof(int32_t));
        for (int64_t i = 0; i < rows_.length(); ++i) {
            if (i % kRowsPerPoll == 0) poll();
            next_.as<int32_t>()[i] = i + 1 < rows_.length() ? static_cast<int32_t>(i + 1) : -1;
        }
        return;
    }
    bitmap_ = build_bits(poll);
    dense_ = bitmap_ && build_dense(poll);
    if (!dense_) build_hash(poll);
}

uint64_t JoinTable::hash_bytes(int64_t rows) noexcept {
    const auto count = static_cast<uint64_t>(rows);
    return count * sizeof(int32_t) + table_size(count) * sizeof(Entry);
}

template <typename T>
void JoinTable::fill_bits(const Vector& keys) {
    const T* values = keys.as<T>();
    auto* words = bits_.as<uint64_t>();
    for (int64_t i = 0; i < keys.length; ++i) {
        if (i % kRowsPerPoll == 0) poll_thread();
        if (keys.is_null(i)) continue;
        const uint64_t place =
            static_cast<uint64_t>(int64_t{values[i]}) - static_cast<uint64_t>(base_);
        words[place >> 6] |= uint64_t{1} << (place & 63);
    }
}

template <typename T>
void JoinTable::fill_dense(const Vector& keys, const std::function<void()>& poll) {
    const T* values = keys.as<T>();
    auto* next = next_.as<int32_t>();
    auto* first = first_.as<int32_t>();
    // Backwards, so that chains list rows in their order.
    for (int64_t i = keys.length - 1; i >= 0; --i) {
        if (i % kRowsPerPoll == 0) poll();
        if (keys.is_null(i)) continue;
        const uint64_t place =
            static_cast<uint64_t>(int64_t{values[i]}) - static_cast<uint64_t>(base_);
        unique_ &= first[place] < 0;
        next[i] = first[place];
        first[place] = static_cast<int32_t>(i);
    }
}

bool JoinTable::build_bits(const std::function<void()>& poll) {
    if (keys_.size() != 1 || !is_integer(physical_[0])) return false;
    const Vector& keys = key_views_[0];
    int64_t low = 0;
    int64_t high = -1;
    const bool any = physical_[0] == plan::Physical::kInt16 ? key_range<int16_t>(keys, &low, &high)
                     : physical_[0] == plan::Physical::kInt32
                         ? key_range<int32_t>(keys, &low, &high)
                         : key_range<int64_t>(keys, &low, &high);
    range_known_ = true;
    low_ = low;
    high_ = high;
    const uint64_t range = any ? static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1 : 0;
    const uint64_t limit =
        std::max(kBitmapRange, kBitmapFactor * static_cast<uint64_t>(rows_.length()));
    if (any && (range == 0 || range > std::min<uint64_t>(limit, UINT32_MAX))) return false;
    const uint64_t words = range / 64 + 2;
    if (words * sizeof(uint64_t) > room_ / 4) return false;
    bits_.resize(words * sizeof(uint64_t));
    std::memset(bits_.data(), 0, bits_.size());
    base_ = low;
    range_ = range;
    footprint_ = words * sizeof(uint64_t);
    poll();
    if (physical_[0] == plan::Physical::kInt16)
        fill_bits<int16_t>(keys);
    else if (physical_[0] == plan::Physical::kInt32)
        fill_bits<int32_t>(keys);
    else
        fill_bits<int64_t>(keys);
    return true;
}

bool JoinTable::build_dense(const std::function<void()>& poll) {
    const uint64_t range = range_;
    if (range > std::max(kSmallRange, kDenseFactor * static_cast<uint64_t>(rows_.length())))
        return false;
    if (range * sizeof(int32_t) > room_ / 2) return false;
    const Vector& keys = key_views_[0];
    first_.resize(range * sizeof(int32_t));
    if (range > 0) std::memset(first_.data(), 0xff, range * sizeof(int32_t));
    next_.resize(static_cast<uint64_t>(rows_.length()) * sizeof(int32_t));
    if (rows_.length() > 0) std::memset(next_.data(), 0xff, next_.size());
    if (physical_[0] == plan::Physical::kInt16)
        fill_dense<int16_t>(keys, poll);
    else if (physical_[0] == plan::Physical::kInt32)
        fill_dense<int32_t>(keys, poll);
    else
        fill_dense<int64_t>(keys, poll);
    return true;
}

bool JoinTable::keys_equal(std::span<const Vector> probe, int64_t probe_row, int32_t row) const {
    for (size_t k = 0; k < keys_.size(); ++k)
        if (!key_equal(probe[k], probe_row, key_views_[k], row, physical_[k])) return false;
    return true;
}

namespace {

uint64_t row_hash(std::span<const Vector> keys, std::span<const plan::Physical> physical,
                  int64_t row) {
    uint64_t hash = key_hash(keys[0], physical[0], row);
    for (size_t k = 1; k < keys.size(); ++k)
        hash = combine(hash, key_hash(keys[k], physical[k], row));
    return hash;
}

bool any_null(std::span<const Vector> keys, int64_t row) {
    for (const Vector& key : keys)
        if (key.is_null(row)) return true;
    return false;
}

}  // namespace

void JoinTable::build_hash(const std::function<void()>& poll) {
    const auto rows = static_cast<uint64_t>(rows_.length());
    const uint64_t size = table_size(rows);
    entry_mask_ = size - 1;
    entries_.resize(size * sizeof(Entry));
    auto* entries = entries_.as<Entry>();
    for (uint64_t i = 0; i < size; ++i) {
        if (i % (4 * kRowsPerPoll) == 0) poll();
        entries[i] = {0, -1};
    }
    next_.resize(rows * sizeof(int32_t));
    std::memset(next_.data(), 0xff, next_.size());
    auto* next = next_.as<int32_t>();
    for (int64_t row = rows_.length() - 1; row >= 0; --row) {
        if (row % kRowsPerPoll == 0) poll();
        if (null_key_ && any_null(key_views_, row)) continue;
        const uint64_t hash = row_hash(key_views_, physical_, row);
        const auto tag = static_cast<uint32_t>(hash >> 32);
        uint64_t place = hash & entry_mask_;
        while (entries[place].row >= 0 &&
               (entries[place].tag != tag || !keys_equal(key_views_, row, entries[place].row)))
            place = (place + 1) & entry_mask_;
        if (entries[place].row >= 0) unique_ = false;
        next[row] = entries[place].row;
        entries[place] = {tag, static_cast<int32_t>(row)};
    }
    if (!bitmap_) footprint_ = size * sizeof(Entry);
}

template <typename T>
void JoinTable::lookup_dense(const T* values, int64_t count, int32_t* first) const {
    const int32_t* rows = first_.as<int32_t>();
    const auto base = static_cast<uint64_t>(base_);
    for (int64_t i = 0; i < count; ++i) {
        const uint64_t place = static_cast<uint64_t>(int64_t{values[i]}) - base;
        first[i] = place < range_ ? rows[place] : -1;
    }
}

void JoinTable::lookup_hash(std::span<const Vector> keys, int64_t count, int32_t* first,
                            ProbeScratch& scratch) const {
    scratch.hashes.resize_discarding(static_cast<uint64_t>(count) * sizeof(uint64_t));
    auto* hashes = scratch.hashes.as<uint64_t>();
    const auto* entries = entries_.as<Entry>();
    const bool nullable =
        std::ranges::any_of(keys, [](const Vector& key) { return key.validity != nullptr; });
    // All hashes first, so that the table's cache misses overlap. What is NULL has no value to look
    // at.
    for (int64_t i = 0; i < count; ++i) {
        hashes[i] = nullable && any_null(keys, i) ? 0 : row_hash(keys, physical_, i);
        __builtin_prefetch(&entries[hashes[i] & entry_mask_]);
    }
    for (int64_t i = 0; i < count; ++i) {
        if (nullable && any_null(keys, i)) {
            first[i] = -1;
            continue;
        }
        const auto tag = static_cast<uint32_t>(hashes[i] >> 32);
        uint64_t place = hashes[i] & entry_mask_;
        while (entries[place].row >= 0 &&
               (entries[place].tag != tag || !keys_equal(keys, i, entries[place].row)))
            place = (place + 1) & entry_mask_;
        first[i] = entries[place].row;
    }
}

void JoinTable::lookup_values(std::span<const Vector> keys, int64_t count, int32_t* first,
                              ProbeScratch& scratch) const {
    if (!dense_) return lookup_hash(keys, count, first, scratch);
    if (physical_[0] == plan::Physical::kInt16)
        lookup_dense(keys[0].as<int16_t>(), count, first);
    else if (physical_[0] == plan::Physical::kInt32)
        lookup_dense(keys[0].as<int32_t>(), count, first);
    else
        lookup_dense(keys[0].as<int64_t>(), count, first);
    if (keys[0].validity != nullptr)
        for (int64_t i = 0; i < count; ++i)
            if (!base::bit_at(keys[0].validity, i)) first[i] = -1;
}

void JoinTable::test_values(std::span<const Vector> keys, int64_t count, uint64_t* mask,
                            ProbeScratch& scratch) const {
    if (bitmap_) {
        const auto* bits = bits_.as<uint64_t>();
        const auto size = static_cast<uint32_t>(range_);
        if (size == 0)
            fill_mask(mask, count, false);
        else if (physical_[0] == plan::Physical::kInt16)
            simd::members_to_mask(keys[0].as<int16_t>(), count, base_, bits, size, mask);
        else if (physical_[0] == plan::Physical::kInt32)
            simd::members_to_mask(keys[0].as<int32_t>(), count, base_, bits, size, mask);
        else
            simd::members_to_mask(keys[0].as<int64_t>(), count, base_, bits, size, mask);
        clear_nulls(mask, keys[0].validity, count);
        return;
    }
    // Only bitmaps are asked for whole dictionaries; rows come batch by batch.
    int32_t first[kBatchRows];
    lookup_values(keys, count, first, scratch);
    for (int64_t i = 0; i < count; i += 64) {
        uint64_t word = 0;
        const int64_t end = std::min<int64_t>(64, count - i);
        for (int64_t j = 0; j < end; ++j) word |= static_cast<uint64_t>(first[i + j] >= 0) << j;
        mask[i >> 6] = word;
    }
}

std::span<const Vector> JoinTable::decode(std::span<const Vector> keys,
                                          ProbeScratch& scratch) const {
    bool plain = true;
    for (const Vector& key : keys) plain &= key.form == Form::kPlain;
    if (plain) return keys;
    while (scratch.values.size() < keys.size()) {
        scratch.values.emplace_back(budget_);
        scratch.validity.emplace_back(budget_);
    }
    scratch.plain.resize(keys.size());
    for (size_t k = 0; k < keys.size(); ++k)
        scratch.plain[k] = to_plain(keys[k], scratch.values[k], scratch.validity[k]);
    return {scratch.plain.data(), keys.size()};
}

void JoinTable::test(std::span<const Vector> keys, int64_t count, uint64_t* mask,
                     ProbeScratch& scratch) const {
    if (length() == 0 || keys.empty()) {
        fill_mask(mask, count, length() > 0);
        return;
    }
    if (keys.size() == 1 && keys[0].form == Form::kCodes && bitmap_) {
        const VectorDictionary& dictionary = *keys[0].dictionary;
        if (scratch.bits_version != dictionary.version) {
            const auto entries = static_cast<uint64_t>(dictionary.values.length);
            scratch.code_bits.resize_discarding((entries / 64 + 1) * 8);
            std::memset(scratch.code_bits.data(), 0, scratch.code_bits.size());
            test_values({&dictionary.values, 1}, dictionary.values.length,
                        scratch.code_bits.as<uint64_t>(), scratch);
            scratch.bits_version = dictionary.version;
        }
        return codes_to_mask(keys[0], scratch.code_bits.as<uint64_t>(), mask);
    }
    test_values(decode(keys, scratch), count, mask, scratch);
}

void JoinTable::lookup(std::span<const Vector> keys, int64_t count, int32_t* first,
                       ProbeScratch& scratch) const {
    if (length() == 0 || keys.empty()) {
        std::fill_n(first, count, length() > 0 ? 0 : -1);
        return;
    }
    if (keys.size() == 1 && keys[0].form == Form::kCodes && keys[0].dictionary->values.length > 0) {
        const VectorDictionary& dictionary = *keys[0].dictionary;
        if (scratch.rows_version != dictionary.version) {
            const int64_t entries = dictionary.values.length;
            scratch.code_rows.resize_discarding(static_cast<uint64_t>(entries) * sizeof(int32_t));
            lookup_values({&dictionary.values, 1}, entries, scratch.code_rows.as<int32_t>(),
                          scratch);
            scratch.rows_version = dictionary.version;
        }
        const auto* rows = scratch.code_rows.as<int32_t>();
        for (int64_t i = 0; i < count; ++i) first[i] = rows[keys[0].code(i)];
        if (keys[0].validity != nullptr)
            for (int64_t i = 0; i < count; ++i)
                if (!base::bit_at(keys[0].validity, i)) first[i] = -1;
        return;
    }
    lookup_values(decode(keys, scratch), count, first, scratch);
}

}  // namespace loom::exec
