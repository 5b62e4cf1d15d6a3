#include "format/parquet/decode/value_decoder.h"

#include <random>

#include <gtest/gtest.h>

#include "format/parquet/test/bytes.h"

namespace loom::parquet {
namespace {

using column::BytesView;
using test::Bytes;

LeafType leaf_of(PhysicalType physical, int length = 0) {
    SchemaElement element;
    element.physical = static_cast<int32_t>(physical);
    element.type_length = length;
    return make_leaf_type(element);
}

template <typename T>
std::vector<T> decode_all(const LeafType& leaf, PageEncoding encoding, base::ByteSpan bytes,
                          int64_t count, int64_t step) {
    DecoderInput input;
    input.leaf = &leaf;
    input.encoding = encoding;
    input.bytes = bytes;
    auto decoder = make_value_decoder(input);
    base::Buffer out;
    out.resize(static_cast<uint64_t>(count) * sizeof(T));
    for (int64_t done = 0; done < count; done += step)
        decoder->decode(std::min(step, count - done),
                        out.data() + static_cast<size_t>(done) * sizeof(T));
    return {out.as<T>(), out.as<T>() + count};
}

std::vector<std::string> decode_texts(PageEncoding encoding, base::ByteSpan bytes, int64_t count,
                                      int64_t step) {
    const LeafType leaf = leaf_of(PhysicalType::kByteArray);
    DecoderInput input;
    input.leaf = &leaf;
    input.encoding = encoding;
    input.bytes = bytes;
    auto decoder = make_value_decoder(input);
    std::vector<std::string> texts;
    base::Buffer out;
    for (int64_t done = 0; done < count; done += step) {
        const int64_t part = std::min(step, count - done);
        out.resize_discarding(static_cast<uint64_t>(part) * sizeof(BytesView));
        decoder->decode(part, out.data());
        for (int64_t i = 0; i < part; ++i) texts.emplace_back(out.as<BytesView>()[i].text());
        decoder->forget();
    }
    return texts;
}

void expect_corrupt(PhysicalType physical, PageEncoding encoding, base::ByteSpan bytes,
                    int64_t count) {
    const LeafType leaf = leaf_of(physical, 3);
    DecoderInput input;
    input.leaf = &leaf;
    input.encoding = encoding;
    input.bytes = bytes;
    base::Buffer out;
    out.resize(static_cast<uint64_t>(count) * 16);
    try {
        make_value_decoder(input)->decode(count, out.data());
        ADD_FAILURE() << "no error";
    } catch (const base::Error& error) {
        EXPECT_EQ(error.kind(), base::ErrorKind::kCorrupt) << error.what();
    }
}

TEST(PlainDecoder, FixedWidths) {
    Bytes bytes;
    for (int i = 0; i < 10; ++i) bytes.raw(i * 100);
    const auto values = decode_all<int32_t>(leaf_of(PhysicalType::kInt32), PageEncoding::kPlain,
                                            bytes.span(), 10, 3);
    EXPECT_EQ(values[9], 900);
    expect_corrupt(PhysicalType::kInt32, PageEncoding::kPlain, bytes.span(), 11);
    expect_corrupt(PhysicalType::kInt96, PageEncoding::kPlain, bytes.span(), 4);
}

TEST(PlainDecoder, Texts) {
    Bytes bytes;
    bytes.raw(3U).text("abc").raw(0U).raw(2U).text("xy");
    EXPECT_EQ(decode_texts(PageEncoding::kPlain, bytes.span(), 3, 2),
              (std::vector<std::string>{"abc", "", "xy"}));
    expect_corrupt(PhysicalType::kByteArray, PageEncoding::kPlain, bytes.span(), 4);
    Bytes lying;
    lying.raw(0xFFFFFFFFU).text("abc");
    expect_corrupt(PhysicalType::kByteArray, PageEncoding::kPlain, lying.span(), 1);
    Bytes cut;
    cut.raw(3U).text("ab");
    expect_corrupt(PhysicalType::kByteArray, PageEncoding::kPlain, cut.span(), 1);
}

TEST(PlainDecoder, Booleans) {
    Bytes bytes{0b10110010, 0b1};
    const auto values = decode_all<uint8_t>(leaf_of(PhysicalType::kBoolean), PageEncoding::kPlain,
                                            bytes.span(), 9, 4);
    EXPECT_EQ(values, (std::vector<uint8_t>{0, 1, 0, 0, 1, 1, 0, 1, 1}));
    expect_corrupt(PhysicalType::kBoolean, PageEncoding::kPlain, bytes.span(), 17);
}

TEST(BooleanRleDecoder, Runs) {
    Bytes bytes;
    bytes.raw(4U).varint(5 << 1).put(0xFF).varint(1 << 1 | 1).put(0b101);
    const auto values = decode_all<uint8_t>(leaf_of(PhysicalType::kBoolean), PageEncoding::kRle,
                                            bytes.span(), 8, 3);
    EXPECT_EQ(values, (std::vector<uint8_t>{1, 1, 1, 1, 1, 1, 0, 1}));
    expect_corrupt(PhysicalType::kInt32, PageEncoding::kRle, bytes.span(), 1);
}

// Packs values as the format describes, with miniblocks of 32.
template <typename T>
Bytes delta_encode(const std::vector<T>& values, bool cut_padding = false) {
    using Unsigned = std::make_unsigned_t<T>;
    Bytes bytes;
    bytes.varint(128).varint(4).varint(values.size()).zigzag(values.empty() ? 0 : values[0]);
    for (size_t block = 1; block < values.size(); block += 128) {
        const size_t end = std::min(values.size(), block + 128);
        std::vector<Unsigned> deltas;
        T least = std::numeric_limits<T>::max();
        for (size_t i = block; i < end; ++i) {
            deltas.push_back(static_cast<Unsigned>(values[i]) - static_cast<Unsigned>(values[i - 1]));
            least = std::min(least, static_cast<T>(deltas.back()));
        }
        bytes.zigzag(least);
        std::vector<std::vector<uint64_t>> parts(4);
        std::vector<int> widths(4, 0);
        for (size_t i = 0; i < deltas.size(); ++i) {
            const auto rest = static_cast<Unsigned>(deltas[i] - static_cast<Unsigned>(least));
            parts[i / 32].push_back(rest);
            widths[i / 32] = std::max(widths[i / 32], static_cast<int>(std::bit_width(rest)));
        }
        for (const int width : widths) bytes.put(width);
        for (size_t m = 0; m < 4; ++m) {
            if (parts[m].empty()) continue;
            if (!cut_padding) parts[m].resize(32);
            bytes.packed(parts[m], widths[m]);
        }
    }
    return bytes;
}

TEST(DeltaBinaryDecoder, RandomAndExtremeValues) {
    std::mt19937_64 random(3);
    for (const size_t count : {0U, 1U, 2U, 33U, 129U, 130U, 1000U}) {
        std::vector<int64_t> values(count);
        for (auto& value : values) value = static_cast<int64_t>(random() >> (random() % 64));
        if (count > 2) {
            values[1] = std::numeric_limits<int64_t>::min();
            values[2] = std::numeric_limits<int64_t>::max();
        }
        for (const bool cut : {false, true}) {
            Bytes bytes = delta_encode(values, cut);
            EXPECT_EQ(decode_all<int64_t>(leaf_of(PhysicalType::kInt64), PageEncoding::kDeltaBinaryPacked,
                                          bytes.span(), static_cast<int64_t>(count), 7),
                      values);
        }
        std::vector<int32_t> narrow(values.begin(), values.end());
        Bytes bytes = delta_encode(narrow);
        EXPECT_EQ(decode_all<int32_t>(leaf_of(PhysicalType::kInt32), PageEncoding::kDeltaBinaryPacked,
                                      bytes.span(), static_cast<int64_t>(count), 100),
                  narrow);
        expect_corrupt(PhysicalType::kInt32, PageEncoding::kDeltaBinaryPacked, bytes.span(),
                       static_cast<int64_t>(count) + 1);
    }
}

TEST(DeltaBinaryDecoder, RefusesBadHeaders) {
    for (Bytes bytes : {Bytes{128, 1, 0, 10, 0}, Bytes{128, 1, 3, 10, 0}, Bytes{0, 1, 10, 0},
                        Bytes{0x80}, Bytes{128, 1, 4, 10, 0, 0, 40, 0, 0, 0}})
        expect_corrupt(PhysicalType::kInt32, PageEncoding::kDeltaBinaryPacked, bytes.span(), 5);
}

TEST(DeltaLengthDecoder, Texts) {
    Bytes bytes = delta_encode(std::vector<int32_t>{5, 0, 3});
    bytes.text("hello").text("abc");
    EXPECT_EQ(decode_texts(PageEncoding::kDeltaLengthByteArray, bytes.span(), 3, 2),
              (std::vector<std::string>{"hello", "", "abc"}));
    Bytes negative = delta_encode(std::vector<int32_t>{-5, 0, 3});
    expect_corrupt(PhysicalType::kByteArray, PageEncoding::kDeltaLengthByteArray, negative.span(), 1);
}

TEST(DeltaByteArrayDecoder, SharedPrefixes) {
    Bytes bytes = delta_encode(std::vector<int32_t>{0, 3, 5, 0});
    bytes.append(delta_encode(std::vector<int32_t>{4, 3, 0, 1})).text("axisiomb");
    const std::vector<std::string> expected{"axis", "axiiom", "axiio", "b"};
    EXPECT_EQ(decode_texts(PageEncoding::kDeltaByteArray, bytes.span(), 4, 4), expected);
    EXPECT_EQ(decode_texts(PageEncoding::kDeltaByteArray, bytes.span(), 4, 1), expected);
    Bytes lying = delta_encode(std::vector<int32_t>{1});
    lying.append(delta_encode(std::vector<int32_t>{1})).text("a");
    expect_corrupt(PhysicalType::kByteArray, PageEncoding::kDeltaByteArray, lying.span(), 1);
    // The same in a column of three bytes a value.
    Bytes fixed = delta_encode(std::vector<int32_t>{0, 2, 3});
    fixed.append(delta_encode(std::vector<int32_t>{3, 1, 0})).text("abcd");
    const LeafType leaf = leaf_of(PhysicalType::kFixedLenByteArray, 3);
    struct Three { char text[3]; };
    const auto values = decode_all<Three>(leaf, PageEncoding::kDeltaByteArray, fixed.span(), 3, 2);
    EXPECT_EQ(std::string(values[1].text, 3), "abd");
    EXPECT_EQ(std::string(values[2].text, 3), "abd");
}

template <typename T>
void check_split(PhysicalType physical) {
    std::mt19937_64 random(5);
    for (const int64_t count : {1, 15, 16, 17, 100, 1000}) {
        std::vector<T> values(static_cast<size_t>(count));
        for (auto& value : values) value = static_cast<T>(random());
        Bytes bytes;
        for (size_t k = 0; k < sizeof(T); ++k)
            for (const T value : values) bytes.put(static_cast<int>(value >> (8 * k) & 0xFF));
        for (const int64_t step : {1, 40, 1000})
            EXPECT_EQ(decode_all<T>(leaf_of(physical, sizeof(T)), PageEncoding::kByteStreamSplit,
                                    bytes.span(), count, step),
                      values);
    }
}

TEST(ByteStreamSplitDecoder, AllWidths) {
    check_split<uint32_t>(PhysicalType::kFloat);
    check_split<uint64_t>(PhysicalType::kDouble);
    check_split<uint16_t>(PhysicalType::kFixedLenByteArray);
    check_split<unsigned __int128>(PhysicalType::kFixedLenByteArray);
    Bytes odd{1, 2, 3, 4, 5};
    expect_corrupt(PhysicalType::kInt32, PageEncoding::kByteStreamSplit, odd.span(), 1);
    expect_corrupt(PhysicalType::kByteArray, PageEncoding::kByteStreamSplit, odd.span(), 1);
}

TEST(DictionaryDecoder, CodesAreChecked) {
    const LeafType leaf = leaf_of(PhysicalType::kInt32);
    const int32_t entries[] = {10, 20, 30};
    column::ColumnView dictionary;
    dictionary.values = entries;
    dictionary.length = 3;
    DecoderInput input;
    input.leaf = &leaf;
    input.encoding = PageEncoding::kRleDictionary;
    input.dictionary = &dictionary;
    Bytes bytes;
    bytes.put(2).varint(3 << 1).put(2).varint(2 << 1).put(3);
    input.bytes = bytes.span();
    base::Buffer out;
    out.resize(100);
    auto decoder = make_value_decoder(input);
    decoder->decode(3, out.data());
    EXPECT_EQ(out.as<int32_t>()[2], 30);
    EXPECT_THROW(decoder->decode(1, out.data()), base::Error);
    input.dictionary = nullptr;
    EXPECT_THROW(make_value_decoder(input), base::Error);
}

}  // namespace
}  // namespace loom::parquet
