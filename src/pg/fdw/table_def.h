#pragma once
// A foreign table's definition: where its files lie and what each column is.

#include "pg/compat/backend.h"

#include <string>
#include <vector>

#include "format/table_reader.h"
#include "io/file_set.h"

namespace loom::pg {

/// Where a column's values come from.
enum class ColumnSource : uint8_t {
    kDropped,
    kField,         ///< a field of the file
    kPathKey,       ///< `virtual`: pattern or Hive key, @pathname, @filename
    kMetadata,      ///< `virtual_metadata`: custom metadata of file or field, one value per file
    kMetadataSplit  ///< `virtual_metadata_split`: comma-separated, one value per row group
};

struct ColumnDef {
    std::string name;
    std::string source_name;  ///< field, key or metadata key
    ColumnSource source = ColumnSource::kField;
    Oid type = InvalidOid;
    int32 typmod = -1;
    Oid collation = InvalidOid;
};

/// Options of a foreign table (or of IMPORT FOREIGN SCHEMA) that concern files.
struct TableOptions {
    io::FileSetSpec files;
    int parallel_workers = -1;          ///< -1: PostgreSQL decides
    bool missing_columns_null = false;  ///< a column that a file lacks is NULL instead of an error
};

struct TableDef {
    TableOptions options;
    std::vector<ColumnDef> columns;  ///< by attribute number - 1
};

/// Reads the definition of an existing foreign table. C++ side; calls PostgreSQL through pg_call.
TableDef read_table_def(Relation relation);

/// Interprets options. Raises kBadOption for unusable combinations.
TableOptions parse_table_options(List* options);

/// Finds the field of a schema that a column called `name` refers to: the exact name, else the only
/// one that equals it without regard to case, else (names longer than PostgreSQL allows) the only
/// one that begins with it, else (NAME#n) the nth field called NAME. Returns -1 if there is none;
/// raises kBadName, listing them, if there are several.
int find_field(const column::Schema& schema, const std::string& name);

/// Returns the value of `virtual` key `key` for a file; raises kBadName if the path gives no such
/// key.
std::optional<std::string> path_key_value(const io::SourceFile& file, const std::string& key);

/// Returns the value of `virtual_metadata` key: `KEY` of the schema, or `FIELD.KEY` of a field.
const std::string* find_metadata(const column::Schema& schema, const std::string& key);

/// Returns the nth element of a comma-separated list, or nothing.
std::optional<std::string> split_element(const std::string& list, int64_t index);

}  // namespace loom::pg
