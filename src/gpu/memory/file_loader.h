#pragma once
// Brings a column of files to device memory.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "exec/query.h"
#include "gpu/driver/device.h"
#include "gpu/memory/block_decoder.h"
#include "gpu/memory/device_table.h"

namespace loom::gpu {

/// One column of some files of a table, on the way to a device. Blocks are read, encoded and copied
/// one by one on several threads, so that the host holds a few of them at a time.
class FileLoader {
  public:
    /// Called before each block; what it throws ends the work.
    using Check = std::function<void()>;

    /// All of these must outlive this. `texts` is null but for a column of texts.
    FileLoader(Device& device, const exec::TableSource& table, int column, plan::Type type,
               std::shared_ptr<TextDictionary> texts, int threads, const Check& check);

    /// Adds some blocks of these files to `shape`: enough that it says most of what all need.
    void sample(const std::vector<int>& files, ColumnShape& shape);
    /// Returns how much device memory these files take at most.
    uint64_t bytes(const std::vector<int>& files, const ColumnLayout& layout) const;
    /// Loads these files and adds what their values need to `shape`. Nothing, as soon as that no
    /// longer fits the layout. Raises as BlockDecoder does, and DeviceError.
    std::optional<std::vector<std::shared_ptr<const FileColumn>>> load(
        const std::vector<int>& files, const ColumnLayout& layout, ColumnShape& shape);

  private:
    std::vector<size_t> blocks_of_files(const std::vector<int>& files) const;

    Device& device_;
    const exec::TableSource& table_;
    int column_;
    plan::Type type_;
    std::shared_ptr<TextDictionary> texts_;
    int threads_;
    const Check& check_;
    std::vector<BlockRows> blocks_;
    std::vector<std::optional<DecodedBlock>> sampled_;  // by block, of few
};

}  // namespace loom::gpu
