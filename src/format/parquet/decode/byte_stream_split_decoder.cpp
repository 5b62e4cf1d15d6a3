// BYTE_STREAM_SPLIT (Encodings.md): byte k of all values, for each k in turn.

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

namespace {

// Joins streams[k][i] to value i, byte k.
void join_any(const uint8_t* data, int64_t stride, int32_t width, int64_t begin, int64_t count,
              uint8_t* out) noexcept {
    for (int32_t k = 0; k < width; ++k) {
        const uint8_t* stream = data + k * stride;
        for (int64_t i = begin; i < count; ++i) out[i * width + k] = stream[i];
    }
}

#if defined(__SSE2__)
__m128i load_stream(const uint8_t* from) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
void store_values(uint8_t* to, __m128i value) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}

// 16 values at a time by interleaving; only whole groups of 16, so that no byte outside is touched.
// Returns how many values were joined.
int64_t join_2(const uint8_t* data, int64_t stride, int64_t count, uint8_t* out) noexcept {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m128i a = load_stream(data + i), b = load_stream(data + stride + i);
        store_values(out + i * 2, _mm_unpacklo_epi8(a, b));
        store_values(out + i * 2 + 16, _mm_unpackhi_epi8(a, b));
    }
    return i;
}

int64_t join_4(const uint8_t* data, int64_t stride, int64_t count, uint8_t* out) noexcept {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m128i s[4];
        for (int k = 0; k < 4; ++k) s[k] = load_stream(data + k * stride + i);
        const __m128i low01 = _mm_unpacklo_epi8(s[0], s[1]), high01 = _mm_unpackhi_epi8(s[0], s[1]);
        const __m128i low23 = _mm_unpacklo_epi8(s[2], s[3]), high23 = _mm_unpackhi_epi8(s[2], s[3]);
        store_values(out + i * 4, _mm_unpacklo_epi16(low01, low23));
        store_values(out + i * 4 + 16, _mm_unpackhi_epi16(low01, low23));
        store_values(out + i * 4 + 32, _mm_unpacklo_epi16(high01, high23));
        store_values(out + i * 4 + 48, _mm_unpackhi_epi16(high01, high23));
    }
    return i;
}

int64_t join_8(const uint8_t* data, int64_t stride, int64_t count, uint8_t* out) noexcept {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m128i pairs[2][4];  // bytes 2k and 2k + 1 of the lower and the upper eight values
        for (int k = 0; k < 4; ++k) {
            const __m128i a = load_stream(data + 2 * k * stride + i);
            const __m128i b = load_stream(data + (2 * k + 1) * stride + i);
            pairs[0][k] = _mm_unpacklo_epi8(a, b);
            pairs[1][k] = _mm_unpackhi_epi8(a, b);
        }
        for (int half = 0; half < 2; ++half) {
            const __m128i* p = pairs[half];
            const __m128i a = _mm_unpacklo_epi16(p[0], p[1]), b = _mm_unpackhi_epi16(p[0], p[1]);
            const __m128i c = _mm_unpacklo_epi16(p[2], p[3]), d = _mm_unpackhi_epi16(p[2], p[3]);
            uint8_t* to = out + i * 8 + half * 64;
            store_values(to, _mm_unpacklo_epi32(a, c));
            store_values(to + 16, _mm_unpackhi_epi32(a, c));
            store_values(to + 32, _mm_unpacklo_epi32(b, d));
            store_values(to + 48, _mm_unpackhi_epi32(b, d));
        }
    }
    return i;
}
#endif

void join(const uint8_t* data, int64_t stride, int32_t width, int64_t count,
          uint8_t* out) noexcept {
    int64_t begin = 0;
#if defined(__SSE2__)
    if (width == 2) begin = join_2(data, stride, count, out);
    if (width == 4) begin = join_4(data, stride, count, out);
    if (width == 8) begin = join_8(data, stride, count, out);
#endif
    join_any(data, stride, width, begin, count, out);
}

class ByteStreamSplitDecoder final : public ValueDecoder {
  public:
    ByteStreamSplitDecoder(base::ByteSpan bytes, int32_t width)
        : ValueDecoder(width),
          data_(bytes.data()),
          values_(width == 0 ? 0 : static_cast<int64_t>(bytes.size()) / width) {
        if (width != 0 && bytes.size() % static_cast<size_t>(width) != 0)
            base::corrupt("{} bytes of split values of {} bytes", bytes.size(), width);
    }

    void decode(int64_t count, uint8_t* out) override {
        const int64_t at = take(count);
        join(data_ + at, values_, width(), count, out);
    }
    void skip(int64_t count) override { take(count); }
    void gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out) override {
        const int64_t at = take(count);
        for (const uint16_t row : selection)
            for (int32_t k = 0; k < width(); ++k) *out++ = data_[at + row + k * values_];
    }

  private:
    int64_t take(int64_t count) {
        if (width() != 0 && count > values_ - position_)
            base::corrupt("{} values where {} split ones are left", count, values_ - position_);
        const int64_t at = position_;
        if (width() != 0) position_ += count;
        return at;
    }

    const uint8_t* data_;
    int64_t values_;
    int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_byte_stream_split_decoder(const DecoderInput& input) {
    switch (input.leaf->physical) {
        case PhysicalType::kInt32:
        case PhysicalType::kInt64:
        case PhysicalType::kFloat:
        case PhysicalType::kDouble:
        case PhysicalType::kFixedLenByteArray:
            return std::make_unique<ByteStreamSplitDecoder>(input.bytes,
                                                            input.leaf->physical_width());
        default:
            break;
    }
    base::corrupt("values of type {} with the encoding BYTE_STREAM_SPLIT",
                  name(input.leaf->physical));
}

}  // namespace loom::parquet
