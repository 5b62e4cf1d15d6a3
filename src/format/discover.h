#pragma once
// Finds the tables that lie below a folder, and the schema that a set of files has together.

#include <string>
#include <vector>

#include "format/table_reader.h"
#include "io/file_set.h"

namespace loom::format {

/// What the values of a path key have in common.
enum class PathKeyType { kInteger, kDate, kText };

struct PathKeyColumn {
    std::string name;
    PathKeyType type = PathKeyType::kText;
};

/// A table that files make up.
struct DiscoveredTable {
    std::string name;
    io::FileSetSpec files;
    column::Schema schema;            ///< all fields of all files, in order of first appearance
    bool fields_differ = false;       ///< some file lacks a field
    std::vector<PathKeyColumn> keys;  ///< pattern and Hive keys
};

/// Merges the schemas of all files of `spec`. Integers and floats of different widths become the
/// wider; otherwise types must agree. Raises kTypeMismatch, naming file, field and both types,
/// kMissing if there is no file at all.
DiscoveredTable describe_files(std::string name, const io::FileSetSpec& spec);

/// Finds the tables below `dir`: a folder of KEY=VALUE folders is one table; a sub-folder whose
/// files (two or more) all have the same fields is one; any other data file is one of its own,
/// named after its path below `dir` without extension. Files that are neither Parquet nor Arrow are
/// passed over. Unreadable data files are reported in `problems` instead of failing the whole.
std::vector<DiscoveredTable> discover_tables(const std::string& dir,
                                             std::vector<std::string>* problems);

/// Returns whether the file at `path` looks like Parquet or Arrow by its first bytes, or is an
/// Arrow stream by its extension.
bool is_data_file(const std::string& path);

}  // namespace loom::format
