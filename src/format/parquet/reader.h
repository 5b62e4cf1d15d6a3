#pragma once
// Opens Parquet files.

#include <memory>

#include "format/table_reader.h"

namespace loom::parquet {

/// Opens a Parquet file and parses its schema; row groups are decoded when asked for. Raises
/// kCorrupt, or kUnsupported for an encrypted file.
std::unique_ptr<format::TableReader> open(std::shared_ptr<io::File> file,
                                          const format::OpenOptions& options);

}  // namespace loom::parquet
