#pragma once
// DELTA_BINARY_PACKED (Encodings.md): blocks of deltas, each in miniblocks of one bit width. Serves
// integers and the lengths of the byte array encodings.

#include <cstdint>

#include "base/buffer.h"
#include "base/bytes.h"

namespace loom::parquet {

/// Decodes front to back, one miniblock at a time. T is uint32_t or uint64_t; sums wrap, as the
/// format asks for. Raises kCorrupt where the bytes end early or the header makes no sense.
template <typename T>
class DeltaBinaryReader {
  public:
    /// Reads the header. `bytes` need base::kBufferSlack readable bytes behind them. No bytes at
    /// all mean no values.
    DeltaBinaryReader(base::ByteSpan bytes, base::MemoryBudget* budget);

    /// Returns how many values the header promises that were not taken yet.
    int64_t remaining() const noexcept { return total_ - taken_; }
    void decode(int64_t count, T* out);
    void skip(int64_t count);
    /// Returns how many bytes all blocks take. Call it before the first value is taken.
    uint64_t encoded_bytes() const;

  private:
    static constexpr int64_t kMaxMiniblock = 1 << 16;

    void next_miniblock();
    void read_block_header();
    uint64_t miniblock_bytes(int width) const noexcept {
        return static_cast<uint64_t>(per_miniblock_) * static_cast<uint64_t>(width) / 8;
    }

    base::ByteReader in_;
    int64_t block_values_ = 0;
    int64_t miniblocks_ = 0;
    int64_t per_miniblock_ = 0;
    int64_t total_ = 0;
    int64_t taken_ = 0;
    T value_ = 0;  // the last value taken, or the first before any was
    T min_delta_ = 0;
    base::ByteSpan widths_;
    int64_t next_width_ = 0;
    base::Buffer deltas_;  // of the current miniblock, min_delta_ not added
    int64_t delta_at_ = 0;
    int64_t delta_count_ = 0;
};

}  // namespace loom::parquet
