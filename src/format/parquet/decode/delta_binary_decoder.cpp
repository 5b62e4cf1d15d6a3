#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

std::unique_ptr<ValueDecoder> make_delta_binary_decoder(const DecoderInput&) {
    base::raise(base::ErrorKind::kUnsupported, "not yet");
}

}  // namespace loom::parquet
