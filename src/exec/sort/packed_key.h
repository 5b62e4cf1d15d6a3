#pragma once
// Sort keys of several columns packed into one word, as far as they fit.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "exec/vector.h"
#include "plan/operator.h"

namespace loom::exec {

/// What is known of the values of one sort key.
struct KeyRange {
    uint64_t lowest = UINT64_MAX;  ///< order word; not of texts
    uint64_t highest = 0;
    bool nulls = false;
    bool any = false;  ///< there is a value that is not NULL
    // Of texts.
    std::string common;   ///< what all begin with
    int64_t longest = 0;  ///< bytes

    void merge(const KeyRange& other);
};

/// Scratch space for order words. Owned by one worker.
class KeyWords {
  public:
    explicit KeyWords(base::MemoryBudget* budget) : values_(budget), validity_(budget) {}
    /// Computes the words of up to kBatchRows rows of any form. Valid until the next call. `skip`
    /// is as for order_words().
    const uint64_t* compute(const Vector& rows, int64_t skip = 0);
    /// The rows' validity, after compute(); null: no NULLs.
    const uint8_t* validity() const noexcept { return plain_.validity; }
    /// Widens `range` by up to kBatchRows rows.
    void widen(const Vector& rows, KeyRange& range);

  private:
    void widen_texts(KeyRange& range) const;

    Vector plain_;
    base::Buffer values_;
    base::Buffer validity_;
    uint64_t words_[kBatchRows];
};

/// How keys are packed: each takes the bits that its range needs, and one for NULL if there are
/// any; the first keys lie on top. Immutable.
class PackedKey {
  public:
    /// `types` are the columns that the keys name.
    PackedKey(const std::vector<plan::Type>& types, const std::vector<plan::SortKey>& keys,
              const std::vector<KeyRange>& ranges);

    /// Bits in use, from bit 0 up.
    int bits() const noexcept { return bits_; }
    /// Returns how many of them, from the top, are those of the first `keys` keys.
    int bits(size_t keys) const noexcept;
    /// Returns the first key that equal words do not decide, or the number of keys.
    size_t first_open() const noexcept { return first_open_; }
    /// Sets packed[i] to the word of row i. `columns` are all columns of the rows, in any form.
    void pack(std::span<const Vector> columns, int64_t count, KeyWords& words,
              uint64_t* packed) const;

  private:
    struct Part {
        int column = -1;
        bool descending = false;
        bool nulls_first = false;
        bool nulls = false;
        KeyRange range;
        int64_t skip = 0;  ///< bytes that all texts begin with
        int width = 0;     ///< bits of the value, without that for NULL
        int cut = 0;       ///< low bits of the value that are left out
    };
    std::vector<Part> parts_;
    int bits_ = 0;
    size_t first_open_ = 0;
};

}  // namespace loom::exec
