#include "format/parquet/decode/level_decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bitmap.h"
#include "simd/highest.h"

namespace loom::parquet {

namespace {

int width_of(int max_level) noexcept {
    return std::bit_width(static_cast<unsigned>(max_level));
}

void check_levels(const uint8_t* levels, int64_t count, int max_level) {
    const uint8_t highest = simd::highest(levels, count);
    if (highest > max_level)
        base::corrupt("a level of {} where {} is the highest", highest, max_level);
}

}  // namespace

LevelDecoder LevelDecoder::rle(base::ByteSpan bytes, int max_level) {
    LevelDecoder decoder;
    decoder.kind_ = Kind::kRle;
    decoder.max_level_ = max_level;
    decoder.width_ = width_of(max_level);
    decoder.hybrid_ = HybridDecoder(bytes, decoder.width_);
    return decoder;
}

LevelDecoder LevelDecoder::bit_packed(base::ByteSpan bytes, int max_level) {
    LevelDecoder decoder;
    decoder.kind_ = Kind::kBitPacked;
    decoder.max_level_ = max_level;
    decoder.width_ = width_of(max_level);
    decoder.packed_ = bytes;
    return decoder;
}

uint64_t LevelDecoder::bit_packed_bytes(int64_t count, int max_level) noexcept {
    return (static_cast<uint64_t>(count) * static_cast<uint64_t>(width_of(max_level)) + 7) / 8;
}

void LevelDecoder::decode_bit_packed(int64_t count, uint8_t* out) {
    if (bit_ + static_cast<uint64_t>(count) * static_cast<uint64_t>(width_) > packed_.size() * 8)
        base::corrupt("bit-packed levels end too early");
    for (int64_t i = 0; i < count; ++i) {
        unsigned level = 0;
        for (int b = 0; b < width_; ++b, ++bit_)
            level = level << 1 | (packed_[bit_ >> 3] >> (7 - (bit_ & 7)) & 1U);
        out[i] = static_cast<uint8_t>(level);
    }
}

void LevelDecoder::decode(int64_t count, uint8_t* out) {
    switch (kind_) {
        case Kind::kConstant:
            std::memset(out, 0, static_cast<size_t>(count));
            return;
        case Kind::kRle:
            hybrid_.decode(count, out);
            break;
        case Kind::kBitPacked:
            decode_bit_packed(count, out);
            break;
    }
    check_levels(out, count, max_level_);
}

int64_t LevelDecoder::decode_bits(int64_t count, uint8_t* bits, int64_t offset) {
    if (kind_ == Kind::kConstant) {
        base::fill_bits(bits, offset, count, false);
        return 0;
    }
    if (kind_ == Kind::kRle) return hybrid_.decode_bits(count, bits, offset);
    int64_t ones = 0;
    for (int64_t i = 0; i < count; ++i) {
        uint8_t level;
        decode_bit_packed(1, &level);
        base::put_bit(bits, offset + i, level != 0);
        ones += level;
    }
    return ones;
}

bool LevelDecoder::next_are_all_max(int64_t count) {
    if (kind_ == Kind::kConstant) return true;  // the highest level is 0
    return kind_ == Kind::kRle && hybrid_.starts_with_run(static_cast<uint32_t>(max_level_), count);
}

}  // namespace loom::parquet
