// DELTA_LENGTH_BYTE_ARRAY.

#include <algorithm>

#include "format/parquet/decode/delta_length_reader.h"
#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

DeltaLengthReader::DeltaLengthReader(base::ByteSpan bytes, base::MemoryBudget* budget)
    : lengths_(bytes, budget), data_(bytes.subspan(lengths_.encoded_bytes())) {}

void DeltaLengthReader::decode(int64_t count, column::BytesView* out) {
    constexpr int64_t kPart = 256;
    uint32_t lengths[kPart];
    while (count > 0) {
        const int64_t part = std::min(count, kPart);
        lengths_.decode(part, lengths);
        for (int64_t i = 0; i < part; ++i) {
            if (lengths[i] > data_.size())
                base::corrupt("a value of {} bytes where {} are left",
                              static_cast<int32_t>(lengths[i]), data_.size());
            *out++ = {data_.data(), lengths[i]};
            data_ = data_.subspan(lengths[i]);
        }
        count -= part;
    }
}

void DeltaLengthReader::skip(int64_t count) {
    constexpr int64_t kPart = 256;
    column::BytesView unwanted[kPart];
    for (; count > 0; count -= kPart) decode(std::min(count, kPart), unwanted);
}

namespace {

class DeltaLengthDecoder final : public ValueDecoder {
  public:
    DeltaLengthDecoder(base::ByteSpan bytes, base::MemoryBudget* budget)
        : ValueDecoder(sizeof(column::BytesView)), reader_(bytes, budget) {}

    void decode(int64_t count, uint8_t* out) override {
        reader_.decode(count, reinterpret_cast<column::BytesView*>(out));
    }
    void skip(int64_t count) override { reader_.skip(count); }

  private:
    DeltaLengthReader reader_;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_delta_length_decoder(const DecoderInput& input) {
    if (input.leaf->physical != PhysicalType::kByteArray)
        base::corrupt("values of type {} with the encoding DELTA_LENGTH_BYTE_ARRAY",
                      name(input.leaf->physical));
    return std::make_unique<DeltaLengthDecoder>(input.bytes, input.budget);
}

}  // namespace loom::parquet
