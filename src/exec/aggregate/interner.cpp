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
// Values hashed and fetched ahead together.
constexpr int64_t kAhead = 256;
// Entries moved between two looks at the stop token.
constexpr size_t kEntriesPerPoll = 1 << 15;

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
    table_.resize_discarding(size * sizeof(uint32_t));
    std::memset(table_.data(), 0, size * sizeof(uint32_t));
    mask_ = size - 1;
    auto* table = table_.as<uint32_t>();
    for (size_t i = 0; i < hashes_.size(); ++i) {
        if (i % kEntriesPerPoll == kEntriesPerPoll - 1) poll_thread();
        uint64_t place = hashes_[i] & mask_;
        while (table[place] != 0) place = (place + 1) & mask_;
        table[place] = static_cast<uint32_t>(i + 1);
    }
}

uint64_t Interner::hash(const Vector& vector, int64_t row) const noexcept {
    return key_hash(vector, physical_, row);
}

void Interner::intern_all(const Vector& vector, uint64_t* numbers) {
    uint64_t hashes[kAhead];
    for (int64_t begin = 0; begin < vector.length; begin += kAhead) {
        const int64_t count = std::min(kAhead, vector.length - begin);
        for (int64_t i = 0; i < count; ++i) {
            hashes[i] = vector.is_null(begin + i) ? 0 : hash(vector, begin + i);
            __builtin_prefetch(table_.as<uint32_t>() + (hashes[i] & mask_));
        }
        for (int64_t i = 0; i < count; ++i)
            if (!vector.is_null(begin + i))
                numbers[begin + i] = intern(vector, begin + i, hashes[i]);
    }
}

uint32_t Interner::intern(const Vector& vector, int64_t row, uint64_t hash) {
    auto* table = table_.as<uint32_t>();
    uint64_t place = hash & mask_;
    const Vector entries = entries_.view();
    for (; table[place] != 0; place = (place + 1) & mask_) {
        const uint32_t entry = table[place] - 1;
        if (hashes_[entry] == hash && key_equal(vector, row, entries, entry, physical_)) {
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
    table[place] = entry + 1;
    if (hashes_.size() * 2 > mask_) grow();
    return entry;
}

}  // namespace loom::exec
