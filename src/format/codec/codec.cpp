#include "format/codec/codec.h"

namespace loom::codec {

void decompress(Codec, base::ByteSpan, std::span<uint8_t>) {
    base::raise(base::ErrorKind::kUnsupported, "no codec yet");
}

}  // namespace loom::codec
