#include "format/codec/codec.h"

#include <gtest/gtest.h>
#include <snappy.h>

#include <random>
#include <string>

#include "format/codec/snappy_decode.h"

namespace loom::codec {
namespace {

using base::Buffer;
using base::ByteSpan;

constexpr Codec kAllCodecs[] = {Codec::kNone, Codec::kSnappy, Codec::kGzip,      Codec::kBrotli,
                                Codec::kZstd, Codec::kLz4Raw, Codec::kLz4Hadoop, Codec::kLz4Frame};

// Copies bytes to a buffer, so that decoders find their slack.
Buffer to_buffer(std::string_view bytes) {
    Buffer buffer;
    buffer.resize(bytes.size());
    if (!bytes.empty()) std::memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
}

std::string random_bytes(std::mt19937& random, size_t size) {
    std::string bytes(size, 0);
    for (char& byte : bytes) byte = static_cast<char>(random());
    return bytes;
}

std::string periodic(size_t size, size_t period) {
    std::string bytes(size, 0);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i % period);
    return bytes;
}

// Data with literals, near and far copies of all lengths.
std::string compressible(std::mt19937& random, size_t size) {
    std::string bytes;
    while (bytes.size() < size) {
        const size_t length = 1 + random() % (random() % 8 == 0 ? 300 : 20);
        if (bytes.empty() || random() % 3 == 0) {
            bytes += random_bytes(random, length);
        } else {
            const size_t reach =
                std::min<size_t>(bytes.size(), 1 + random() % (1U << (random() % 17)));
            for (size_t i = 0; i < length; ++i) bytes += bytes[bytes.size() - reach];
        }
    }
    bytes.resize(size);
    return bytes;
}

void expect_round_trip(Codec codec, const std::string& bytes) {
    SCOPED_TRACE(fmt::format("{} {} bytes", name(codec), bytes.size()));
    Buffer packed;
    compress(codec, base::as_bytes(bytes), 0, packed);
    Buffer plain;
    plain.resize(bytes.size());
    decompress(codec, packed.span(), {plain.data(), plain.size()});
    EXPECT_EQ(base::as_text(plain.span()), bytes);
    // Another length than the true one must not pass.
    plain.resize(bytes.size() + 1);
    EXPECT_THROW(decompress(codec, packed.span(), {plain.data(), bytes.size() + 1}), base::Error);
    if (!bytes.empty()) {
        EXPECT_THROW(decompress(codec, packed.span(), {plain.data(), bytes.size() - 1}),
                     base::Error);
    }
}

TEST(Codec, RoundTripsSizes) {
    std::mt19937 random(1);
    for (Codec codec : kAllCodecs)
        for (size_t size : {0, 1, 2, 3, 31, 32, 33, 59, 60, 61, 64, 65, 255, 256, 257, 65535, 65536,
                            65537, 300000}) {
            expect_round_trip(codec, random_bytes(random, size));
            expect_round_trip(codec, compressible(random, size));
            expect_round_trip(codec, std::string(size, 'x'));
        }
}

TEST(Codec, RoundTripsPeriods) {
    for (Codec codec : kAllCodecs)
        for (size_t period = 1; period <= 40; ++period)
            for (size_t size : {100, 1000, 70000}) expect_round_trip(codec, periodic(size, period));
}

TEST(Codec, RoundTripsLevels) {
    std::mt19937 random(2);
    const std::string bytes = compressible(random, 50000);
    for (Codec codec :
         {Codec::kGzip, Codec::kBrotli, Codec::kZstd, Codec::kLz4Raw, Codec::kLz4Frame})
        for (int level : {1, 9}) {
            Buffer packed, plain;
            compress(codec, base::as_bytes(bytes), level, packed);
            plain.resize(bytes.size());
            decompress(codec, packed.span(), {plain.data(), plain.size()});
            EXPECT_EQ(base::as_text(plain.span()), bytes) << name(codec);
        }
    Buffer packed;
    EXPECT_THROW(compress(Codec::kZstd, base::as_bytes(bytes), 1000, packed), base::Error);
    EXPECT_THROW(compress(Codec::kGzip, base::as_bytes(bytes), -1, packed), base::Error);
}

TEST(Codec, SurvivesDamage) {
    std::mt19937 random(3);
    const std::string bytes = compressible(random, 4000);
    for (Codec codec : kAllCodecs) {
        Buffer packed;
        compress(codec, base::as_bytes(bytes), 0, packed);
        const std::string good(base::as_text(packed.span()));
        Buffer plain;
        plain.resize(bytes.size());
        for (int i = 0; i < 3000; ++i) {
            std::string bad = good;
            if (i % 4 == 0) bad.resize(random() % bad.size());
            for (int flips = i % 3; flips >= 0 && !bad.empty(); --flips)
                bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
            Buffer in = to_buffer(bad);
            try {
                decompress(codec, in.span(), {plain.data(), plain.size()});
            } catch (const base::Error& error) {
                EXPECT_EQ(error.kind(), base::ErrorKind::kCorrupt);
            }
        }
        EXPECT_THROW(
            decompress(codec, packed.span().first(packed.size() / 2), {plain.data(), plain.size()}),
            base::Error);
    }
}

TEST(Codec, ReadsSeveralGzipMembersAndZlib) {
    Buffer first, second;
    compress(Codec::kGzip, base::as_bytes("hello "), 0, first);
    compress(Codec::kGzip, base::as_bytes("world"), 0, second);
    std::string joined(base::as_text(first.span()));
    joined += base::as_text(second.span());
    Buffer in = to_buffer(joined), plain;
    plain.resize(11);
    decompress(Codec::kGzip, in.span(), {plain.data(), 11});
    EXPECT_EQ(base::as_text(plain.span()), "hello world");
    // zlib stream of "abc"
    const char zlib[] = "\x78\x9c\x4b\x4c\x4a\x06\x00\x02\x4d\x01\x27";
    in = to_buffer({zlib, sizeof zlib - 1});
    decompress(Codec::kGzip, in.span(), {plain.data(), 3});
    EXPECT_EQ(base::as_text(plain.span().first(3)), "abc");
}

TEST(Codec, ReadsEveryKindOfParquetLz4) {
    std::mt19937 random(4);
    const std::string bytes = compressible(random, 10000);
    Buffer plain;
    plain.resize(bytes.size());
    for (Codec written : {Codec::kLz4Hadoop, Codec::kLz4Raw, Codec::kLz4Frame}) {
        Buffer packed;
        compress(written, base::as_bytes(bytes), 0, packed);
        decompress(Codec::kLz4Hadoop, packed.span(), {plain.data(), plain.size()});
        EXPECT_EQ(base::as_text(plain.span()), bytes) << name(written);
    }
    // Two Hadoop blocks, as a writer with a small buffer makes them.
    std::string two;
    for (auto part :
         {std::string_view(bytes).substr(0, 4000), std::string_view(bytes).substr(4000)}) {
        Buffer packed;
        compress(Codec::kLz4Hadoop, base::as_bytes(part), 0, packed);
        two += base::as_text(packed.span());
    }
    Buffer in = to_buffer(two);
    decompress(Codec::kLz4Hadoop, in.span(), {plain.data(), plain.size()});
    EXPECT_EQ(base::as_text(plain.span()), bytes);
}

TEST(Codec, Names) {
    for (Codec codec : kAllCodecs) EXPECT_EQ(parse_codec(name(codec)), codec);
    EXPECT_EQ(parse_codec("none"), Codec::kNone);
    EXPECT_EQ(parse_codec("lz4"), Codec::kLz4Raw);
    EXPECT_THROW(parse_codec("lzo"), base::Error);
}

// Runs every kernel and libsnappy on one input; all must agree.
void expect_same_as_libsnappy(const std::string& packed, size_t size) {
    const bool length_fits = [&] {
        size_t length = 0;
        return snappy::GetUncompressedLength(packed.data(), packed.size(), &length) &&
               length == size;
    }();
    std::string expected(size, 0);
    const bool valid =
        length_fits && snappy::RawUncompress(packed.data(), packed.size(), expected.data());
    Buffer in = to_buffer(packed);
    for (const SnappyKernel& kernel : snappy_kernels()) {
        Buffer out;
        out.resize(size + kDecompressSlack);
        const bool ours = kernel.decode(in.span(), {out.data(), size});
        ASSERT_EQ(ours, valid) << kernel.name;
        if (valid) {
            ASSERT_EQ(base::as_text(out.span().first(size)), expected) << kernel.name;
        }
    }
}

TEST(Snappy, AgreesWithLibsnappyOnGoodData) {
    std::mt19937 random(5);
    for (int i = 0; i < 400; ++i) {
        const std::string bytes = compressible(random, random() % 20000);
        std::string packed;
        snappy::Compress(bytes.data(), bytes.size(), &packed);
        expect_same_as_libsnappy(packed, bytes.size());
    }
}

TEST(Snappy, AgreesWithLibsnappyOnBadData) {
    std::mt19937 random(6);
    for (int i = 0; i < 20000; ++i) {
        const std::string bytes = compressible(random, random() % 300);
        std::string packed;
        snappy::Compress(bytes.data(), bytes.size(), &packed);
        if (random() % 4 == 0)
            packed = packed.substr(0, 1 + random() % 2) + random_bytes(random, 40);
        if (random() % 2 == 0) packed.resize(random() % (packed.size() + 1));
        if (!packed.empty()) packed[random() % packed.size()] = static_cast<char>(random());
        size_t size = 0;
        if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &size) || size > 100000)
            size = bytes.size();
        expect_same_as_libsnappy(packed, size);
    }
}

// Elements as a compressor would not write them: any kind behind any other, near and far, cut off
// anywhere.
TEST(Snappy, AgreesWithLibsnappyOnRandomElements) {
    std::mt19937 random(11);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    for (int round = 0; round < 3000; ++round) {
        std::string packed;
        uint32_t size = 0;
        const uint32_t longest = round % 3 == 0 ? 60 : 8;
        for (uint32_t count = 1 + below(40); count != 0; --count) {
            const uint32_t kind = size == 0 ? 0 : below(3);
            const uint32_t bad = below(500) == 0 ? below(3) : 0;
            uint32_t length = kind == 1 ? 4 + below(8) : 1 + below(kind == 0 ? longest : 64);
            const uint32_t reach = std::min(size, below(2) == 0 ? 40U : 2000U);
            uint32_t offset = kind == 0 ? 0 : 1 + below(reach);
            if (bad == 1) offset = 0;
            if (bad == 2) offset = size + 1;
            if (kind == 0) {
                packed += static_cast<char>((length - 1) << 2);
                for (uint32_t i = 0; i < length; ++i) packed += static_cast<char>(random());
            } else if (kind == 1) {
                packed += static_cast<char>(1 | (length - 4) << 2 | (offset >> 8 & 7) << 5);
                packed += static_cast<char>(offset);
            } else {
                packed += static_cast<char>(2 | (length - 1) << 2);
                packed += static_cast<char>(offset);
                packed += static_cast<char>(offset >> 8);
            }
            size += length;
        }
        std::string head;
        for (uint32_t rest = size; head.empty() || rest != 0; rest >>= 7)
            head += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
        expect_same_as_libsnappy(head + packed, size);
        packed.resize(below(static_cast<uint32_t>(packed.size())));
        expect_same_as_libsnappy(head + packed, size);
    }
}

// A literal of 2^32 bytes is one of none, as libsnappy had it before 1.3, which refuses it.
TEST(Snappy, ReadsLiteralOf4GibibytesAsNone) {
    for (const SnappyKernel& kernel : snappy_kernels()) {
        Buffer out;
        out.resize(1 + kDecompressSlack);
        const Buffer none = to_buffer(std::string("\x00\xfc\xff\xff\xff\xff", 6));
        EXPECT_TRUE(kernel.decode(none.span(), {out.data(), 0})) << kernel.name;
        const Buffer one = to_buffer(std::string("\x01\xfc\xff\xff\xff\xff\x00\x61", 8));
        ASSERT_TRUE(kernel.decode(one.span(), {out.data(), 1})) << kernel.name;
        EXPECT_EQ(out.data()[0], 'a') << kernel.name;
    }
    expect_same_as_libsnappy(std::string("\x01\xfc\xff\xff\xff", 5), 1);
}

TEST(Snappy, DecodesEveryOffsetAndLength) {
    std::mt19937 random(7);
    const std::string head = random_bytes(random, 60);
    for (uint32_t offset = 1; offset <= 60; ++offset)
        for (uint32_t length = 1; length <= 64; ++length) {
            std::string packed;
            packed += static_cast<char>(60 + length);  // total, one byte below 128
            packed += static_cast<char>(59 << 2);      // literal of 60
            packed += head;
            packed += static_cast<char>(((length - 1) << 2) | 2);
            packed += static_cast<char>(offset);
            packed += '\0';
            if (60 + length < 128) expect_same_as_libsnappy(packed, 60 + length);
        }
}

}  // namespace
}  // namespace loom::codec
