#pragma once
// Finds schema, record batches and dictionary batches of an Arrow file or stream.

#include <vector>

#include "base/stop_token.h"
#include "format/arrow/batch_header.h"
#include "format/arrow/layout.h"
#include "format/arrow/source.h"

namespace loom::arrow {

/// One dictionary batch, in file order.
struct DictionaryPlace {
    int64_t id = 0;
    bool is_delta = false;
    MessagePlace place;
};

/// One record batch.
struct BatchPlace {
    MessagePlace place;
    int64_t rows = 0;
    /// Dictionary batches [0, dictionaries_seen) come before this batch. In a file: all of them.
    size_t dictionaries_seen = 0;
};

/// What opening a file finds out. Bodies are not touched.
struct Container {
    FileSchema schema;
    std::vector<BatchPlace> batches;
    std::vector<DictionaryPlace> dictionaries;
    bool is_stream = false;
};

/// Returns whether the first 8 bytes may begin an Arrow file, an Arrow stream or a Feather V1 file.
bool looks_like_container(base::ByteSpan first_bytes) noexcept;

/// Reads the footer of a file, or walks the messages of a stream.
Container read_container(const Source& source, const base::StopToken* stop);

}  // namespace loom::arrow
