#pragma once
// One page, decompressed and cut into levels and values.

#include <memory>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "format/parquet/decode/level_decoder.h"
#include "format/parquet/schema/metadata.h"

namespace loom::parquet {

/// A page's parts lie in `owner`, with base::kBufferSlack readable bytes behind it.
struct Page {
    PageHeader header;
    LevelDecoder repetition;
    LevelDecoder definition;
    base::ByteSpan values;
    std::shared_ptr<base::Buffer> owner;
};

/// The highest levels of a column.
struct MaxLevels {
    int definition = 0;
    int repetition = 0;
};

/// Cuts the decompressed bytes of a v1 data page.
void split_page_v1(base::ByteSpan bytes, MaxLevels levels, Page& page);
/// Cuts a v2 data page: `bytes` begins with its uncompressed levels.
void split_page_v2(base::ByteSpan bytes, MaxLevels levels, Page& page);

/// Raises kCorrupt if so many bytes cannot become as many: keeps a header from asking for gigabytes
/// that its few bytes can't fill.
void check_expansion(codec::Codec codec, uint64_t compressed, uint64_t uncompressed);

}  // namespace loom::parquet
