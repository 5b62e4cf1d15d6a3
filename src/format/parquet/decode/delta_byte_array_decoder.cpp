#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

std::unique_ptr<ValueDecoder> make_delta_byte_array_decoder(const DecoderInput&) {
    base::raise(base::ErrorKind::kUnsupported, "not yet");
}

}  // namespace loom::parquet
