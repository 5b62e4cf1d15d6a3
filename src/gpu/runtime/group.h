#pragma once
// What becomes of the rows of a pipeline: sums in registers, in shared memory, in global memory.

#include "gpu/runtime/machine.h"

namespace loom::gpu {

/// Adds to a sum of 64 bits in shared memory that lies in two halves. Shared memory adds 32 bits
/// itself, 64 in a loop of tries; the carry, which the low half's old value shows, is rare.
LOOM_DEVICE void shared_add(uint32_t* low, uint32_t* high, uint64_t value) {
    const auto part = static_cast<uint32_t>(value);
    const uint32_t before = atomic_add(low, part);
    const uint32_t rest = static_cast<uint32_t>(value >> 32) + (before + part < before ? 1U : 0U);
    if (rest != 0) atomic_add(high, rest);
}

/// Says that a group has rows. Threads may write the same byte at once.
LOOM_DEVICE void mark_seen(uint8_t* seen, uint32_t group) {
    if (seen[group] == 0) seen[group] = 1;
}

/// Adds the values of a warp's lanes to a sum in global memory.
LOOM_DEVICE void warp_add(uint64_t* to, uint64_t value) {
    LOOM_UNROLL for (uint32_t by = kWarp / 2; by != 0; by /= 2) value += shuffle_xor(value, by);
    if (lane_index() == 0 && value != 0) atomic_add(to, value);
}

/// The same of a sum of 128 bits, whose words of 32 lie `stride` words apart.
LOOM_DEVICE void shared_add(uint32_t* words, uint32_t stride, sql::Int128 value) {
    uint32_t carry = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint64_t part =
            uint64_t{static_cast<uint32_t>(static_cast<sql::UInt128>(value) >> 32 * i)} + carry;
        const auto low = static_cast<uint32_t>(part);
        carry = static_cast<uint32_t>(part >> 32);
        if (low == 0) continue;
        const uint32_t before = atomic_add(words + i * stride, low);
        carry += before + low < before ? 1U : 0U;
    }
}
/// Returns such a sum.
LOOM_DEVICE sql::Int128 shared_sum(const uint32_t* words, uint32_t stride) {
    sql::UInt128 sum = 0;
    for (uint32_t i = 0; i < 4; ++i) sum |= sql::UInt128{words[i * stride]} << 32 * i;
    return static_cast<sql::Int128>(sum);
}

/// Adds to a sum of 128 bits in global memory, whose words lie apart. Each carry is added once, so
/// that the sum is right when all have added.
LOOM_DEVICE void global_add(uint64_t* low, uint64_t* high, sql::Int128 value) {
    const auto part = static_cast<uint64_t>(value);
    uint64_t rest = static_cast<uint64_t>(static_cast<sql::UInt128>(value) >> 64);
    if (part != 0) {
        const uint64_t before = atomic_add(low, part);
        rest += before + part < before ? 1U : 0U;
    }
    if (rest != 0) atomic_add(high, rest);
}
LOOM_DEVICE void warp_add(uint64_t* low, uint64_t* high, sql::Int128 value) {
    auto sum = static_cast<sql::UInt128>(value);
    LOOM_UNROLL for (uint32_t by = kWarp / 2; by != 0; by /= 2) {
        const uint64_t other_low = shuffle_xor(static_cast<uint64_t>(sum), by);
        const uint64_t other_high = shuffle_xor(static_cast<uint64_t>(sum >> 64), by);
        sum += sql::UInt128{other_high} << 64 | other_low;
    }
    if (lane_index() == 0) global_add(low, high, static_cast<sql::Int128>(sum));
}

/// Words that are ordered as integers are; with kLeast the other way round. 0 comes before all but
/// one extreme, which it stands for.
template <bool kLeast>
LOOM_DEVICE constexpr uint64_t order_word(int64_t value) {
    const uint64_t word = static_cast<uint64_t>(value) ^ uint64_t { 1 } << 63;
    return kLeast ? ~word : word;
}
template <bool kLeast>
LOOM_DEVICE constexpr int64_t of_order_word(uint64_t word) {
    return static_cast<int64_t>((kLeast ? ~word : word) ^ uint64_t{1} << 63);
}
/// Keeps the larger word. Most come too late, which a look shows.
LOOM_DEVICE void keep_largest(uint64_t* at, uint64_t word) {
    if (*static_cast<volatile const uint64_t*>(at) < word) atomic_max(at, word);
}
LOOM_DEVICE void warp_keep_largest(uint64_t* at, uint64_t word) {
    LOOM_UNROLL for (uint32_t by = kWarp / 2; by != 0; by /= 2) {
        const uint64_t other = shuffle_xor(word, by);
        word = other > word ? other : word;
    }
    if (lane_index() == 0) keep_largest(at, word);
}

/// Writes what all threads write there.
LOOM_DEVICE void put_same(uint64_t* at, uint64_t word) {
    if (*static_cast<volatile const uint64_t*>(at) != word) *at = word;
}

/// A set of words that each get a number, in the order in which they come. No word is kNoWord.
struct WordSet {
    static constexpr uint64_t kNoWord = ~uint64_t{0};
    uint64_t* words;     ///< slots of a hash table, kNoWord where free; a power of two
    uint32_t* numbers;   ///< of the word in the slot
    uint64_t* in_order;  ///< words by number, for so many as half of the slots
    uint32_t* count;     ///< of words; more than there is room for: the set is of no use
    uint32_t slots;

    LOOM_DEVICE uint32_t first_slot(uint64_t word) const {
        return static_cast<uint32_t>((word * 0x9e3779b97f4a7c15ULL) >> 32) & (slots - 1);
    }
    /// Makes sure that the word has a number.
    LOOM_DEVICE void insert(uint64_t word) const {
        for (uint32_t slot = first_slot(word), tries = 0; tries < slots;
             slot = (slot + 1) & (slots - 1), ++tries) {
            uint64_t there = *static_cast<volatile const uint64_t*>(words + slot);
            if (there == word) return;
            if (there != kNoWord) continue;
            there = atomic_swap_if(words + slot, kNoWord, word);
            if (there == word) return;
            if (there != kNoWord) continue;
            const uint32_t number = atomic_add(count, 1);
            if (number >= slots / 2) return;
            numbers[slot] = number;
            in_order[number] = word;
            return;
        }
        atomic_add(count, slots);
    }
    /// Returns the number of a word that an earlier kernel has inserted.
    LOOM_DEVICE uint32_t find(uint64_t word) const {
        for (uint32_t slot = first_slot(word), tries = 0; tries < slots;
             slot = (slot + 1) & (slots - 1), ++tries)
            if (words[slot] == word) return numbers[slot];
        return 0;
    }
};

/// A set of words whose numbers are asked for as they come, counting up from 0. No word is kNoWord.
struct NumberedSet {
    static constexpr uint64_t kNoWord = ~uint64_t{0};
    static constexpr uint32_t kFull = ~uint32_t{0};
    // Where slots are half full at most, nobody looks so far.
    static constexpr uint32_t kMostTries = 1024;
    uint64_t* words;     ///< slots of a hash table, kNoWord where free; a power of two
    uint32_t* numbers;   ///< of the word in the slot, and one more; 0: not yet, kFull: none
    uint64_t* in_order;  ///< words by number
    uint32_t* count;     ///< of words; more than there is room for: some have no number
    uint32_t slots;
    uint32_t room;  ///< for words; half of the slots, and below 2^31

    /// Returns the number of a word, or kFull where there is no room for it. A thread that finds
    /// the word of another waits for its number, which that one writes next: a device goes on with
    /// both.
    LOOM_DEVICE uint32_t number(uint64_t word) const {
        uint64_t hash = word * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
        uint32_t slot = static_cast<uint32_t>(hash) & (slots - 1);
        for (uint32_t tries = 0; tries < kMostTries; slot = (slot + 1) & (slots - 1), ++tries) {
            uint64_t there = *static_cast<volatile const uint64_t*>(words + slot);
            if (there == kNoWord) {
                if (*static_cast<volatile const uint32_t*>(count) > room) return kFull;
                there = atomic_swap_if(words + slot, kNoWord, word);
                if (there == kNoWord) return enter(slot, word);
            }
            if (there != word) continue;
            uint32_t number = 0;
            while (number == 0) number = *static_cast<volatile const uint32_t*>(numbers + slot);
            return number == kFull ? kFull : number - 1;
        }
        if (*static_cast<volatile const uint32_t*>(count) <= room) atomic_or(count, 1U << 31);
        return kFull;
    }

  private:
    LOOM_DEVICE uint32_t enter(uint32_t slot, uint64_t word) const {
        const uint32_t number = atomic_add(count, 1);
        const bool fits = number < room;
        if (fits) in_order[number] = word;
        *static_cast<volatile uint32_t*>(numbers + slot) = fits ? number + 1 : kFull;
        return fits ? number : kFull;
    }
};

/// A set of words, in which a word's place is its slot. One kernel inserts, later ones look up. No
/// word is kNoWord.
struct KeySet {
    static constexpr uint64_t kNoWord = ~uint64_t{0};
    static constexpr uint32_t kNone = ~uint32_t{0};
    // Where slots are half full at most, nobody looks so far.
    static constexpr uint32_t kMostTries = 1024;
    static constexpr uint32_t kPatience = 64;
    uint64_t* words;  ///< slots of a hash table, kNoWord where free
    uint32_t slots;   ///< a power of two, kMostTries at least

    // Each bit of a word moves all bits of its slot: words are made of several keys.
    LOOM_DEVICE uint32_t first_slot(uint64_t word) const {
        word ^= word >> 33;
        word *= 0xff51afd7ed558ccdULL;
        word ^= word >> 33;
        word *= 0xc4ceb9fe1a85ec53ULL;
        word ^= word >> 33;
        return static_cast<uint32_t>(word) & (slots - 1);
    }
    /// Returns the slot of a word, and whether it was there before. Where there is no room it says
    /// so in `full`, and returns kNone: the set is of no use then.
    LOOM_DEVICE uint32_t insert(uint64_t word, uint32_t* full, bool& again) const {
        uint32_t slot = first_slot(word);
        for (uint32_t tries = 0; tries < kMostTries; slot = (slot + 1) & (slots - 1), ++tries) {
            uint64_t there = *static_cast<volatile const uint64_t*>(words + slot);
            if (there == kNoWord) {
                there = atomic_swap_if(words + slot, kNoWord, word);
                if (there == kNoWord) return slot;
            }
            if (there == word) {
                again = true;
                return slot;
            }
            if (tries == kPatience && *static_cast<volatile const uint32_t*>(full) != 0)
                return kNone;
        }
        *static_cast<volatile uint32_t*>(full) = 1;
        return kNone;
    }
    /// Returns the slot of a word, or kNone.
    LOOM_DEVICE uint32_t find(uint64_t word) const {
        uint32_t slot = first_slot(word);
        for (uint32_t tries = 0; tries < kMostTries; slot = (slot + 1) & (slots - 1), ++tries) {
            const uint64_t there = look_up64_if(words + slot, 1, 0);
            if (there == word) return slot;
            if (there == kNoWord) return kNone;
        }
        return kNone;
    }
};

/// The rows of a build side that has several of a key: those of each place, as a list.
struct RowLists {
    static constexpr uint32_t kNone = ~uint32_t{0};
    uint32_t* first;  ///< by place; kNone: no row
    uint32_t* next;   ///< by row
    uint32_t* count;  ///< of rows
    uint32_t room;    ///< for rows

    /// Returns the number of a new row of a place. Where there is no room it says so in `full`, and
    /// returns kNone: the lists are of no use then.
    LOOM_DEVICE uint32_t add(uint32_t place, uint32_t* full) const {
        if (*static_cast<volatile const uint32_t*>(count) > room) return kNone;
        const uint32_t row = atomic_add(count, 1);
        if (row >= room) {
            *static_cast<volatile uint32_t*>(full) = 1;
            return kNone;
        }
        next[row] = atomic_swap(first + place, row);
        return row;
    }
};

/// Sets a bit in a bitmap whose words have their bits reversed; returns whether it was set.
LOOM_DEVICE bool set_bit(uint32_t* bitmap, uint32_t x) {
    const uint32_t bit = 0x80000000U >> (x & 31);
    return (atomic_or(bitmap + (x >> 5), bit) & bit) != 0;
}

}  // namespace loom::gpu
