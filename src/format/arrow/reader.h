#pragma once
// Opens Arrow IPC files and streams.

#include <memory>

#include "format/table_reader.h"

namespace loom::arrow {

/// Returns whether a file that begins with these 8 bytes may be an Arrow file or stream.
bool looks_like_arrow(base::ByteSpan first_bytes) noexcept;

/// Opens an Arrow IPC file or stream: parses schema and record batch headers, maps the bodies.
std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File> file,
                                          const format::OpenOptions& options);

}  // namespace loom::arrow
