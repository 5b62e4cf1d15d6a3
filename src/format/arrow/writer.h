#pragma once
// Writes Arrow IPC files and streams.

#include <memory>
#include <span>
#include <vector>

#include "column/column_view.h"
#include "format/codec/codec.h"
#include "io/file.h"

namespace loom::arrow {

struct WriterOptions {
    bool stream = false;                       ///< the stream format instead of the file format
    int64_t record_batch_rows = 262'144;       ///< rows of a full record batch, 1 to 2^31 - 1
    codec::Codec codec = codec::Codec::kNone;  ///< kNone, kLz4Frame or kZstd
    int codec_level = 0;                       ///< 0: the codec's default
    /// Bounds of each record batch in the metadata, in both forms that PG-Strom reads (the old one
    /// only in files: it has to be known before the schema is written).
    bool statistics = true;
    std::vector<column::KeyValue> metadata;  ///< added to the schema's own
};

/// Writes one file. Fields are laid out as Field::storage and dictionary_index_width say. Buffers
/// are aligned to 64 bytes, also within the file, and bitmaps without NULLs are left out. Memory:
/// one record batch and the distinct values of dictionaries. Not thread safe.
///
/// Errors: kBadOption for options that make no sense, kLimit for a dictionary whose indices are too
/// narrow or 32-bit offsets that overflow, kIo from the sink. After an error the file is not
/// usable.
class Writer {
  public:
    Writer(const column::Schema& schema, WriterOptions options, std::unique_ptr<io::Sink> sink);
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer();

    /// Appends `rows` rows: one view per field of the schema, in its order and of its type, in any
    /// encoding. Views need to live during the call only.
    void write(std::span<const column::ColumnView> columns, int64_t rows);
    /// Writes what is left, and the footer, and closes the sink. Must be called once at the end; a
    /// file without it is incomplete.
    void finish();

    int64_t rows_written() const noexcept;

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace loom::arrow
