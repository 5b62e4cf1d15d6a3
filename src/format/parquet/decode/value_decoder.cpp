#include "format/parquet/decode/value_decoder.h"

#include <cstring>

namespace loom::parquet {

namespace {

template <typename T>
void pick(const uint8_t* from, std::span<const uint16_t> selection, uint8_t* to) noexcept {
    for (size_t i = 0; i < selection.size(); ++i)
        base::store(to + i * sizeof(T), base::load<T>(from + selection[i] * sizeof(T)));
}

struct Sixteen {
    uint64_t low, high;
};

}  // namespace

void pick_slots(const uint8_t* from, int32_t width, std::span<const uint16_t> selection,
                uint8_t* to) noexcept {
    switch (width) {
        case 1:
            return pick<uint8_t>(from, selection, to);
        case 2:
            return pick<uint16_t>(from, selection, to);
        case 4:
            return pick<uint32_t>(from, selection, to);
        case 8:
            return pick<uint64_t>(from, selection, to);
        case 16:
            return pick<Sixteen>(from, selection, to);
        default:
            break;
    }
    const auto bytes = static_cast<size_t>(width);
    for (size_t i = 0; i < selection.size(); ++i)
        std::memcpy(to + i * bytes, from + selection[i] * bytes, bytes);
}

void ValueDecoder::gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out) {
    temporary_.resize_discarding(static_cast<uint64_t>(count) * static_cast<uint64_t>(width_));
    decode(count, temporary_.data());
    pick_slots(temporary_.data(), width_, selection, out);
}

std::unique_ptr<ValueDecoder> make_value_decoder(const DecoderInput& input) {
    switch (input.encoding) {
        case PageEncoding::kPlain:
            return make_plain_decoder(input);
        case PageEncoding::kPlainDictionary:
        case PageEncoding::kRleDictionary:
            return make_dictionary_decoder(input);
        case PageEncoding::kRle:
            return make_boolean_rle_decoder(input);
        case PageEncoding::kDeltaBinaryPacked:
            return make_delta_binary_decoder(input);
        case PageEncoding::kDeltaLengthByteArray:
            return make_delta_length_decoder(input);
        case PageEncoding::kDeltaByteArray:
            return make_delta_byte_array_decoder(input);
        case PageEncoding::kByteStreamSplit:
            return make_byte_stream_split_decoder(input);
        case PageEncoding::kBitPacked:
        case PageEncoding::kOther:
            break;
    }
    base::raise(base::ErrorKind::kUnsupported, "values with the encoding {} are not supported",
                name(input.encoding));
}

}  // namespace loom::parquet
