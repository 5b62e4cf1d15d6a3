#pragma once
// Hashes of whole keys, equal wherever PostgreSQL's equality holds, the same in every worker.

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "exec/hash.h"
#include "exec/vector.h"

namespace loom::exec {

/// What a NULL counts as in a key.
inline constexpr uint64_t kNullHash = 0x9e3779b97f4a7c15;

/// Adds the hash of a further column to that of a key.
inline uint64_t add_to_key(uint64_t key, uint64_t column, bool first) noexcept {
    return first ? column : combine(key, column);
}

/// Hashes keys of several columns. Owned by one worker.
class KeyHasher {
  public:
    KeyHasher(const std::vector<plan::Type>& types, base::MemoryBudget* budget);

    /// Sets hashes[i] to that of row i of the columns, which may have any form.
    void hash(std::span<const Vector> columns, int64_t count, uint64_t* hashes);

  private:
    struct Column {
        plan::Physical physical;
        uint64_t version = 0;           ///< dictionary that `entries` is of
        std::vector<uint64_t> entries;  ///< hashes by code
    };
    void learn(Column& column, const Vector& vector);

    std::vector<Column> columns_;
    base::Buffer values_;
    base::Buffer validity_;
};

}  // namespace loom::exec
