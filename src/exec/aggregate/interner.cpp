#include "exec/aggregate/interner.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/fault.h"
#include "exec/key.h"
#include "exec/tasks.h"

namespace loom::exec {

using plan::Physical;

namespace {

constexpr uint64_t kFirstSize = 256;
// Entries moved between two looks at the stop token.
constexpr size_t kEntriesPerPoll = 1 << 15;
// In the byte where InlineBytes have their number.
constexpr uint64_t kLongBytes = uint64_t{0xff} << 56;
constexpr int64_t kFirstKeys = 256;
// Bytes that may be looked for in vain among recent ones before they turn out not to recur.
constexpr int64_t kRecentCredit = 4096;

bool is_long(const InlineBytes& key) {
    return key.high >= kLongBytes;
}

const uint8_t* long_bytes(const InlineBytes& key) {
    return reinterpret_cast<const uint8_t*>(key.low);
}

InlineBytes key_of(const column::BytesView& bytes) {
    if (bytes.size <= kMaxInlineBytes) return inline_bytes(bytes.data, bytes.size);
    return {reinterpret_cast<uint64_t>(bytes.data), kLongBytes | static_cast<uint64_t>(bytes.size)};
}

uint64_t hash_of_key(const InlineBytes& key) {
    if (!is_long(key)) return hash_inline(key);
    return hash_bytes(long_bytes(key), static_cast<int64_t>(key.high & ~kLongBytes));
}

bool equal_keys(const InlineBytes& a, const InlineBytes& b) {
    if (a.high != b.high) return false;
    if (a.low == b.low) return true;
    return is_long(a) &&
           bytes_equal(long_bytes(a), long_bytes(b), static_cast<int64_t>(a.high & ~kLongBytes));
}

// A few bits of short bytes, or from three places of long ones, whose beginning many have in
// common.
uint64_t glance_at(const InlineBytes& key, int bits) {
    if (!is_long(key))
        return ((key.low ^ std::rotl(key.high, 29)) * 0x9e3779b97f4a7c15) >> (64 - bits);
    const auto size = static_cast<int64_t>(key.high & ~kLongBytes);
    const auto word = [&](int64_t at) {
        uint64_t value;
        std::memcpy(&value, long_bytes(key) + at, sizeof value);
        return value;
    };
    const uint64_t middle = std::rotl(word(size / 4), 21) ^ std::rotl(word(size / 2), 42);
    return mix(word(size - 8) ^ middle ^ key.high) >> (64 - bits);
}

uint32_t tag_of(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32);
}

// PostgreSQL shows the key of the group's first row, in an order of rows that is not the engine's.
void check_same_scale(const Vector& a, int64_t a_row, const Vector& b, int64_t b_row) {
    if (a.as<plan::Decimal>()[a_row].scale != b.as<plan::Decimal>()[b_row].scale)
        throw Unrepresentable("a group of equal numerics of different scales");
}

}  // namespace

struct Interner::Ahead {
    BytesKey keys[kAhead];
    uint32_t entries[kAhead];  ///< most likely, + 1; 0: none
};

Interner::Interner(plan::Type type, base::MemoryBudget* budget)
    : physical_(plan::physical(type)),
      entries_(type, budget),
      keys_(budget),
      table_(budget),
      recent_credit_(kRecentCredit) {
    grow(kFirstSize);
}

void Interner::reserve(int64_t values) {
    const uint64_t size = std::bit_ceil(static_cast<uint64_t>(values) * 2 + 1);
    if (size > mask_ + 1) grow(size);
    hashes_.reserve(static_cast<size_t>(values));
    entries_.reserve(values);
    if (physical_ != Physical::kBytes || values <= key_room_) return;
    key_room_ = values;
    keys_.resize(static_cast<uint64_t>(key_room_) * sizeof(BytesKey));
}

void Interner::grow(uint64_t size) {
    table_.resize_discarding(size * sizeof(Slot));
    std::memset(table_.data(), 0, size * sizeof(Slot));
    mask_ = size - 1;
    auto* table = table_.as<Slot>();
    for (size_t i = 0; i < hashes_.size(); ++i) {
        if (i % kEntriesPerPoll == kEntriesPerPoll - 1) poll_thread();
        uint64_t place = hashes_[i] & mask_;
        while (table[place].entry != 0) place = (place + 1) & mask_;
        table[place] = {tag_of(hashes_[i]), static_cast<uint32_t>(i + 1)};
    }
}

// Brings what look-ups touch into the cache, step by step, so that the misses of many overlap.
void Interner::fetch(const uint64_t* hashes, int64_t count) const noexcept {
    const auto* table = table_.as<Slot>();
    for (int64_t i = 0; i < count; ++i) __builtin_prefetch(table + (hashes[i] & mask_));
    const int width = plan::width(physical_);
    const uint8_t* values = entries_.values<uint8_t>();
    for (int64_t i = 0; i < count; ++i) {
        const Slot slot = table[hashes[i] & mask_];
        if (slot.entry != 0 && slot.tag == tag_of(hashes[i]))
            __builtin_prefetch(values + (slot.entry - 1) * static_cast<int64_t>(width));
    }
}

// The same for bytes; picks the entry that the tags of two slots speak for, and fetches its key and
// what that points to.
void Interner::guess(Ahead& ahead, const uint64_t* hashes, int64_t count) const noexcept {
    const auto* table = table_.as<Slot>();
    const auto* keys = keys_.as<BytesKey>();
    for (int64_t i = 0; i < count; ++i) __builtin_prefetch(table + (hashes[i] & mask_));
    for (int64_t i = 0; i < count; ++i) {
        const Slot first = table[hashes[i] & mask_];
        const Slot second = table[(hashes[i] + 1) & mask_];
        const uint32_t tag = tag_of(hashes[i]);
        const uint32_t other = second.tag == tag ? second.entry : 0;
        const uint32_t entry = first.tag == tag ? first.entry : other;
        ahead.entries[i] = entry;
        __builtin_prefetch(keys + entry - (entry != 0 ? 1 : 0));
    }
    for (int64_t i = 0; i < count; ++i) {
        const uint32_t entry = ahead.entries[i];
        if (is_long(ahead.keys[i]) && entry != 0 && is_long(keys[entry - 1]))
            __builtin_prefetch(long_bytes(keys[entry - 1]));
    }
}

bool Interner::guessed(const Ahead& ahead, int64_t row) const noexcept {
    const uint32_t entry = ahead.entries[row];
    return entry != 0 && equal_keys(keys_.as<BytesKey>()[entry - 1], ahead.keys[row]);
}

void Interner::intern_all(const Vector& vector, uint64_t* numbers) {
    uint64_t hashes[kAhead];
    for (int64_t begin = 0; begin < vector.length; begin += kAhead) {
        const int64_t count = std::min(kAhead, vector.length - begin);
        if (physical_ == Physical::kBytes) {
            intern_bytes(vector, begin, count, numbers + begin);
            continue;
        }
        for (int64_t i = 0; i < count; ++i)
            hashes[i] = vector.is_null(begin + i) ? 0 : key_hash(vector, physical_, begin + i);
        fetch(hashes, count);
        for (int64_t i = 0; i < count; ++i)
            if (!vector.is_null(begin + i))
                numbers[begin + i] = intern(vector, begin + i, hashes[i]);
    }
}

// Bytes that came lately are compared, not hashed.
void Interner::intern_bytes(const Vector& vector, int64_t begin, int64_t count, uint64_t* numbers) {
    uint64_t hashes[kAhead];
    uint8_t rows[kAhead];
    Ahead ahead;
    const auto* views = vector.as<column::BytesView>() + begin;
    const auto* keys = keys_.as<BytesKey>();
    const bool glances = recent_credit_ >= 0;
    int64_t open = 0;
    int64_t credit = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (vector.is_null(begin + i)) continue;
        const BytesKey key = key_of(views[i]);
        if (glances) {
            const uint32_t recent = recent_[glance_at(key, kRecentBits)];
            if (recent != 0 && equal_keys(keys[recent - 1], key)) {
                numbers[i] = recent - 1;
                ++credit;
                continue;
            }
            --credit;
        }
        rows[open] = static_cast<uint8_t>(i);
        ahead.keys[open] = key;
        hashes[open++] = hash_of_key(key);
    }
    recent_credit_ = std::min(recent_credit_ + credit, kRecentCredit);
    if (open > 0) guess(ahead, hashes, open);
    for (int64_t i = 0; i < open; ++i) {
        const uint32_t number =
            guessed(ahead, i) ? ahead.entries[i] - 1 : intern(vector, begin + rows[i], hashes[i]);
        numbers[rows[i]] = number;
        if (glances) recent_[glance_at(ahead.keys[i], kRecentBits)] = number + 1;
    }
}

void Interner::intern_entries(const Interner& other, std::span<const uint64_t> entries,
                              uint64_t* numbers) {
    const Vector values = other.entries_.view();
    const int width = plan::width(physical_);
    const auto size = static_cast<int64_t>(entries.size());
    uint64_t hashes[kAhead];
    for (int64_t begin = 0; begin < size; begin += kAhead) {
        const int64_t count = std::min(kAhead, size - begin);
        const uint64_t* some = entries.data() + begin;
        // Entries of one partition lie far apart.
        for (int64_t i = 0; i < count; ++i) {
            __builtin_prefetch(&other.hashes_[some[i]]);
            __builtin_prefetch(values.as<uint8_t>() + some[i] * static_cast<uint64_t>(width));
        }
        for (int64_t i = 0; i < count; ++i) {
            hashes[i] = other.hashes_[some[i]];
            if (physical_ == Physical::kBytes)
                __builtin_prefetch(values.as<column::BytesView>()[some[i]].data);
        }
        fetch(hashes, count);
        for (int64_t i = 0; i < count; ++i)
            numbers[begin + i] = intern(values, static_cast<int64_t>(some[i]), hashes[i]);
    }
}

void Interner::find_all(const Vector& vector, int64_t begin, int64_t count, const uint64_t* hashes,
                        int64_t* numbers) const {
    if (physical_ != Physical::kBytes) {
        fetch(hashes, count);
        for (int64_t i = 0; i < count; ++i)
            numbers[i] = vector.is_null(begin + i) ? -1 : find(vector, begin + i, hashes[i]);
        return;
    }
    Ahead ahead;
    const auto* views = vector.as<column::BytesView>() + begin;
    for (int64_t i = 0; i < count; ++i)
        ahead.keys[i] = vector.is_null(begin + i) ? BytesKey() : key_of(views[i]);
    guess(ahead, hashes, count);
    for (int64_t i = 0; i < count; ++i) {
        if (guessed(ahead, i))
            numbers[i] = int64_t{ahead.entries[i]} - 1;
        else
            numbers[i] = find_bytes(ahead.keys[i], hashes[i], nullptr);
    }
}

// Sets `place` to the free slot that ends the search.
int64_t Interner::find_bytes(const BytesKey& key, uint64_t hash, uint64_t* place) const noexcept {
    const auto* table = table_.as<Slot>();
    const auto* keys = keys_.as<BytesKey>();
    uint64_t at = hash & mask_;
    for (; table[at].entry != 0; at = (at + 1) & mask_)
        if (table[at].tag == tag_of(hash) && equal_keys(keys[table[at].entry - 1], key))
            return int64_t{table[at].entry} - 1;
    if (place != nullptr) *place = at;
    return -1;
}

int64_t Interner::find(const Vector& vector, int64_t row, uint64_t hash) const noexcept {
    const auto* table = table_.as<Slot>();
    const Vector entries = entries_.view();
    for (uint64_t place = hash & mask_; table[place].entry != 0; place = (place + 1) & mask_) {
        const int64_t entry = int64_t{table[place].entry} - 1;
        if (table[place].tag == tag_of(hash) && key_equal(vector, row, entries, entry, physical_))
            return entry;
    }
    return -1;
}

uint32_t Interner::intern(const Vector& vector, int64_t row) {
    return intern(vector, row, key_hash(vector, physical_, row));
}

uint32_t Interner::intern(const Vector& vector, int64_t row, uint64_t hash) {
    if (physical_ == Physical::kBytes) {
        uint64_t place = 0;
        const int64_t entry = find_bytes(key_of(vector.as<column::BytesView>()[row]), hash, &place);
        return entry >= 0 ? static_cast<uint32_t>(entry) : add(vector, row, hash, place);
    }
    const auto* table = table_.as<Slot>();
    uint64_t place = hash & mask_;
    const Vector entries = entries_.view();
    for (; table[place].entry != 0; place = (place + 1) & mask_) {
        const uint32_t entry = table[place].entry - 1;
        if (table[place].tag == tag_of(hash) && key_equal(vector, row, entries, entry, physical_)) {
            if (physical_ == Physical::kDecimal) check_same_scale(vector, row, entries, entry);
            return entry;
        }
    }
    return add(vector, row, hash, place);
}

uint32_t Interner::add(const Vector& vector, int64_t row, uint64_t hash, uint64_t place) {
    const auto entry = static_cast<uint32_t>(hashes_.size());
    if (physical_ == Physical::kBytes) {
        if (entry == key_room_) {
            key_room_ = std::max(kFirstKeys, key_room_ * 2);
            keys_.resize(static_cast<uint64_t>(key_room_) * sizeof(BytesKey));
        }
        entries_.append_bytes(vector.as<column::BytesView>()[row]);
        keys_.as<BytesKey>()[entry] = key_of(entries_.values<column::BytesView>()[entry]);
    } else {
        Vector one = vector;
        one.length = 1;
        one.validity = nullptr;
        one.values = vector.as<uint8_t>() + row * plan::width(physical_);
        entries_.append(one);
    }
    hashes_.push_back(hash);
    table_.as<Slot>()[place] = {tag_of(hash), entry + 1};
    if (hashes_.size() * 2 > mask_) grow((mask_ + 1) * 2);
    return entry;
}

}  // namespace loom::exec
