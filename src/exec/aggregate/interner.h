#pragma once
// Numbers for distinct values.

#include <cstdint>
#include <vector>

#include "base/buffer.h"
#include "exec/row_store.h"

namespace loom::exec {

/// Numbers distinct values of up to 16 bytes or of any bytes. Used for keys that do not fit a word.
class Interner {
  public:
    Interner(plan::Type type, base::MemoryBudget* budget);
    /// Returns the number of row `row` of a plain vector; the row must not be NULL.
    uint32_t intern(const Vector& vector, int64_t row) {
        return intern(vector, row, hash(vector, row));
    }
    /// Sets numbers[i] to that of row i; rows that are NULL get any.
    void intern_all(const Vector& vector, uint64_t* numbers);
    const StoredColumn& entries() const noexcept { return entries_; }
    uint64_t hash_of(uint64_t entry) const noexcept { return hashes_[entry]; }

  private:
    uint64_t hash(const Vector& vector, int64_t row) const noexcept;
    uint32_t intern(const Vector& vector, int64_t row, uint64_t hash);
    void grow();

    plan::Physical physical_;
    StoredColumn entries_;
    std::vector<uint64_t> hashes_;
    base::Buffer table_;  ///< uint32 entry + 1, or 0
    uint64_t mask_ = 0;
};

}  // namespace loom::exec
