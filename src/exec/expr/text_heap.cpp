#include "exec/expr/text_heap.h"

#include <algorithm>

namespace loom::exec {

uint8_t* TextHeap::allocate(int64_t bytes) {
    while (chunk_ < chunks_.size() &&
           used_ + bytes > static_cast<int64_t>(chunks_[chunk_].size())) {
        ++chunk_;
        used_ = 0;
    }
    if (chunk_ == chunks_.size()) {
        base::Buffer buffer(budget_);
        buffer.resize_discarding(static_cast<uint64_t>(std::max(bytes, kChunk)));
        chunks_.push_back(std::move(buffer));
    }
    uint8_t* room = chunks_[chunk_].data() + used_;
    used_ += bytes;
    return room;
}

}  // namespace loom::exec
