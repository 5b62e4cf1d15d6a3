// DELTA_BINARY_PACKED for INT32 and INT64.

#include "format/parquet/decode/delta_binary_reader.h"
#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

namespace {

template <typename T>
class DeltaBinaryDecoder final : public ValueDecoder {
  public:
    DeltaBinaryDecoder(base::ByteSpan bytes, base::MemoryBudget* budget)
        : ValueDecoder(sizeof(T)), reader_(bytes, budget) {}

    void decode(int64_t count, uint8_t* out) override {
        reader_.decode(count, reinterpret_cast<T*>(out));
    }
    void skip(int64_t count) override { reader_.skip(count); }

  private:
    DeltaBinaryReader<T> reader_;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_delta_binary_decoder(const DecoderInput& input) {
    if (input.leaf->physical == PhysicalType::kInt32)
        return std::make_unique<DeltaBinaryDecoder<uint32_t>>(input.bytes, input.budget);
    if (input.leaf->physical == PhysicalType::kInt64)
        return std::make_unique<DeltaBinaryDecoder<uint64_t>>(input.bytes, input.budget);
    base::corrupt("values of type {} with the encoding DELTA_BINARY_PACKED",
                  name(input.leaf->physical));
}

}  // namespace loom::parquet
