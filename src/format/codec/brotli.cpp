// Brotli by the reference library.

#include <brotli/decode.h>
#include <brotli/encode.h>

#include "format/codec/implementations.h"

namespace loom::codec {

void decompress_brotli(base::ByteSpan in, std::span<uint8_t> out) {
    size_t written = out.size();
    const BrotliDecoderResult result =
        BrotliDecoderDecompress(in.size(), in.data(), &written, out.data());
    if (result != BROTLI_DECODER_RESULT_SUCCESS || written != out.size())
        base::corrupt("brotli data are damaged or do not give {} bytes", out.size());
}

void compress_brotli(base::ByteSpan in, int level, base::Buffer& out) {
    check_level("brotli", level, BROTLI_MAX_QUALITY);
    // The library's default of 11 is 50 times slower than 5 for a few percent of size.
    const int quality = level == 0 ? 5 : level;
    size_t written = BrotliEncoderMaxCompressedSize(in.size());
    if (written == 0)
        base::raise(base::ErrorKind::kLimit, "{} bytes are too many for brotli", in.size());
    out.resize_discarding(written);
    if (BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, in.size(),
                              in.data(), &written, out.data()) != BROTLI_TRUE)
        base::raise(base::ErrorKind::kBug, "brotli compression failed");
    out.resize(written);
}

}  // namespace loom::codec
