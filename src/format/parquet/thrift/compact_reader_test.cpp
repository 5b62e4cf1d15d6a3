#include "format/parquet/thrift/compact_reader.h"

#include <deque>

#include <gtest/gtest.h>

#include "format/parquet/test/bytes.h"
#include "format/parquet/thrift/struct_layout.h"

namespace loom::parquet::thrift {
namespace {

using test::Bytes;

// { 1: i32 -3, 2: "hi", 4: true, 20: list<i64>[5, 6], 21: { 1: double } }
Bytes sample() {
    Bytes bytes;
    bytes.put(0x15).zigzag(-3);
    bytes.put(0x18).varint(2).text("hi");
    bytes.put(0x21);
    bytes.put(0x09).zigzag(20).put(0x26).zigzag(5).zigzag(6);
    bytes.put(0x1C).put(0x17).raw(1.5).put(0);
    return bytes.put(0);
}

TEST(CompactReader, ReadsFields) {
    Bytes bytes = sample();
    CompactReader in(bytes.span());
    int32_t number = 0;
    std::string text;
    bool flag = false;
    std::vector<int64_t> list;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, number);
            case 2:
                return in.get(type, text);
            case 4:
                return in.get(type, flag);
            case 20:
                return read_list(in, type, Type::kI64,
                                 [&](uint32_t) { list.push_back(in.zigzag()); });
            default:
                return false;
        }
    });
    EXPECT_EQ(number, -3);
    EXPECT_EQ(text, "hi");
    EXPECT_TRUE(flag);
    EXPECT_EQ(list, (std::vector<int64_t>{5, 6}));
    EXPECT_EQ(in.remaining(), 0U);
}

TEST(CompactReader, SkipsWhatItDoesNotKnow) {
    Bytes bytes = sample();
    const base::ByteSpan span = bytes.span();
    EXPECT_EQ(skip_struct(span.data(), span.data() + span.size(), 0), span.data() + span.size());
    CompactReader in(span);
    read_struct(in, [](int, Type) { return false; });
    EXPECT_EQ(in.remaining(), 0U);
}

TEST(CompactReader, RefusesEveryTruncation) {
    Bytes bytes = sample();
    const base::ByteSpan span = bytes.span();
    for (size_t size = 0; size < span.size(); ++size) {
        EXPECT_EQ(skip_struct(span.data(), span.data() + size, 0), nullptr) << size;
        CompactReader in(span.subspan(0, size));
        EXPECT_THROW(read_struct(in, [](int, Type) { return false; }), base::Error) << size;
    }
}

TEST(CompactReader, BoundsDepth) {
    Bytes bytes;
    for (int i = 0; i < 100; ++i) bytes.put(0x1C);
    for (int i = 0; i < 101; ++i) bytes.put(0);
    CompactReader in(bytes.span());
    EXPECT_THROW(in.skip(Type::kStruct), base::Error);
}

TEST(CompactReader, BoundsLists) {
    Bytes bytes;
    bytes.put(0xFC).varint(1000000).put(0);
    CompactReader in(bytes.span());
    EXPECT_THROW(in.list(), base::Error);
    Bytes long_number{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
    CompactReader other(long_number.span());
    EXPECT_THROW(other.varint(), base::Error);
}

TEST(LayoutCache, KnowsSameAndOtherLayouts) {
    auto make = [](int64_t number, std::string_view text) {
        Bytes bytes;
        bytes.put(0x16).zigzag(number).put(0x18).varint(text.size()).text(text);
        return bytes.put(0x19).put(0x15).zigzag(7).put(0);
    };
    LayoutCache cache;
    std::deque<Bytes> kept;  // the cache compares with structs it has seen
    for (const auto& [number, text] :
         std::vector<std::pair<int64_t, std::string>>{{1000, "abc"},
                                                      {2000, "xyz"},
                                                      {5, "abc"},
                                                      {1000, "longer text"},
                                                      {1001, "longer text"}}) {
        const base::ByteSpan span = kept.emplace_back(make(number, text)).span();
        const uint8_t* end = span.data() + span.size();
        EXPECT_EQ(cache.skip(0, span.data(), end), end);
        EXPECT_EQ(cache.skip(0, span.data(), end - 1), nullptr);
        EXPECT_EQ(cache.skip(0, span.data(), end), end);
    }
}

}  // namespace
}  // namespace loom::parquet::thrift
