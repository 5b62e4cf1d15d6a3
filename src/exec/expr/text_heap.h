#pragma once
// Memory for the bytes of text results: chunks that are kept from batch to batch.

#include <vector>

#include "base/buffer.h"

namespace loom::exec {

class TextHeap {
  public:
    explicit TextHeap(base::MemoryBudget* budget) : budget_(budget) {}

    /// Returns room for `bytes`, valid until clear().
    uint8_t* allocate(int64_t bytes);
    /// Frees all that was allocated; keeps the memory.
    void clear() noexcept {
        chunk_ = 0;
        used_ = 0;
    }

  private:
    static constexpr int64_t kChunk = 64 * 1024;

    base::MemoryBudget* budget_;
    std::vector<base::Buffer> chunks_;
    size_t chunk_ = 0;  // the one in use
    int64_t used_ = 0;  // bytes of it
};

}  // namespace loom::exec
