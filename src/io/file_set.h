#pragma once
// Which files belong to a table: lists, directories, name patterns, Hive partition folders.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "column/data_type.h"

namespace loom::io {

/// A value that a path gives to a key; no value means NULL (Hive's default partition).
struct PathKey {
    std::string name;
    std::optional<std::string> value;
};

/// A file of a table.
struct SourceFile {
    std::string path;
    std::vector<PathKey> keys;  ///< pattern keys, then Hive keys from the outside in
};

/// Where a table's files lie.
struct FileSetSpec {
    std::vector<std::string> files;  ///< explicit paths; exclusive with dir
    std::string dir;
    std::string suffix;   ///< with or without the dot; empty: any
    std::string pattern;  ///< see PathPattern; applies to the file name
    bool recursive = false;
    bool hive = false;  ///< folders below dir are called KEY=VALUE; implies recursive
};

/// Lists the files in byte order of their paths; names that begin with '.' or '_' are left out of
/// directories. Raises kBadOption for a pattern or Hive layout that is not consistent (naming the
/// path), kMissing, kDenied or kIo for a directory that can't be read. Explicit files are not
/// checked.
std::vector<SourceFile> list_files(const FileSetSpec& spec);

/// Returns the names of the keys that list_files gives each file, without looking at any file:
/// pattern keys only. Hive keys are known from the files.
std::vector<std::string> pattern_keys(const FileSetSpec& spec);

/// The name that Hive gives to the partition of NULL.
inline constexpr const char* kHiveNull = "__HIVE_DEFAULT_PARTITION__";

/// Decodes %XX once; a percent sign that no two hexadecimal digits follow stays as it is.
std::string percent_decode(std::string_view text);

}  // namespace loom::io
