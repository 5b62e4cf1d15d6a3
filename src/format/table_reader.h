#pragma once
// What every file format offers to the engine and to the table layer: a schema, row groups, bounds
// for skipping, and columns opened one row group at a time, still encoded.
//
// Vocabulary: a "row group" is Parquet's row group or Arrow's record batch. A "column" is a
// top-level field of the schema, nested or not. Rows are numbered within their row group.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "base/stop_token.h"
#include "column/column_view.h"
#include "column/scalar.h"
#include "format/paged_column.h"
#include "io/file.h"

namespace loom::format {

/// Bounds of one column over some rows. Unknown members are kNone or -1.
struct ColumnStatistics {
    column::Scalar min;      ///< no non-NULL, non-NaN value is smaller
    column::Scalar max;      ///< no non-NULL, non-NaN value is larger
    bool min_exact = false;  ///< min is a value of the column
    bool max_exact = false;
    int64_t null_count = -1;
    int64_t nan_count = -1;  ///< floats: -1 means NaNs may be there
    int64_t distinct_count = -1;
};

/// Bounds of one page (or any other part smaller than a row group).
struct PageStatistics {
    int64_t first_row = 0;
    int64_t row_count = 0;
    ColumnStatistics statistics;
};

/// Rows [begin, end) of a row group.
struct RowRange {
    int64_t begin = 0;
    int64_t end = 0;
    bool operator==(const RowRange&) const = default;
};
/// Sorted, disjoint, non-empty ranges.
using RowRanges = std::vector<RowRange>;

/// Describes how one leaf column of a row group is stored, for inspection.
struct ChunkInfo {
    std::string path;       ///< dotted path of the leaf
    std::string type;       ///< physical and logical type, as the format names them
    std::string encodings;  ///< comma separated
    std::string codec;
    uint64_t offset = 0;
    uint64_t compressed_bytes = 0;
    uint64_t uncompressed_bytes = 0;
    int64_t values = 0;
    bool has_dictionary = false;
    bool has_page_index = false;
    bool has_bloom_filter = false;
};

/// How files are read. The pointers must outlive the reader; null means unlimited or never.
struct OpenOptions {
    base::MemoryBudget* budget = nullptr;
    const base::StopToken* stop = nullptr;
    bool verify_checksums = false;  ///< check page CRCs where a file has them
};

struct ReadOptions {
    /// Rows that will be asked for; others are not read from the file where the format allows it.
    /// Empty: all rows.
    RowRanges rows;
    /// Allow Encoding::kRuns in what read() returns (run-end encoded Arrow, RLE dictionary codes).
    bool keep_runs = false;
    /// Return plain values even where a dictionary is there.
    bool decode_dictionary = false;
};

/// What reading one column of one row group has cost so far.
struct ReadProfile {
    uint64_t bytes_read = 0;
    int64_t pages_read = 0;
    int64_t pages_skipped = 0;
    uint64_t decode_ns = 0;  ///< decompression and decoding, without I/O
};

/// Reads one column of one row group. Not thread safe; different readers are independent.
/// A view stays valid until the next read() or gather() of the same reader.
class ColumnReader {
  public:
    virtual ~ColumnReader() = default;

    /// Returns how read() encodes this row group's values: kPlain or kDictionary. The same for the
    /// whole row group, children excepted.
    virtual column::Encoding encoding() = 0;
    /// Returns the dictionary if encoding() is kDictionary. Lives as long as the reader.
    virtual const column::Dictionary* dictionary() = 0;
    /// Returns rows [row, row + count). Forward reading is cheap; going back may start over. Rows
    /// outside ReadOptions::rows must not be asked for (kBug). `count` at most kBatchRows.
    virtual column::ColumnView read(int64_t row, int64_t count) = 0;
    /// Returns rows row + selection[i] only. `selection` ascends, entries < count <= kBatchRows.
    virtual column::ColumnView gather(int64_t row, int64_t count,
                                      std::span<const uint16_t> selection) = 0;
    virtual ReadProfile profile() const = 0;
};

/// Where the rows of one column of one row group lie in the file as they are: little-endian and not
/// compressed. Ranges lie within the file as it was when it was opened, and are exactly as long as
/// the rows need.
struct RawColumn {
    enum class Shape : uint8_t {
        kBits,   ///< a bit a row, the first in the lowest
        kFixed,  ///< `width` bytes a row, a value of the column's type
        kCodes  ///< `width` bytes a row, which index the column's dictionary if the row has a value
    };
    Shape shape = Shape::kFixed;
    int width = 0;
    bool is_signed = false;  ///< kCodes
    FileRange values;
    FileRange validity;  ///< a bit a row that has a value; empty: all have one
};

/// An open data file. Thread safe after open: several threads may open columns of it at once.
/// Errors carry the file's path, the row group and the column.
class TableReader {
  public:
    virtual ~TableReader() = default;

    virtual io::File& file() const = 0;
    /// Returns "parquet" or "arrow".
    virtual std::string_view format_name() const = 0;
    virtual const column::Schema& schema() const = 0;
    virtual int64_t row_count() const = 0;
    virtual int64_t row_group_count() const = 0;
    virtual int64_t row_group_rows(int64_t row_group) const = 0;
    /// Returns the bytes that reading `column` of `row_group` whole takes from the file.
    virtual uint64_t column_bytes(int64_t row_group, int column) const = 0;

    /// Returns bounds of a column that is not nested; unknown where the file says nothing usable.
    virtual ColumnStatistics statistics(int64_t row_group, int column) const = 0;
    /// Returns bounds per page in row order, or nothing. May read the file's index.
    virtual std::vector<PageStatistics> page_statistics(int64_t row_group, int column) const = 0;
    /// Returns false only if a Bloom filter proves that `value` (in the domain of the column's
    /// type) is not in the row group. May read the filter.
    virtual bool may_contain(int64_t row_group, int column, const column::Scalar& value) const = 0;
    /// Returns metadata of the row group (Arrow: of its record batch message).
    virtual std::vector<column::KeyValue> row_group_metadata(int64_t row_group) const = 0;
    /// Describes the leaf columns of a row group.
    virtual std::vector<ChunkInfo> chunks(int64_t row_group) const = 0;

    /// Returns where a column's bytes lie, or nothing if they are not there as they are; also if
    /// something is wrong with them, which open_column() finds. Does not touch them.
    virtual std::optional<RawColumn> raw_column(int64_t row_group, int column) const {
        static_cast<void>(row_group);
        static_cast<void>(column);
        return std::nullopt;
    }

    /// Returns how a column lies in pages, or nothing if it does not, or if others than its reader
    /// cannot make its values of them; also if something is wrong with it, which open_column()
    /// finds. Does not touch the pages.
    virtual std::optional<PagedColumn> paged_column(int64_t row_group, int column) const {
        static_cast<void>(row_group);
        static_cast<void>(column);
        return std::nullopt;
    }
    /// Returns what finds the pages of a column for which paged_column() returns something. Must
    /// not outlive the reader.
    virtual std::unique_ptr<PageWalk> walk_pages(int64_t row_group, int column) const {
        static_cast<void>(row_group);
        static_cast<void>(column);
        return nullptr;
    }

    virtual std::unique_ptr<ColumnReader> open_column(int64_t row_group, int column,
                                                      const ReadOptions& options) const = 0;
};

/// Opens `file` with the reader that its first bytes ask for (Parquet, Arrow file, Arrow stream).
/// Raises kCorrupt if it is none of them.
std::unique_ptr<TableReader> open_table(std::shared_ptr<io::File> file, const OpenOptions& options);

}  // namespace loom::format
