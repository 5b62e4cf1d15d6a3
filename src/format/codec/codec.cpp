#include "format/codec/codec.h"

#include <cstring>

#include "format/codec/implementations.h"

namespace loom::codec {

namespace {

struct CodecName {
    std::string_view name;
    Codec codec;
};

// The first name of a codec is the one that name() gives.
constexpr CodecName kNames[] = {
    {"uncompressed", Codec::kNone},    {"snappy", Codec::kSnappy},      {"gzip", Codec::kGzip},
    {"brotli", Codec::kBrotli},        {"zstd", Codec::kZstd},          {"lz4_raw", Codec::kLz4Raw},
    {"lz4_hadoop", Codec::kLz4Hadoop}, {"lz4_frame", Codec::kLz4Frame}, {"none", Codec::kNone},
    {"lz4", Codec::kLz4Raw},
};

void copy_stored(base::ByteSpan in, std::span<uint8_t> out) {
    if (in.size() != out.size())
        base::corrupt("stored data take {} bytes instead of {}", in.size(), out.size());
    std::memcpy(out.data(), in.data(), in.size());
}

}  // namespace

void decompress(Codec codec, base::ByteSpan in, std::span<uint8_t> out) {
    // An empty block may be written as no bytes at all, whatever the codec.
    if (out.empty() && in.empty()) return;
    uint8_t nothing[1 + kDecompressSlack];
    if (out.data() == nullptr) out = {nothing, 0};
    switch (codec) {
        case Codec::kNone:
            return copy_stored(in, out);
        case Codec::kSnappy:
            return decompress_snappy(in, out);
        case Codec::kGzip:
            return decompress_gzip(in, out);
        case Codec::kBrotli:
            return decompress_brotli(in, out);
        case Codec::kZstd:
            return decompress_zstd(in, out);
        case Codec::kLz4Raw:
            return decompress_lz4_raw(in, out);
        case Codec::kLz4Hadoop:
            return decompress_lz4_hadoop(in, out);
        case Codec::kLz4Frame:
            return decompress_lz4_frame(in, out);
    }
    base::raise(base::ErrorKind::kBug, "codec {} does not exist", static_cast<int>(codec));
}

void compress(Codec codec, base::ByteSpan in, int level, base::Buffer& out) {
    switch (codec) {
        case Codec::kNone:
            out.resize_discarding(in.size());
            if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
            return;
        case Codec::kSnappy:
            return compress_snappy(in, out);
        case Codec::kGzip:
            return compress_gzip(in, level, out);
        case Codec::kBrotli:
            return compress_brotli(in, level, out);
        case Codec::kZstd:
            return compress_zstd(in, level, out);
        case Codec::kLz4Raw:
            return compress_lz4_raw(in, level, out);
        case Codec::kLz4Hadoop:
            return compress_lz4_hadoop(in, level, out);
        case Codec::kLz4Frame:
            return compress_lz4_frame(in, level, out);
    }
    base::raise(base::ErrorKind::kBug, "codec {} does not exist", static_cast<int>(codec));
}

std::string_view name(Codec codec) noexcept {
    for (const CodecName& entry : kNames)
        if (entry.codec == codec) return entry.name;
    return "unknown";
}

Codec parse_codec(std::string_view text) {
    for (const CodecName& entry : kNames)
        if (entry.name == text) return entry.codec;
    base::raise(base::ErrorKind::kBadOption, "unknown compression codec \"{}\"", text);
}

void check_level(std::string_view codec, int level, int highest) {
    if (level < 0 || level > highest)
        base::raise(base::ErrorKind::kBadOption, "compression level {} of {} is outside 0 to {}",
                    level, codec, highest);
}

}  // namespace loom::codec
