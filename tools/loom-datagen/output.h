#pragma once
// Files that blocks are written to.

#include <memory>
#include <optional>
#include <string>

#include "base/stop_token.h"
#include "block.h"
#include "format/codec/codec.h"
#include "format/parquet/write/options.h"

namespace loom::datagen {

enum class FileFormat { kParquet, kArrow, kCsv };

/// What the command line says about the files.
struct OutputOptions {
    std::string directory = ".";
    FileFormat format = FileFormat::kParquet;
    std::optional<codec::Codec> codec;  ///< default: snappy for Parquet, none for Arrow
    int64_t row_group_rows = 0;         ///< 0: as the table says
    int64_t files = 1;
    std::string partition;  ///< column or derived key; empty: none
    int threads = 1;
    std::optional<parquet::ValueEncoding> encoding;  ///< for all columns that allow it
    bool dictionary = true;
    int page_version = 1;
    const base::StopToken* stop = nullptr;  ///< set to end early, with kCancelled
};

/// A block on its way to a file, with its text if the format is one of texts.
struct Prepared {
    Block block;
    std::string text;
};

/// One file being written. write() and finish() take turns; prepare() may run on several threads.
class OutputFile {
  public:
    virtual ~OutputFile() = default;
    /// Does the part of the work that needs no order.
    virtual void prepare(Prepared&) const {}
    virtual void write(Prepared& prepared) = 0;
    virtual void finish() = 0;
    virtual uint64_t bytes() const = 0;
};

/// Creates `path` for rows of `schema`. `threads` is what the file may use inside write().
std::unique_ptr<OutputFile> create_file(const std::string& path, const column::Schema& schema,
                                        const OutputOptions& options, int64_t row_group_rows,
                                        int threads);

/// Returns "parquet", "arrow" or "csv".
std::string_view extension(FileFormat format) noexcept;

}  // namespace loom::datagen
