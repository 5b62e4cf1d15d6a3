#include "format/parquet/reader.h"

namespace loom::parquet {

std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File>, const format::OpenOptions&) {
    base::raise(base::ErrorKind::kUnsupported, "no parquet reader yet");
}

}  // namespace loom::parquet
