#pragma once
// How a table's columns and quals find their places in one file: what FileScan and the engine's
// scans share.

#include "pg/compat/backend.h"

#include <optional>
#include <string>
#include <vector>

#include "pg/fdw/prune_qual.h"
#include "pg/fdw/table_def.h"

namespace loom::pg {

/// Builds the conditions that a file's statistics can decide. Condition i comes from quals
/// [(*origins)[i]].
std::vector<format::PruneCondition> make_conditions(const TableDef& def,
                                                    const std::vector<PruneQual>& quals,
                                                    const std::vector<QualValue>& values,
                                                    const column::Schema& schema,
                                                    std::vector<size_t>* origins);

/// Finds the field of a kField column, or -1 if it is absent and the table's options make it NULL;
/// raises kBadName if they do not.
int bind_field(const TableDef& def, const ColumnDef& column, const column::Schema& schema);

/// Returns the text of a column that has one value per file (kPathKey, kMetadata), if there is one.
std::optional<std::string> file_value(const ColumnDef& column, const io::SourceFile& file,
                                      const column::Schema& schema);

/// Reads `text` as a value of the column's type, in memory context `target`.
Datum read_value(const ColumnDef& column, const std::string& path, const std::string& text,
                 MemoryContext target);

/// Fills in the values of a table's virtual columns for one file; all others are NULL.
void read_path_keys(const TableDef& def, const io::SourceFile& file, MemoryContext target,
                    std::vector<Datum>* values, bool* nulls);

}  // namespace loom::pg
