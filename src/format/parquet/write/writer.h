#pragma once
// Writes Parquet files.

#include <memory>
#include <span>

#include "column/column_view.h"
#include "format/parquet/write/options.h"
#include "io/file.h"

namespace loom::parquet {

/// Writes one file, front to back. Holds one row group in memory. Not thread safe; with
/// WriterOptions::threads > 1 it uses threads of its own inside write() and finish().
///
/// Without finish() the file is incomplete, and a local file's sink removes it. After an error the
/// writer must not be used any more.
class Writer {
  public:
    /// Raises kUnsupported, naming the column, for a type that Parquet cannot express; kBadOption
    /// or kBadName for options that do not fit the schema.
    Writer(const column::Schema& schema, WriterOptions options, std::unique_ptr<io::Sink> sink);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Appends `rows` rows; columns[i] holds field i of the schema in any encoding, with at least
    /// `rows` rows. Any number of rows. Raises kValueRange for a value that the file's type cannot
    /// hold (e.g. an interval with nanoseconds), naming the column.
    void write(std::span<const column::ColumnView> columns, int64_t rows);
    /// Writes what is pending and the footer, and closes the sink.
    void finish();

    /// Returns the bytes handed to the sink so far.
    uint64_t bytes_written() const noexcept;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace loom::parquet
