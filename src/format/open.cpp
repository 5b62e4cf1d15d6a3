// Chooses the reader by the first bytes of a file.

#include <algorithm>
#include <cstring>

#include "format/arrow/reader.h"
#include "format/parquet/reader.h"
#include "format/table_reader.h"

namespace loom::format {

std::unique_ptr<TableReader> open_table(std::shared_ptr<io::File> file,
                                        const OpenOptions& options) {
    // The readers take `file` along; a failure must still be able to name it.
    const std::string path = file->path();
    return base::with_where(
        [&] { return fmt::format("file \"{}\"", path); },
        [&]() -> std::unique_ptr<TableReader> {
            uint8_t magic[8] = {};
            file->read_at(0, {magic, std::min<size_t>(file->size(), sizeof magic)});
            if (std::memcmp(magic, "PAR1", 4) == 0 || std::memcmp(magic, "PARE", 4) == 0)
                return parquet::open(std::move(file), options);
            if (arrow::looks_like_arrow({magic, sizeof magic}))
                return arrow::open(std::move(file), options);
            base::corrupt("neither a Parquet nor an Arrow file");
        });
}

}  // namespace loom::format
