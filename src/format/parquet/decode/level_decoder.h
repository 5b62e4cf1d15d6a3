#pragma once
// Definition and repetition levels of one page.

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "format/parquet/decode/hybrid_decoder.h"

namespace loom::parquet {

/// Decodes levels front to back. Raises kCorrupt for levels above the maximum and when they run
/// out.
class LevelDecoder {
  public:
    /// Gives levels of 0 without end: the column has none.
    LevelDecoder() = default;
    /// Takes levels from 0 to `max_level` (at most 255) in the hybrid encoding.
    static LevelDecoder rle(base::ByteSpan bytes, int max_level);
    /// Takes levels in the deprecated BIT_PACKED encoding: from the most significant bit on.
    static LevelDecoder bit_packed(base::ByteSpan bytes, int max_level);
    /// Returns the bytes that BIT_PACKED levels of `count` slots take.
    static uint64_t bit_packed_bytes(int64_t count, int max_level) noexcept;

    /// Writes `count` levels; simd::kUnpackSlack bytes behind them may be overwritten.
    void decode(int64_t count, uint8_t* out);
    /// For a maximum of 1: writes levels to bits[offset, + count), returns how many are 1.
    int64_t decode_bits(int64_t count, uint8_t* bits, int64_t offset);
    /// Returns true if the next `count` levels are the maximum, as far as that is easily seen.
    bool next_are_all_max(int64_t count);

  private:
    enum class Kind : uint8_t { kConstant, kRle, kBitPacked };

    void decode_bit_packed(int64_t count, uint8_t* out);

    Kind kind_ = Kind::kConstant;
    int max_level_ = 0;
    int width_ = 0;
    HybridDecoder hybrid_;
    base::ByteSpan packed_;
    uint64_t bit_ = 0;
};

}  // namespace loom::parquet
