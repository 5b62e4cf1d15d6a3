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

/// Sets a bit in a bitmap whose words have their bits reversed; returns whether it was set.
LOOM_DEVICE bool set_bit(uint32_t* bitmap, uint32_t x) {
    const uint32_t bit = 0x80000000U >> (x & 31);
    return (atomic_or(bitmap + (x >> 5), bit) & bit) != 0;
}

}  // namespace loom::gpu
