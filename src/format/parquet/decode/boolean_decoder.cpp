// RLE as an encoding of values: booleans only; four bytes of length, then hybrid runs of width 1.

#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

namespace {

class BooleanRleDecoder final : public ValueDecoder {
  public:
    explicit BooleanRleDecoder(base::ByteSpan runs) : ValueDecoder(1), runs_(runs, 1) {}

    void decode(int64_t count, uint8_t* out) override {
        runs_.decode(count, out);
        for (int64_t i = 0; i < count; ++i) out[i] &= 1;  // an RLE run's byte may hold anything
    }
    void skip(int64_t count) override { runs_.skip(count); }

  private:
    HybridDecoder runs_;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_boolean_rle_decoder(const DecoderInput& input) {
    if (input.leaf->physical != PhysicalType::kBoolean)
        base::corrupt("values of type {} with the encoding RLE", name(input.leaf->physical));
    if (input.bytes.empty()) return std::make_unique<BooleanRleDecoder>(input.bytes);
    base::ByteReader in(input.bytes);
    const auto length = in.read<uint32_t>("the length of boolean runs");
    return std::make_unique<BooleanRleDecoder>(in.take(length, "boolean runs"));
}

}  // namespace loom::parquet
