#pragma once
// Directories key=value, one per value of a partition key, in the layout of Hive.

#include <map>

#include "output.h"
#include "table.h"

namespace loom::datagen {

/// Finds out how rows of a table are assigned to partitions.
class PartitionKey {
  public:
    /// `name` is a column of the table, which then is left out of the files, or one of its derived
    /// keys. Raises kBadName if it is neither.
    PartitionKey(const Table& table, const std::string& name);

    static bool exists(const Table& table, const std::string& name);
    /// Returns the schema of the files.
    const column::Schema& schema() const noexcept { return schema_; }
    /// Splits a block by the key. The parts are named "key=value"; they borrow from `block`.
    std::map<std::string, Block> split(Block& block) const;

  private:
    std::string directory_of(const column::ColumnView& view, int64_t row) const;

    std::string name_;
    int column_ = -1;
    const DerivedKey* derived_ = nullptr;
    column::Schema schema_;
};

}  // namespace loom::datagen
