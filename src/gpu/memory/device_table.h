#pragma once
// Columns of files in device memory.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exec/query.h"
#include "gpu/driver/device.h"
#include "gpu/memory/column_layout.h"
#include "gpu/runtime/tile.h"

namespace loom::gpu {

/// Texts and their codes, which count up from 0. May be used by several threads.
class TextDictionary {
  public:
    uint32_t code(std::string_view text);
    uint32_t size() const;
    /// Valid as long as the dictionary.
    std::string_view text(uint32_t code) const;

  private:
    mutable std::mutex mutex_;
    std::unordered_map<std::string, uint32_t> codes_;
    std::vector<const std::string*> texts_;
};

/// A column of a table, all blocks of it.
struct DeviceColumn {
    ScanColumn facts;
    std::vector<BlockView> views;  ///< by block, with device addresses
    std::vector<DeviceMemory> memory;
    std::shared_ptr<TextDictionary> texts;  ///< of a column of texts
    uint64_t bytes = 0;                     ///< in device memory
};

/// Rows of a file that make a block: whole row groups, about a million rows.
struct BlockRows {
    int file = 0;
    int64_t first_group = 0;
    int64_t groups = 0;
    int64_t rows = 0;
};
std::vector<BlockRows> blocks_of(const exec::TableSource& table);

/// Tells whether kernels can have a column of this type.
bool can_hold(plan::Type type);

/// Reads a column of all files, encodes it on `threads` threads and brings it to the device. Raises
/// base::Error for files, exec::Unrepresentable for values that the engine does not have,
/// DeviceError.
std::shared_ptr<const DeviceColumn> load_column(Device& device, Stream& stream,
                                                const exec::TableSource& table,
                                                const std::vector<BlockRows>& blocks, int column,
                                                plan::Type type, int threads);

}  // namespace loom::gpu
