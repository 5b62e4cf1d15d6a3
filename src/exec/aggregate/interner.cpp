#include "exec/aggregate/interner.h"

#include <algorithm>
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

uint32_t tag_of(uint64_t hash) {
    return static_cast<uint32_t>(hash >> 32);
}

// PostgreSQL shows the key of the group's first row, in an order of rows that is not the engine's.
void check_same_scale(const Vector& a, int64_t a_row, const Vector& b, int64_t b_row) {
    if (a.as<plan::Decimal>()[a_row].scale != b.as<plan::Decimal>()[b_row].scale)
        throw Unrepresentable("a group of equal numerics of different scales");
}

}  // namespace

Interner::Interner(plan::Type type, base::MemoryBudget* budget)
    : physical_(plan::physical(type)), entries_(type, budget), table_(budget) {
    grow();
}

void Interner::grow() {
    const uint64_t size = mask_ == 0 ? kFirstSize : (mask_ + 1) * 2;
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

uint64_t Interner::hash(const Vector& vector, int64_t row) const noexcept {
    return key_hash(vector, physical_, row);
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
    if (physical_ != Physical::kBytes) return;
    const auto* views = entries_.values<column::BytesView>();
    for (int64_t i = 0; i < count; ++i) {
        const Slot slot = table[hashes[i] & mask_];
        if (slot.entry != 0 && slot.tag == tag_of(hashes[i]))
            __builtin_prefetch(views[slot.entry - 1].data);
    }
}

void Interner::intern_all(const Vector& vector, uint64_t* numbers) {
    uint64_t hashes[kAhead];
    for (int64_t begin = 0; begin < vector.length; begin += kAhead) {
        const int64_t count = std::min(kAhead, vector.length - begin);
        for (int64_t i = 0; i < count; ++i)
            hashes[i] = vector.is_null(begin + i) ? 0 : hash(vector, begin + i);
        fetch(hashes, count);
        for (int64_t i = 0; i < count; ++i)
            if (!vector.is_null(begin + i))
                numbers[begin + i] = intern(vector, begin + i, hashes[i]);
    }
}

void Interner::find_all(const Vector& vector, int64_t begin, int64_t count, const uint64_t* hashes,
                        int64_t* numbers) const {
    fetch(hashes, count);
    for (int64_t i = 0; i < count; ++i)
        numbers[i] = vector.is_null(begin + i) ? -1 : find(vector, begin + i, hashes[i]);
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

uint32_t Interner::intern(const Vector& vector, int64_t row, uint64_t hash) {
    auto* table = table_.as<Slot>();
    uint64_t place = hash & mask_;
    const Vector entries = entries_.view();
    for (; table[place].entry != 0; place = (place + 1) & mask_) {
        const uint32_t entry = table[place].entry - 1;
        if (table[place].tag == tag_of(hash) && key_equal(vector, row, entries, entry, physical_)) {
            if (physical_ == Physical::kDecimal) check_same_scale(vector, row, entries, entry);
            return entry;
        }
    }
    const auto entry = static_cast<uint32_t>(hashes_.size());
    Vector one = vector;
    one.length = 1;
    one.validity = nullptr;
    one.values = vector.as<uint8_t>() + row * plan::width(physical_);
    entries_.append(one);
    hashes_.push_back(hash);
    table[place] = {tag_of(hash), entry + 1};
    if (hashes_.size() * 2 > mask_) grow();
    return entry;
}

}  // namespace loom::exec
