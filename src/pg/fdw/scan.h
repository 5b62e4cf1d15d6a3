#pragma once
// Reads the rows of a foreign table: files, row groups and batches, as datums.

#include "pg/compat/backend.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "format/prune.h"
#include "pg/fdw/prune_qual.h"
#include "pg/fdw/table_def.h"
#include "pg/types/converter.h"

namespace loom::pg {

/// What a scan did, for EXPLAIN. Workers add theirs to the leader's.
struct ScanCounters {
    int64_t files = 0;          ///< files of the table
    int64_t files_skipped = 0;  ///< by path keys
    int64_t files_read = 0;     ///< files of which data were read
    int64_t row_groups = 0;     ///< row groups of the files not skipped
    int64_t row_groups_read = 0;
    int64_t row_groups_skipped = 0;
    int64_t pages_read = 0;
    int64_t pages_skipped = 0;
    int64_t bytes_read = 0;  ///< data bytes, without metadata
    int64_t decode_ns = 0;
};

/// Claims row groups, alone or together with other processes: file index in the upper half, row
/// group in the lower.
using MorselCounter = std::atomic<uint64_t>;

/// One scan node's state in one process. C++ object; dies with its memory context.
class FileScan {
  public:
    /// `referenced` holds the attribute numbers (from 1) whose values are needed. `context` is
    /// where datums and converters live; it must outlive the scan.
    FileScan(TableDef def, std::vector<AttrNumber> referenced, std::vector<PruneQual> quals,
             MemoryContext context);

    /// Sets the values of conditions and starts again from the first row.
    void restart(std::vector<QualValue> values);

    /// Returns the files, listing them on first use; set_files() replaces the list.
    const std::vector<io::SourceFile>& files();
    /// Returns whether the files are known; they are not in a scan that was never started.
    bool listed() const noexcept { return listed_; }
    void set_files(std::vector<io::SourceFile> files);
    /// Opens all files now, so that they keep the version they have, as far as descriptors allow.
    void open_all();
    /// Tells how a worker opens file `index`: through descriptor `fd` of process `pid` if fd >= 0,
    /// else by path, expecting `identity`.
    struct SharedVersion {
        int pid = 0;
        int fd = -1;
        io::FileIdentity identity;
    };
    void set_shared_versions(std::vector<SharedVersion> versions);
    std::vector<SharedVersion> shared_versions();

    void use_counter(MorselCounter* shared) { counter_ = shared; }

    /// Decides whether a file's path keys exclude it; called with the file's virtual columns filled
    /// in.
    using FileFilter = bool (*)(void* arg, const Datum* values, const bool* nulls);
    void set_file_filter(FileFilter filter, void* arg) {
        file_filter_ = filter;
        file_filter_arg_ = arg;
    }

    /// Loads the next rows. Returns how many (0: the end); value(c)[i], null(c)[i] then hold row i
    /// of referenced column c.
    int64_t next_batch();
    const Datum* values(size_t column) const { return columns_[column].values; }
    const bool* nulls(size_t column) const { return columns_[column].nulls; }
    const std::vector<AttrNumber>& referenced() const { return referenced_; }

    /// Goes through all files and row groups without reading data, filling the counters.
    void plan_only();
    /// Sums the rows of all row groups of all files (metadata only).
    int64_t count_rows();

    /// Reads rows [range) of one row group of one file only; then next_batch() ends. For sampling.
    void restrict_to(size_t file, int64_t row_group, format::RowRange range);
    int64_t row_groups_of(size_t file);
    int64_t rows_of(size_t file, int64_t row_group);

    const ScanCounters& counters();
    const TableDef& def() const { return def_; }
    const std::vector<PruneQual>& quals() const { return quals_; }
    /// Row groups that each qual excluded.
    const std::vector<int64_t>& excluded_by() const { return excluded_by_; }
    const std::vector<int64_t>& column_bytes();
    const std::vector<int64_t>& file_bytes();

  private:
    struct Column {
        AttrNumber attribute = 0;
        const ColumnDef* def = nullptr;
        Datum* values = nullptr;
        bool* nulls = nullptr;
        // per file
        int field = -1;
        Converter* converter = nullptr;
        bool constant = false;
        Datum constant_value = 0;
        bool constant_null = true;
        std::string split_list;  ///< kMetadataSplit
        // per row group
        std::unique_ptr<format::ColumnReader> reader;
    };

    format::TableReader& table(size_t file);
    bool skipped_by_path(size_t file);
    void enter_file(size_t file);
    void bind_field_column(Column& column, const column::Schema& schema);
    void bind_virtual_column(Column& column, const std::optional<std::string>& value);
    bool enter_row_group(int64_t row_group);
    bool claim(size_t* file, int64_t* row_group);
    void leave_row_group();
    void load(int64_t row, int64_t count);

    // First of all members: readers and their buffers give memory back to it when they die.
    std::unique_ptr<base::MemoryBudget> budget_;
    TableDef def_;
    std::vector<AttrNumber> referenced_;
    std::vector<PruneQual> quals_;
    std::vector<QualValue> values_;
    MemoryContext context_;
    MemoryContext file_context_;
    MemoryContext batch_context_;
    int64_t batch_rows_;

    bool listed_ = false;
    std::vector<io::SourceFile> files_;
    std::vector<std::unique_ptr<format::TableReader>> tables_;
    std::vector<io::FileIdentity> identities_;  ///< of files opened before, even if closed since
    std::vector<SharedVersion> shared_versions_;
    size_t open_tables_ = 0;

    std::vector<Column> columns_;
    std::vector<format::PruneCondition> conditions_;
    std::vector<size_t> condition_quals_;
    FileFilter file_filter_ = nullptr;
    void* file_filter_arg_ = nullptr;

    MorselCounter own_counter_{0};
    MorselCounter* counter_ = &own_counter_;
    static constexpr size_t kNoFile = static_cast<size_t>(-1);
    size_t current_file_ = kNoFile;
    int64_t current_row_group_ = -1;
    format::RowRanges ranges_;
    size_t range_ = 0;
    int64_t position_ = 0;
    bool restricted_ = false;

    ScanCounters counters_;
    std::vector<int64_t> excluded_by_;
    std::vector<int64_t> column_bytes_;
    std::vector<int64_t> file_bytes_;
};

/// Writes a file list into bytes for shared memory, and back.
std::string serialise(const std::vector<io::SourceFile>& files);
std::vector<io::SourceFile> deserialise_files(const char* bytes, size_t size);

}  // namespace loom::pg
