#include "format/parquet/page/page.h"

namespace loom::parquet {

namespace {

LevelDecoder take_levels_v1(base::ByteReader& in, PageEncoding encoding, int64_t slots,
                            int max_level) {
    if (max_level == 0) return LevelDecoder();
    if (encoding == PageEncoding::kBitPacked)
        return LevelDecoder::bit_packed(
            in.take(LevelDecoder::bit_packed_bytes(slots, max_level), "the bit-packed levels"),
            max_level);
    if (encoding != PageEncoding::kRle)
        base::raise(base::ErrorKind::kUnsupported, "levels with the encoding {} are not supported",
                    name(encoding));
    if (slots == 0 && in.at_end()) return LevelDecoder();
    const auto length = in.read<uint32_t>("the length of levels");
    return LevelDecoder::rle(in.take(length, "the levels"), max_level);
}

// How many bytes one compressed byte can become at most; 0 if there is no useful bound.
uint64_t max_expansion(codec::Codec codec) noexcept {
    switch (codec) {
        case codec::Codec::kSnappy:
            return 32;  // 64 bytes from a 3-byte copy
        case codec::Codec::kGzip:
            return 1100;  // 258 bytes from 2 bits
        case codec::Codec::kLz4Raw:
        case codec::Codec::kLz4Hadoop:
        case codec::Codec::kLz4Frame:
            return 256;  // 255 per length byte
        default:
            return 0;
    }
}

}  // namespace

void split_page_v1(base::ByteSpan bytes, MaxLevels levels, Page& page) {
    const PageHeader& header = page.header;
    base::ByteReader in(bytes);
    page.repetition =
        take_levels_v1(in, header.repetition_encoding, header.value_count, levels.repetition);
    page.definition =
        take_levels_v1(in, header.definition_encoding, header.value_count, levels.definition);
    page.values = bytes.subspan(in.position());
}

void split_page_v2(base::ByteSpan bytes, MaxLevels levels, Page& page) {
    const PageHeader& header = page.header;
    base::ByteReader in(bytes);
    const base::ByteSpan repetition =
        in.take(static_cast<uint64_t>(header.repetition_bytes), "the repetition levels");
    const base::ByteSpan definition =
        in.take(static_cast<uint64_t>(header.definition_bytes), "the definition levels");
    page.repetition =
        levels.repetition == 0 ? LevelDecoder() : LevelDecoder::rle(repetition, levels.repetition);
    if (levels.definition == 0)
        page.definition = LevelDecoder();
    else  // also with a null_count of 0: there are files where it is wrong
        page.definition = LevelDecoder::rle(definition, levels.definition);
    page.values = bytes.subspan(in.position());
}

void check_expansion(codec::Codec codec, uint64_t compressed, uint64_t uncompressed) {
    const uint64_t factor = max_expansion(codec);
    if (factor != 0 && uncompressed > (compressed + 64) * factor)
        base::corrupt("{} bytes of {} can't become a page of {} bytes", compressed,
                      codec::name(codec), uncompressed);
}

}  // namespace loom::parquet
