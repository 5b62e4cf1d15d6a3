#include "format/parquet/decode/hybrid_decoder.h"

#include <random>

#include <gtest/gtest.h>

#include "base/bitmap.h"
#include "format/parquet/decode/level_decoder.h"
#include "format/parquet/test/bytes.h"

namespace loom::parquet {
namespace {

using test::Bytes;

// Runs of both kinds with all lengths and positions, and the values they stand for.
struct Sample {
    Bytes bytes;
    std::vector<uint32_t> values;
};

Sample make_sample(int width, int runs) {
    std::mt19937 random(static_cast<uint32_t>(width));
    const uint64_t mask = width == 32 ? 0xFFFFFFFF : (uint64_t{1} << width) - 1;
    Sample sample;
    for (int run = 0; run < runs; ++run) {
        if (run % 3 == 0) {
            const uint32_t length = 1 + random() % 40;
            const auto value = static_cast<uint32_t>(random() & mask);
            sample.bytes.varint(length << 1);
            for (int b = 0; b < (width + 7) / 8; ++b)
                sample.bytes.put(static_cast<int>(value >> (8 * b) & 0xFF));
            sample.values.insert(sample.values.end(), length, value);
        } else {
            const uint32_t groups = 1 + random() % 9;
            std::vector<uint64_t> values(groups * 8);
            for (auto& value : values) value = random() & mask;
            sample.bytes.varint(groups << 1 | 1).packed(values, width);
            sample.values.insert(sample.values.end(), values.begin(), values.end());
        }
    }
    return sample;
}

template <typename T>
void check_decode(int width) {
    Sample sample = make_sample(width, 60);
    const base::ByteSpan span = sample.bytes.span();
    for (const int64_t step : {1, 3, 8, 100, 1000}) {
        HybridDecoder decoder(span, width);
        std::vector<uint32_t> seen;
        const auto total = static_cast<int64_t>(sample.values.size());
        for (int64_t done = 0; done < total; done += step) {
            const int64_t part = std::min(step, total - done);
            std::vector<T> out(static_cast<size_t>(part) + 64);
            decoder.decode(part, out.data());
            seen.insert(seen.end(), out.begin(), out.begin() + part);
        }
        EXPECT_EQ(seen, sample.values) << "width " << width << " step " << step;
    }
}

TEST(HybridDecoder, DecodesAllWidths) {
    for (int width = 1; width <= 8; ++width) check_decode<uint8_t>(width);
    for (int width = 1; width <= 16; ++width) check_decode<uint16_t>(width);
    for (int width = 1; width <= 32; ++width) check_decode<uint32_t>(width);
}

TEST(HybridDecoder, GathersAndSkips) {
    Sample sample = make_sample(11, 60);
    HybridDecoder decoder(sample.bytes.span(), 11);
    int64_t at = 0;
    for (const int64_t count : {50, 1, 200, 333}) {
        std::vector<uint16_t> selection;
        for (int64_t i = 2; i < count; i += 7) selection.push_back(static_cast<uint16_t>(i));
        std::vector<uint16_t> out(selection.size() + 64);
        decoder.gather(count, selection, out.data());
        for (size_t i = 0; i < selection.size(); ++i)
            EXPECT_EQ(out[i], sample.values[static_cast<size_t>(at) + selection[i]]);
        at += count;
        decoder.skip(5);
        at += 5;
    }
}

TEST(HybridDecoder, StreamsEnormousRuns) {
    Bytes bytes;
    bytes.varint(uint64_t{600'000'000'000'000} << 1).put(1);
    HybridDecoder decoder(bytes.span(), 1);
    EXPECT_TRUE(decoder.starts_with_run(1, 1'000'000'000));
    uint8_t out[100 + 64];
    decoder.decode(100, out);
    EXPECT_EQ(out[99], 1);
    decoder.skip(500'000'000'000'000);
}

TEST(HybridDecoder, RefusesWhatEndsEarly) {
    uint32_t out[400];
    Bytes empty;
    EXPECT_THROW(HybridDecoder(empty.span(), 3).decode(1, out), base::Error);
    EXPECT_THROW(HybridDecoder(empty.span(), 33), base::Error);
    Bytes cut;  // a run of 16 values of 4 bits with 3 bytes: 6 values are there
    cut.varint(2 << 1 | 1).packed({1, 2, 3, 4, 5, 6}, 4);
    HybridDecoder decoder(cut.span(), 4);
    decoder.decode(6, out);
    EXPECT_EQ(out[5], 6U);
    EXPECT_THROW(decoder.decode(1, out), base::Error);
    Bytes endless{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    EXPECT_THROW(HybridDecoder(endless.span(), 4).decode(1, out), base::Error);
}

TEST(HybridDecoder, WidthZeroIsZeros) {
    Bytes empty;
    HybridDecoder decoder(empty.span(), 0);
    uint8_t out[200];
    out[99] = 7;
    decoder.decode(100, out);
    EXPECT_EQ(out[99], 0);
}

TEST(LevelDecoder, BitsAndLevelsAgree) {
    Sample sample = make_sample(1, 90);
    LevelDecoder levels = LevelDecoder::rle(sample.bytes.span(), 1);
    const auto count = static_cast<int64_t>(sample.values.size());
    std::vector<uint8_t> bits(static_cast<size_t>(count) / 8 + 64);
    int64_t ones = levels.decode_bits(100, bits.data(), 3);
    ones += levels.decode_bits(count - 100, bits.data(), 103);
    for (int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(base::bit_at(bits.data(), 3 + i), sample.values[static_cast<size_t>(i)] == 1);
        ones -= sample.values[static_cast<size_t>(i)];
    }
    EXPECT_EQ(ones, 0);
}

TEST(LevelDecoder, BitPackedFromTheTop) {
    Bytes bytes{0b00'01'10'11, 0b11'00'00'00};
    LevelDecoder levels = LevelDecoder::bit_packed(bytes.span(), 3);
    uint8_t out[8 + 64];
    levels.decode(5, out);
    EXPECT_EQ(std::vector<uint8_t>(out, out + 5), (std::vector<uint8_t>{0, 1, 2, 3, 3}));
    EXPECT_THROW(levels.decode(4, out), base::Error);
    EXPECT_EQ(LevelDecoder::bit_packed_bytes(5, 3), 2U);
}

TEST(LevelDecoder, RefusesLevelsTooHigh) {
    Bytes bytes;
    bytes.varint(4 << 1).put(3);
    LevelDecoder levels = LevelDecoder::rle(bytes.span(), 2);
    uint8_t out[4 + 64];
    EXPECT_THROW(levels.decode(4, out), base::Error);
}

}  // namespace
}  // namespace loom::parquet
