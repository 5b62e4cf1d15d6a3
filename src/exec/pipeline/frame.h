#pragma once
// The rows in flight of one worker: their selection and the slots computed so far.

#include <memory>
#include <vector>

#include "exec/mask.h"
#include "exec/pipeline/pipeline.h"
#include "exec/scan/load.h"
#include "exec/scan/load_nested.h"

namespace loom::exec {

/// Opens and reads the columns of the row group that a worker scans.
class ScanCursor {
  public:
    ScanCursor(const TableSource& table, const std::vector<plan::Type>& types,
               base::MemoryBudget* budget);

    /// Moves to a row group; columns are opened when first asked for.
    void enter(int file, int64_t row_group, const format::RowRanges& ranges, bool partial);
    Vector read(int column, int64_t row, int64_t count);
    Vector gather(int column, int64_t row, int64_t count, std::span<const uint16_t> selection);
    /// Closes the row group's columns and adds up what reading them cost.
    void leave();
    /// Raises if a mapped file was cut short under the reader.
    void check_file() const;

    int64_t bytes_read = 0;
    std::vector<int64_t> column_bytes;

  private:
    struct Column {
        std::unique_ptr<format::ColumnReader> reader;
        std::unique_ptr<Loader> loader;
        std::unique_ptr<NestedLoader> nested;  ///< instead of `loader`
        int loader_file = -1;
        base::Buffer constant;
    };
    Vector constant(int column, int64_t count);
    format::ColumnReader& open(int column);
    Vector load(int column, const column::ColumnView& view);

    const TableSource& table_;
    const std::vector<plan::Type>& types_;
    base::MemoryBudget* budget_;
    int file_ = -1;
    int64_t row_group_ = -1;
    format::RowRanges ranges_;
    std::vector<Column> columns_;
};

/// Rows of a pipeline between two steps.
class Frame {
  public:
    Frame(const Pipeline& pipeline, base::MemoryBudget* budget);

    const Pipeline& pipeline() const noexcept { return pipeline_; }
    int64_t length() const noexcept { return length_; }

    /// Starts with rows [row, row + count) of what `cursor` is at.
    void start_scan(ScanCursor* cursor, int64_t row, int64_t count);
    /// Starts with `count` rows of the source's columns (kStored).
    void start_rows(const Vector* columns, int64_t count);
    /// Starts with rows of `parent`: row i is its row positions[i], and row_slot holds `rows`.
    /// Slots that steps from `step` on need are taken over now.
    void start_match(Frame& parent, const uint16_t* positions, const int32_t* rows, int64_t count,
                     int row_slot, int step);

    /// Returns slot `slot` for the current rows, computing it if need be. Valid until narrow() or
    /// the next start.
    const Vector& fetch(int slot);
    void fetch_all(const std::vector<int>& slots) {
        for (const int slot : slots) fetch(slot);
    }
    /// All slots' vectors; those fetched are valid.
    std::span<const Vector> vectors() const noexcept { return vectors_; }
    /// Makes room for a kBuildRow slot's rows, for the caller to fill.
    int32_t* write_rows(int slot);
    /// Sets the kMark slot of `join`: bit i of `matched` says whether row i has a match. `keys` are
    /// the probe side's.
    void write_marks(const Join& join, std::span<const Vector> keys, const uint64_t* matched);

    /// Keeps the rows whose bits are set (`kept` of them). Slots not needed after step `step` are
    /// dropped.
    void narrow(const uint64_t* mask, int64_t kept, int step);
    /// Keeps the first `count` rows.
    void truncate(int64_t begin, int64_t count, int step);

    Evaluator& evaluator(const Expression& expression);
    ProbeScratch& probe(int join) { return *probes_[join]; }

  private:
    struct Own {
        base::Buffer values;
        base::Buffer validity;
        // Within narrow(): gathered from elsewhere already.
        bool taken_values = false;
        bool taken_validity = false;
    };
    void compute(int slot);
    void keep_rows(int slot, const uint16_t* positions, int64_t kept, bool in_place);

    const Pipeline& pipeline_;
    base::MemoryBudget* budget_;
    int64_t length_ = 0;
    std::vector<Vector> vectors_;
    std::vector<uint8_t> present_;
    std::vector<Own> own_;
    std::vector<std::unique_ptr<Evaluator>> evaluators_;  ///< by slot
    std::vector<std::pair<const Expression*, std::unique_ptr<Evaluator>>> step_evaluators_;
    std::vector<std::unique_ptr<ProbeScratch>> probes_;

    ScanCursor* cursor_ = nullptr;
    int64_t scan_row_ = 0;
    int64_t scan_count_ = 0;
    bool whole_ = true;       ///< the rows are all of the scan's batch
    base::Buffer selection_;  ///< uint16: rows within the scan's batch, unless whole_
    base::Buffer positions_;
};

}  // namespace loom::exec
