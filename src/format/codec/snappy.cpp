// Snappy: libsnappy compresses, snappy_decode.h decompresses.

#include <snappy.h>

#include "format/codec/implementations.h"
#include "format/codec/snappy_decode.h"

namespace loom::codec {

void decompress_snappy(base::ByteSpan in, std::span<uint8_t> out) {
    if (!decode_snappy(in, out))
        base::corrupt("snappy data are damaged or do not give {} bytes", out.size());
}

void compress_snappy(base::ByteSpan in, base::Buffer& out) {
    out.resize_discarding(snappy::MaxCompressedLength(in.size()));
    size_t written = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(in.data()), in.size(),
                        reinterpret_cast<char*>(out.data()), &written);
    out.resize(written);
}

}  // namespace loom::codec
