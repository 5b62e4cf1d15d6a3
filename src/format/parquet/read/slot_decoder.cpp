#include "format/parquet/read/slot_decoder.h"

#include "format/parquet/decode/convert.h"

namespace loom::parquet {

namespace {

bool needs_conversion(const LeafType& leaf, PageEncoding encoding) noexcept {
    // A dictionary holds converted values already.
    return leaf.conversion != Conversion::kNone && leaf.conversion != Conversion::kBool &&
           !is_dictionary(encoding);
}

}  // namespace

SlotDecoder::SlotDecoder(const LeafType& leaf, const Page& page, const ChunkDictionary* dictionary,
                         base::MemoryBudget* budget, base::Buffer& scratch)
    : leaf_(leaf), scratch_(scratch), converts_(needs_conversion(leaf, page.header.encoding)) {
    DecoderInput input;
    input.leaf = &leaf;
    input.encoding = page.header.encoding;
    input.bytes = page.values;
    input.dictionary = dictionary != nullptr ? &dictionary->dictionary().values : nullptr;
    input.budget = budget;
    values_ = make_value_decoder(input);
}

int32_t SlotDecoder::slot_width(const LeafType& leaf) noexcept {
    return leaf.conversion == Conversion::kBool ? 1 : leaf.logical_width();
}

void SlotDecoder::decode(int64_t count, uint8_t* out) {
    if (!converts_) return values_->decode(count, out);
    scratch_.resize_discarding(static_cast<uint64_t>(count) *
                               static_cast<uint64_t>(leaf_.physical_width()));
    values_->decode(count, scratch_.data());
    convert_values(leaf_, scratch_.data(), count, out);
}

void SlotDecoder::gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out) {
    if (!converts_) return values_->gather(count, selection, out);
    scratch_.resize_discarding(selection.size() * static_cast<uint64_t>(leaf_.physical_width()));
    values_->gather(count, selection, scratch_.data());
    convert_values(leaf_, scratch_.data(), static_cast<int64_t>(selection.size()), out);
}

}  // namespace loom::parquet
