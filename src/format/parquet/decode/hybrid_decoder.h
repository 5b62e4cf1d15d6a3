#pragma once
// The RLE / bit-packed hybrid of Parquet's Encodings.md, "RLE": levels, dictionary codes, booleans.

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "simd/bit_unpack.h"

namespace loom::parquet {

/// Decodes hybrid runs front to back, keeping only a cursor: a run of 10^14 values costs nothing
/// until its values are asked for. Every call raises kCorrupt if the bytes end before the values
/// do.
///
/// The bytes need base::kBufferSlack readable bytes behind them. Outputs need simd::kUnpackSlack
/// writable bytes behind out[count]. A last bit-packed run may be cut short: old writers do that.
class HybridDecoder {
  public:
    HybridDecoder() = default;
    /// Takes values of `width` bits, 0 to 32 (kCorrupt beyond). Width 0 means zeros without end.
    HybridDecoder(base::ByteSpan bytes, int width);

    int width() const noexcept { return width_; }

    /// Decodes `count` values. T must hold `width` bits.
    template <typename T>
    void decode(int64_t count, T* out);
    /// Moves past `count` values, decoding those that `selection` (ascending, below count) names.
    template <typename T>
    void gather(int64_t count, std::span<const uint16_t> selection, T* out);
    void skip(int64_t count);
    /// For width 1: writes `count` values to bits[offset, + count) and returns how many are 1.
    int64_t decode_bits(int64_t count, uint8_t* bits, int64_t offset);

    /// Returns whether the values from here on begin with at least `count` times `value` in one
    /// run.
    bool starts_with_run(uint32_t value, int64_t count);
    /// If an RLE run is next, returns how many of its values are left and sets `value`, else 0.
    int64_t peek_run(uint32_t& value);

  private:
    void next_run();
    void need_run() {
        if (left_ == 0) next_run();
    }
    template <typename T>
    void unpack_part(int64_t count, T* out);
    uint32_t packed_value(int64_t index) const noexcept;

    const uint8_t* cursor_ = nullptr;  // behind the header and bytes of the current run
    const uint8_t* end_ = nullptr;
    const uint8_t* packed_ = nullptr;  // bytes of a bit-packed run; nullptr: an RLE run
    int64_t position_ = 0;             // values of a bit-packed run already taken
    int64_t left_ = 0;                 // values of the run still to come
    uint32_t value_ = 0;               // RLE
    int width_ = 0;
    const simd::UnpackKernels* kernels_ = nullptr;
};

}  // namespace loom::parquet
