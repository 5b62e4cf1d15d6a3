#pragma once
// What a table reader and its column readers share.

#include <memory>
#include <string>

#include <fmt/format.h>

#include "format/parquet/schema/footer.h"
#include "format/table_reader.h"

namespace loom::parquet {

/// An open file with its footer. Immutable after construction.
struct FileState {
    FileState(std::shared_ptr<io::File> open_file, const format::OpenOptions& open_options)
        : file(std::move(open_file)),
          options(open_options),
          shared_footer(Footer::of(*file, options.budget)),
          footer(*shared_footer) {}

    std::string where() const { return fmt::format("file \"{}\"", file->path()); }
    std::string where(int64_t row_group, int column) const {
        return fmt::format("file \"{}\", row group {}, column \"{}\"", file->path(), row_group,
                           footer.schema().schema.fields[static_cast<size_t>(column)].name);
    }
    std::string where_leaf(int64_t row_group, int leaf) const {
        return fmt::format("file \"{}\", row group {}, column \"{}\"", file->path(), row_group,
                           footer.schema().leaves[static_cast<size_t>(leaf)].path);
    }

    std::shared_ptr<io::File> file;
    format::OpenOptions options;
    std::shared_ptr<const Footer> shared_footer;  ///< also a note of the file
    const Footer& footer;
};

using FileStatePtr = std::shared_ptr<const FileState>;

}  // namespace loom::parquet
