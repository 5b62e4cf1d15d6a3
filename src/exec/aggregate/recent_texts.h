#pragma once
// Remembers texts that were met lately, whole and in few cache lines.

#include <cstdint>

#include "base/buffer.h"
#include "column/column_view.h"
#include "exec/aggregate/text_key.h"

namespace loom::exec {

/// Tells texts that have certainly been met from those that may be new. A text that it has no room
/// for is forgotten, sooner if it was met once. Owned by one worker.
class RecentTexts {
  public:
    /// Bytes of the longest text that is remembered.
    static constexpr int64_t kLongest = kMaxTextKeyBytes;

    /// Takes up to `bytes` bytes, and a few megabytes at most; a cache line at least.
    RecentTexts(uint64_t bytes, base::MemoryBudget* budget);

    /// Clears the bits of `rows` whose text is remembered. The texts of the other ones are from
    /// then on, unless they are too long: the bits of those are set in `longer`, which has as many,
    /// and the others cleared. Row i is texts[i], whose hash is hashes[i]; where it has no bit,
    /// they are not looked at. Returns whether there are longer ones.
    bool drop_known(const column::BytesView* texts, const uint64_t* hashes, int64_t count,
                    uint64_t* rows, uint64_t* longer);

  private:
    base::Buffer lines_;
    uint64_t mask_ = 0;
};

}  // namespace loom::exec
