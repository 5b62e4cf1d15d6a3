#include <algorithm>
#include <cstring>

#include "exec/partition/row_partitions.h"

namespace loom::exec {

using column::BytesView;

PartitionCursor::PartitionCursor(RowPartitions& rows, int64_t partition, base::MemoryBudget* budget,
                                 bool drain)
    : rows_(rows),
      chunks_(rows.partitions_[static_cast<size_t>(partition)].chunks),
      drain_(drain),
      block_(budget),
      heap_(budget) {
    for (size_t c = 0; c < rows.types_.size(); ++c) views_.emplace_back(budget);
}

// Brings the chunk's bytes into memory, if they are not there; false if it has no rows.
bool PartitionCursor::enter_chunk() {
    static constexpr uint8_t kNothing = 0;
    RowPartitions::Chunk& chunk = chunks_[chunk_];
    row_ = 0;
    if (chunk.rows == 0) return false;
    const bool in_memory = chunk.block.size() > 0;
    if (!in_memory) {
        block_.resize_discarding(chunk.block_bytes);
        rows_.file_->read_at(chunk.offset, {block_.data(), block_.size()});
        heap_.resize_discarding(chunk.heap_used);
        if (chunk.heap_used > 0)
            rows_.file_->read_at(chunk.offset + chunk.block_bytes, {heap_.data(), heap_.size()});
    }
    block_at_ = in_memory ? chunk.block.data() : block_.data();
    heap_at_ = in_memory ? chunk.heap.data() : heap_.data();
    if (heap_at_ == nullptr) heap_at_ = &kNothing;
    return true;
}

void PartitionCursor::leave_chunk() {
    if (drain_) {
        chunks_[chunk_].block.release();
        chunks_[chunk_].heap.release();
    }
    ++chunk_;
    row_ = -1;
}

int64_t PartitionCursor::next(std::vector<Vector>& columns) {
    for (; chunk_ < chunks_.size(); leave_chunk()) {
        if (row_ < 0 && !enter_chunk()) continue;
        if (row_ < chunks_[chunk_].rows) break;
    }
    if (chunk_ == chunks_.size()) return 0;
    const RowPartitions::Chunk& chunk = chunks_[chunk_];
    const int64_t count = std::min(kBatchRows, chunk.rows - row_);
    columns.resize(rows_.types_.size());
    for (size_t c = 0; c < columns.size(); ++c) {
        Vector& vector = columns[c];
        const uint8_t* values =
            block_at_ + rows_.value_offset(c, chunk.capacity) + row_ * rows_.widths_[c];
        vector = Vector();
        vector.type = rows_.types_[c];
        vector.length = count;
        vector.values = values;
        if (rows_.nullable_[c] != 0)
            vector.validity = block_at_ + rows_.bitmap_offset(c, chunk.capacity) + row_ / 8;
        if (plan::physical(vector.type) != plan::Physical::kBytes) continue;
        views_[c].resize_discarding(static_cast<uint64_t>(count) * sizeof(BytesView));
        auto* out = views_[c].as<BytesView>();
        for (int64_t i = 0; i < count; ++i) {
            uint64_t stored[2];
            std::memcpy(stored, values + static_cast<size_t>(i) * sizeof stored, sizeof stored);
            out[i] = {heap_at_ + stored[0], static_cast<int64_t>(stored[1])};
        }
        vector.values = out;
    }
    row_ += count;
    return count;
}

}  // namespace loom::exec
