#include "format/arrow/reader.h"

namespace loom::arrow {

std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File>, const format::OpenOptions&) {
    base::raise(base::ErrorKind::kUnsupported, "no arrow reader yet");
}

}  // namespace loom::arrow

bool loom::arrow::looks_like_arrow(base::ByteSpan) noexcept { return false; }
