#pragma once
// The values of a page in the column's own type: decoding and conversion together.

#include <memory>

#include "format/parquet/decode/value_decoder.h"
#include "format/parquet/page/page.h"
#include "format/parquet/read/chunk_dictionary.h"

namespace loom::parquet {

/// Decodes the values of one page to slots of slot_width(leaf) bytes, front to back. Booleans are
/// bytes of 0 and 1. `leaf`, `dictionary` and `scratch` must outlive it; BytesViews point into the
/// page.
class SlotDecoder {
  public:
    SlotDecoder(const LeafType& leaf, const Page& page, const ChunkDictionary* dictionary,
                base::MemoryBudget* budget, base::Buffer& scratch);

    /// Returns the bytes of a slot: LeafType::logical_width, but 1 for booleans.
    static int32_t slot_width(const LeafType& leaf) noexcept;

    void decode(int64_t count, uint8_t* out);
    void gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out);
    void skip(int64_t count) { values_->skip(count); }
    /// As ValueDecoder::take_in_place; nullptr also where a conversion is needed.
    const uint8_t* take_in_place(int64_t count) {
        return converts_ ? nullptr : values_->take_in_place(count);
    }
    void forget() { values_->forget(); }

  private:
    const LeafType& leaf_;
    base::Buffer& scratch_;
    bool converts_;
    std::unique_ptr<ValueDecoder> values_;
};

}  // namespace loom::parquet
