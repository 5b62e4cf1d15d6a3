#pragma once
// Buffers that are used again once nobody points into them.

#include <memory>
#include <vector>

#include "base/buffer.h"

namespace loom::parquet {

/// Hands out shared buffers; one is free again when its last other owner lets go. Not thread safe.
class BufferPool {
  public:
    explicit BufferPool(base::MemoryBudget* budget) noexcept : budget_(budget) {}

    /// Returns a buffer of `size` bytes with unspecified contents.
    std::shared_ptr<base::Buffer> take(uint64_t size) {
        for (auto& buffer : buffers_)
            if (buffer.use_count() == 1) {
                buffer->resize_discarding(size);
                return buffer;
            }
        auto buffer = std::make_shared<base::Buffer>(budget_);
        buffer->resize_discarding(size);
        buffers_.push_back(buffer);
        return buffer;
    }

  private:
    base::MemoryBudget* budget_;
    std::vector<std::shared_ptr<base::Buffer>> buffers_;
};

}  // namespace loom::parquet
