#pragma once
// Brings columns to device memory as files hold them, where kernels encode them.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/query.h"
#include "gpu/driver/device.h"
#include "gpu/driver/module_cache.h"
#include "gpu/memory/device_table.h"
#include "gpu/memory/upload_ring.h"
#include "gpu/runtime/raw.h"

namespace loom::gpu {

/// A column of a table, some of whose files are to be loaded.
struct RawRequest {
    const exec::TableSource* table = nullptr;
    int column = 0;
    plan::Type type;
    std::vector<int> files;
    std::shared_ptr<TextDictionary> texts;  ///< of a column of texts
    /// By file as above; nothing if the column has to be loaded in another way.
    std::vector<std::shared_ptr<const FileColumn>> made;
};

/// Returns the text of the kernels that encode.
const char* raw_kernels_text();

/// Loads columns of one request together, so that the link to the device is always busy: several
/// threads copy bytes of files to pinned memory and send them; who brings the last ones of a column
/// has kernels encode it, while others go on with the next. What is to be encoded takes
/// `most_bytes` of the device's memory at most.
class RawLoader {
  public:
    struct Hooks {
        /// Called before each block; what it throws ends the work.
        std::function<void()> check;
        /// Chooses how a column is encoded, by what its values need.
        std::function<ColumnLayout(size_t request, ColumnShape)> choose;
        /// Makes room for encoded columns, or throws.
        std::function<void(uint64_t bytes)> make_room;
        /// Called when `made` of a request is there, by one thread at a time.
        std::function<void(size_t request)> made;
    };

    /// All must outlive it.
    RawLoader(Device& device, ModuleCache& modules, UploadRings& rings, int threads,
              uint64_t most_bytes, const Hooks& hooks);
    ~RawLoader();

    /// Raises DeviceError, and what hooks throw. Columns that files hold in ways that
    /// kernels don't know, that have values which the engine has not, or for which there is no
    /// memory, are left.
    void load(std::vector<RawRequest>& requests);

  private:
    struct Column;
    class Finish;
    struct Job {
        Column* column = nullptr;
        size_t block = 0;
    };

    std::unique_ptr<Column> plan(RawRequest& request, size_t number) const;
    void run(const Job& job, UploadRing& ring);
    bool admit(Column& column);
    void allocate(Column& column);
    void free(Column& column);
    void bring(Column& column, size_t block, UploadRing& ring);
    void bring_pages(Column& column, size_t block, UploadRing& ring);
    void finish(Column& column, UploadRing& ring);

    Device& device_;
    ModuleCache& modules_;
    UploadRings& rings_;
    int threads_;
    uint64_t most_bytes_;
    const Hooks& hooks_;

    std::mutex finishing_;              // one column at a time
    std::vector<DeviceMemory> tables_;  // of those that are finished; freed in the end
    std::mutex mutex_;                  // of what follows
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Column>> columns_;
    size_t admitted_ = 0;  // so many of them
    uint64_t held_ = 0;    // bytes of those that are not finished
    bool ended_ = false;
    std::vector<DeviceMemory> spare_;
};

}  // namespace loom::gpu
