#pragma once
// Columns of files that stay on a device.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/memory/device_table.h"

namespace loom::gpu {

/// Columns that are in device memory, kept for later programs. May be used by several threads.
class ColumnStore {
  public:
    ColumnStore(Device& device, int threads) : device_(device), threads_(threads) {}

    /// Returns a column of a table, which is loaded if it is not there. Raises as load_column().
    std::shared_ptr<const DeviceColumn> get(Stream& stream, const exec::TableSource& table,
                                            const std::vector<BlockRows>& blocks, int column,
                                            plan::Type type);
    /// Returns such a column if it is there, else nullptr; does not wait.
    std::shared_ptr<const DeviceColumn> find(const exec::TableSource& table, int column,
                                             plan::Type type) const;
    uint64_t bytes() const;

  private:
    using Key = std::string;
    struct Entry {
        std::mutex loading;
        std::shared_ptr<const DeviceColumn> column;  ///< changes once, under both mutexes
    };

    static Key key(const exec::TableSource& table, int column, plan::Type type);

    Device& device_;
    int threads_;
    mutable std::mutex mutex_;
    std::map<Key, std::shared_ptr<Entry>> columns_;
};

}  // namespace loom::gpu
