// PLAIN: values back to back (Encodings.md, "Plain").

#include <cstring>

#include "base/bitmap.h"
#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

namespace {

// Values of a fixed width; those of no bytes at all (fixed binaries of length 0) never run out.
class PlainFixedDecoder final : public ValueDecoder {
  public:
    PlainFixedDecoder(base::ByteSpan bytes, int32_t width)
        : ValueDecoder(width), bytes_(bytes), each_(static_cast<size_t>(width)) {}

    void decode(int64_t count, uint8_t* out) override {
        const uint8_t* from = take(count);
        const size_t size = static_cast<size_t>(count) * each_;
        if (size != 0) std::memcpy(out, from, size);
    }
    void skip(int64_t count) override { take(count); }
    const uint8_t* take_in_place(int64_t count) override { return take(count); }
    void gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out) override {
        pick_slots(take(count), width(), selection, out);
    }

  private:
    const uint8_t* take(int64_t count) {
        const uint8_t* from = bytes_.data();
        if (each_ == 0) return from;
        if (static_cast<uint64_t>(count) > bytes_.size() / each_)
            base::corrupt("{} values of {} bytes in {} bytes of a page", count, each_,
                          bytes_.size());
        bytes_ = bytes_.subspan(static_cast<size_t>(count) * each_);
        return from;
    }

    base::ByteSpan bytes_;
    size_t each_;
};

// Four bytes of length, then the value.
class PlainBytesDecoder final : public ValueDecoder {
  public:
    explicit PlainBytesDecoder(base::ByteSpan bytes)
        : ValueDecoder(sizeof(column::BytesView)),
          cursor_(bytes.data()),
          end_(bytes.data() + bytes.size()) {}

    void decode(int64_t count, uint8_t* out) override {
        auto* views = reinterpret_cast<column::BytesView*>(out);
        for (int64_t i = 0; i < count; ++i) views[i] = next();
    }
    void skip(int64_t count) override {
        for (int64_t i = 0; i < count; ++i) next();
    }
    void gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out) override {
        auto* views = reinterpret_cast<column::BytesView*>(out);
        int64_t at = 0;
        for (const uint16_t wanted : selection) {
            for (; at < wanted; ++at) next();
            *views++ = next();
            ++at;
        }
        skip(count - at);
    }

  private:
    // The length is loaded before the check that its four bytes are there: within the slack, as the
    // cursor never passes the end.
    column::BytesView next() {
        const uint32_t length = base::load<uint32_t>(cursor_);
        const int64_t left = end_ - cursor_ - 4;
        if (left < static_cast<int64_t>(length))
            base::corrupt("a value of {} bytes in {} bytes of a page", length, end_ - cursor_);
        const column::BytesView value{cursor_ + 4, length};
        cursor_ += 4 + static_cast<int64_t>(length);
        return value;
    }

    const uint8_t* cursor_;
    const uint8_t* end_;
};

// One bit a value, as bytes 0 and 1.
class PlainBooleanDecoder final : public ValueDecoder {
  public:
    explicit PlainBooleanDecoder(base::ByteSpan bytes) : ValueDecoder(1), bytes_(bytes) {}

    void decode(int64_t count, uint8_t* out) override {
        check(count);
        int64_t done = 0;
        for (; done < count && ((position_ + done) & 7) != 0; ++done)
            out[done] = base::bit_at(bytes_.data(), position_ + done) ? 1 : 0;
        if (done < count)
            simd::unpack(bytes_.data() + (position_ + done) / 8, 1, count - done, out + done);
        position_ += count;
    }
    void skip(int64_t count) override {
        check(count);
        position_ += count;
    }

  private:
    void check(int64_t count) const {
        if (count > static_cast<int64_t>(bytes_.size() * 8) - position_)
            base::corrupt("{} booleans beyond the {} bytes of a page", count, bytes_.size());
    }

    base::ByteSpan bytes_;
    int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_plain_decoder(const DecoderInput& input) {
    switch (input.leaf->physical) {
        case PhysicalType::kBoolean:
            return std::make_unique<PlainBooleanDecoder>(input.bytes);
        case PhysicalType::kByteArray:
            return std::make_unique<PlainBytesDecoder>(input.bytes);
        default:
            return std::make_unique<PlainFixedDecoder>(input.bytes, input.leaf->physical_width());
    }
}

}  // namespace loom::parquet
