// PLAIN_DICTIONARY and RLE_DICTIONARY where plain values are wanted: codes, then a look-up.

#include <algorithm>
#include <cstring>

#include "format/parquet/decode/value_decoder.h"
#include "simd/highest.h"

namespace loom::parquet {

namespace {

struct Sixteen {
    uint64_t low, high;
};

template <typename T>
void look_up(const uint8_t* values, const uint32_t* codes, int64_t count, uint8_t* out) noexcept {
    for (int64_t i = 0; i < count; ++i)
        base::store(out + i * sizeof(T), base::load<T>(values + codes[i] * sizeof(T)));
}

class DictionaryDecoder final : public ValueDecoder {
  public:
    DictionaryDecoder(HybridDecoder codes, const column::ColumnView& dictionary, int32_t width,
                      base::MemoryBudget* budget)
        : ValueDecoder(width), codes_(codes), dictionary_(dictionary), scratch_(budget) {}

    void decode(int64_t count, uint8_t* out) override {
        constexpr int64_t kPart = column::kBatchRows;
        for (int64_t done = 0; done < count; done += kPart) {
            const int64_t part = std::min(kPart, count - done);
            scratch_.resize_discarding(static_cast<uint64_t>(part) * sizeof(uint32_t));
            codes_.decode(part, scratch_.as<uint32_t>());
            translate(part, out + done * width());
        }
    }
    void skip(int64_t count) override { codes_.skip(count); }
    void gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out) override {
        scratch_.resize_discarding(selection.size() * sizeof(uint32_t));
        codes_.gather(count, selection, scratch_.as<uint32_t>());
        translate(static_cast<int64_t>(selection.size()), out);
    }

  private:
    void translate(int64_t count, uint8_t* out) {
        const uint32_t* codes = scratch_.as<uint32_t>();
        const uint32_t highest = simd::highest(codes, count);
        if (count > 0 && highest >= dictionary_.length)
            base::corrupt("code {} in a dictionary of {} values", highest, dictionary_.length);
        const auto* values = dictionary_.as<uint8_t>();
        switch (width()) {
            case 1:
                return look_up<uint8_t>(values, codes, count, out);
            case 2:
                return look_up<uint16_t>(values, codes, count, out);
            case 4:
                return look_up<uint32_t>(values, codes, count, out);
            case 8:
                return look_up<uint64_t>(values, codes, count, out);
            case 16:
                return look_up<Sixteen>(values, codes, count, out);
            default:
                break;
        }
        const auto bytes = static_cast<size_t>(width());
        if (bytes == 0) return;
        for (int64_t i = 0; i < count; ++i)
            std::memcpy(out + static_cast<size_t>(i) * bytes, values + codes[i] * bytes, bytes);
    }

    HybridDecoder codes_;
    const column::ColumnView& dictionary_;
    base::Buffer scratch_;
};

}  // namespace

HybridDecoder open_codes(base::ByteSpan bytes) {
    if (bytes.empty()) return HybridDecoder(bytes, 1);
    return HybridDecoder(bytes.subspan(1), bytes[0]);
}

std::unique_ptr<ValueDecoder> make_dictionary_decoder(const DecoderInput& input) {
    if (input.dictionary == nullptr) base::corrupt("dictionary codes without a dictionary");
    return std::make_unique<DictionaryDecoder>(open_codes(input.bytes), *input.dictionary,
                                               input.leaf->logical_width(), input.budget);
}

}  // namespace loom::parquet
