#pragma once
// The files of one table, opened for the engine.

#include "pg/compat/backend.h"

#include <memory>
#include <vector>

#include "exec/query.h"
#include "pg/fdw/prune_qual.h"
#include "pg/fdw/table_def.h"

namespace loom::pg {

/// Tells whether the engine does what a column's modifier asks for with values that a file has as
/// `stored`: refuses what is too long, fills up char(n), has nothing to round.
bool loads_values(const ColumnDef& column, const column::DataType& stored);

/// A table's files. They are opened once and keep their version while the object lives.
class TableFiles {
  public:
    /// `types` and `attributes` describe the columns that the plan reads.
    TableFiles(Oid relation, std::vector<AttrNumber> attributes, std::vector<plan::Type> types,
               std::vector<PruneQual> quals, base::MemoryBudget* budget, MemoryContext context);

    /// Decides from a file's path keys, given as values of the table's columns, whether to read it.
    using FileFilter = bool (*)(void* arg, const Datum* values, const bool* nulls);

    /// Binds all files for an execution in which the quals have these values. Raises
    /// exec::Unrepresentable if a file's type cannot become the column's.
    exec::TableSource bind(const std::vector<QualValue>& values, FileFilter filter, void* arg);

    const TableDef& def() const noexcept { return def_; }
    int64_t file_count() const noexcept { return static_cast<int64_t>(files_.size()); }

  private:
    void list();
    exec::ScanFile bind_file(size_t file, const std::vector<QualValue>& values);
    exec::ScanFile::Column bind_column(size_t column, size_t file, const column::Schema& schema);

    TableDef def_;
    std::vector<AttrNumber> attributes_;
    std::vector<plan::Type> types_;
    std::vector<std::shared_ptr<const plan::Layout>> layouts_;  ///< null: no nested column
    std::vector<PruneQual> quals_;
    base::MemoryBudget* budget_;
    MemoryContext context_;
    bool listed_ = false;
    std::vector<io::SourceFile> files_;
    std::vector<std::shared_ptr<format::TableReader>> readers_;
};

}  // namespace loom::pg
