#pragma once
// Numbers of texts, for look-ups that need not find all.

#include <cstdint>

#include "base/buffer.h"
#include "column/column_view.h"
#include "exec/aggregate/text_key.h"

namespace loom::exec {

/// Maps texts to numbers. Those that came when their place was full, and long ones, are not kept.
/// A look-up touches one cache line of texts and one of numbers. Owned by one worker.
class KnownTexts {
  public:
    /// Bytes of the longest text that is kept.
    static constexpr int64_t kLongest = kMaxTextKeyBytes;
    /// What find() gives for texts that are not kept.
    static constexpr uint32_t kNone = UINT32_MAX;

    /// Takes up to `bytes` bytes, and a few megabytes at most.
    KnownTexts(uint64_t bytes, base::MemoryBudget* budget);

    /// Maps `text`, which is new and whose hash is `hash`, to `number`, if there is room.
    void add(const column::BytesView& text, uint64_t hash, uint32_t number);
    /// Sets numbers[i] to that of texts[i], whose hash is hashes[i], or to kNone. Rows without
    /// their bit in `validity` (null: all have it) get kNone, and are not looked at.
    void find(const column::BytesView* texts, const uint8_t* validity, const uint64_t* hashes,
              int64_t count, uint32_t* numbers) const;

  private:
    base::Buffer lines_;
    base::Buffer numbers_;
    uint64_t mask_ = 0;
};

}  // namespace loom::exec
