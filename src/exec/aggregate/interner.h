#pragma once
// Numbers for distinct values.

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "exec/hash.h"
#include "exec/row_store.h"

namespace loom::exec {

/// Numbers distinct values of up to 16 bytes or of any bytes. Used for keys that do not fit a word.
class Interner {
  public:
    Interner(plan::Type type, base::MemoryBudget* budget);
    /// Makes room for so many values.
    void reserve(int64_t values);
    /// Returns the number of row `row` of a plain vector; the row must not be NULL.
    uint32_t intern(const Vector& vector, int64_t row);
    /// Sets numbers[i] to that of row i; rows that are NULL get any.
    void intern_all(const Vector& vector, uint64_t* numbers);
    /// Sets numbers[i] to that of entry entries[i] of another interner of this type.
    void intern_entries(const Interner& other, std::span<const uint64_t> entries,
                        uint64_t* numbers);
    /// Sets numbers[i] to that of row begin + i, whose hash is hashes[i], or to -1 if it has none;
    /// up to kAhead rows. Rows that are NULL get any.
    void find_all(const Vector& vector, int64_t begin, int64_t count, const uint64_t* hashes,
                  int64_t* numbers) const;
    /// Rows hashed and fetched ahead together: what is fetched, up to three lines each, stays in
    /// the first-level cache.
    static constexpr int64_t kAhead = 64;
    const StoredColumn& entries() const noexcept { return entries_; }
    uint64_t hash_of(uint64_t entry) const noexcept { return hashes_[entry]; }

  private:
    struct Slot {
        uint32_t tag = 0;    ///< the upper half of the hash
        uint32_t entry = 0;  ///< + 1; 0 is free
    };
    /// What tells bytes apart at one look: InlineBytes, or where longer ones lie, and their number
    /// with kLongBytes.
    using BytesKey = InlineBytes;
    /// kAhead rows whose look-ups go on together.
    struct Ahead;

    uint32_t intern(const Vector& vector, int64_t row, uint64_t hash);
    uint32_t add(const Vector& vector, int64_t row, uint64_t hash, uint64_t place);
    int64_t find(const Vector& vector, int64_t row, uint64_t hash) const noexcept;
    void fetch(const uint64_t* hashes, int64_t count) const noexcept;
    int64_t find_bytes(const BytesKey& key, uint64_t hash, uint64_t* place) const noexcept;
    void guess(Ahead& ahead, const uint64_t* hashes, int64_t count) const noexcept;
    bool guessed(const Ahead& ahead, int64_t row) const noexcept;
    void intern_bytes(const Vector& vector, int64_t begin, int64_t count, uint64_t* numbers);
    void grow(uint64_t size);

    plan::Physical physical_;
    StoredColumn entries_;
    std::vector<uint64_t> hashes_;
    base::Buffer keys_;  ///< BytesKey of each entry, if entries are bytes
    int64_t key_room_ = 0;
    base::Buffer table_;  ///< Slot
    uint64_t mask_ = 0;
    /// Entries + 1 of bytes that came last, by a glance at a few of them.
    static constexpr int kRecentBits = 9;
    uint32_t recent_[1 << kRecentBits] = {};
    int64_t recent_credit_;  ///< grows with what is found there; below 0 nobody looks
};

}  // namespace loom::exec
