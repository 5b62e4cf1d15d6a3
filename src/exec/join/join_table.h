#pragma once
// The build side of a join, in the form that its keys allow.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "column/scalar.h"
#include "exec/row_store.h"

namespace loom::exec {

/// What one thread keeps for probing one table.
struct ProbeScratch {
    explicit ProbeScratch(base::MemoryBudget* budget)
        : code_bits(budget), code_rows(budget), hashes(budget) {}

    uint64_t bits_version = 0;  ///< dictionary that code_bits was made for
    uint64_t rows_version = 0;
    base::Buffer code_bits;  ///< bit c: dictionary entry c has a match
    base::Buffer code_rows;  ///< int32: first row of entry c, or -1
    base::Buffer hashes;
    std::vector<base::Buffer> values;
    std::vector<base::Buffer> validity;
    std::vector<Vector> plain;
    std::vector<Vector> keys;
};

/// Keys from `low` to `high`, both of them keys, in the engine's domain.
struct BuildKeyRange {
    column::Scalar low;
    column::Scalar high;
};

/// Rows and an index over their keys. A single integer key gets a bitmap for test() unless its
/// range is vast, and an array by key for lookup() if its range is small; other keys a hash table.
/// Rows with a NULL key are kept, and match nothing. Immutable once built; threads share it.
class JoinTable {
  public:
    /// `keys` are columns of `rows`.
    /// `poll` is called now and then while the table is built.
    /// `room` is what the index may take: where a bitmap or an array would need too much of it, a
    /// hash table is made, which takes hash_bytes().
    JoinTable(RowStore rows, std::vector<int> keys, const std::function<void()>& poll,
              uint64_t room, base::MemoryBudget* budget);

    /// Bytes of a hash table over `rows` rows.
    static uint64_t hash_bytes(int64_t rows) noexcept;

    int64_t length() const noexcept { return rows_.length(); }
    const RowStore& rows() const noexcept { return rows_; }
    RowStore& rows() noexcept { return rows_; }
    /// Whether no two rows have equal keys.
    bool unique() const noexcept { return unique_; }
    /// Whether some key is NULL.
    bool null_key() const noexcept { return null_key_; }
    /// Ranges, at most `most` of them, that hold all keys but NULL, ascending; for one key that is
    /// an integer, date, timestamp or text. Nothing if the keys are of another kind or too many
    /// texts.
    std::optional<std::vector<BuildKeyRange>> key_ranges(size_t most) const;
    /// Bytes that a probe touches: what decides which probe goes first.
    uint64_t footprint() const noexcept { return footprint_; }

    /// Sets bit i of `mask` to whether row i of `keys` has a match; clears the bits up to a
    /// multiple of 64 behind `count`.
    void test(std::span<const Vector> keys, int64_t count, uint64_t* mask,
              ProbeScratch& scratch) const;
    /// Sets first[i] to the first matching row, or -1.
    void lookup(std::span<const Vector> keys, int64_t count, int32_t* first,
                ProbeScratch& scratch) const;
    /// Returns the next row with the same key, or -1.
    int32_t next(int32_t row) const noexcept { return unique_ ? -1 : next_.as<int32_t>()[row]; }

  private:
    struct Entry {
        uint32_t tag;
        int32_t row;
    };

    bool build_bits(const std::function<void()>& poll);
    bool build_dense(const std::function<void()>& poll);
    void build_hash(const std::function<void()>& poll);
    template <typename T>
    void fill_bits(const Vector& keys);
    template <typename T>
    void fill_dense(const Vector& keys, const std::function<void()>& poll);
    template <typename T>
    void lookup_dense(const T* values, int64_t count, int32_t* first) const;
    void lookup_hash(std::span<const Vector> keys, int64_t count, int32_t* first,
                     ProbeScratch& scratch) const;
    void lookup_values(std::span<const Vector> keys, int64_t count, int32_t* first,
                       ProbeScratch& scratch) const;
    void test_values(std::span<const Vector> keys, int64_t count, uint64_t* mask,
                     ProbeScratch& scratch) const;
    std::span<const Vector> decode(std::span<const Vector> keys, ProbeScratch& scratch) const;
    bool keys_equal(std::span<const Vector> probe, int64_t probe_row, int32_t row) const;

    base::MemoryBudget* budget_;
    uint64_t room_;
    RowStore rows_;
    std::vector<int> keys_;
    std::vector<plan::Physical> physical_;
    std::vector<Vector> key_views_;
    bool unique_ = true;
    bool null_key_ = false;
    uint64_t footprint_ = 0;

    bool bitmap_ = false;       ///< bits_ is there
    bool dense_ = false;        ///< first_ is there; else the hash table
    bool range_known_ = false;  ///< of the integers low_ to high_; none if low_ > high_
    int64_t low_ = 0;
    int64_t high_ = -1;
    int64_t base_ = 0;
    uint64_t range_ = 0;
    base::Buffer bits_;   ///< bit (key - base) is set for each key
    base::Buffer first_;  ///< dense: int32 by key - base
    base::Buffer next_;   ///< int32 by row

    base::Buffer entries_;
    uint64_t entry_mask_ = 0;
};

}  // namespace loom::exec
