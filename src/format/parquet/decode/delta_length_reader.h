#pragma once
// DELTA_LENGTH_BYTE_ARRAY (Encodings.md): all lengths, delta encoded, then all bytes.

#include "base/buffer.h"
#include "base/bytes.h"
#include "column/column_view.h"
#include "format/parquet/decode/delta_binary_reader.h"

namespace loom::parquet {

/// Decodes byte arrays as views into the page.
class DeltaLengthReader {
  public:
    DeltaLengthReader(base::ByteSpan bytes, base::MemoryBudget* budget);

    void decode(int64_t count, column::BytesView* out);
    void skip(int64_t count);

  private:
    DeltaBinaryReader<uint32_t> lengths_;
    base::ByteSpan data_;
};

}  // namespace loom::parquet
