#pragma once
// The cache of columns in device memory.

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/driver/module_cache.h"
#include "gpu/memory/device_table.h"
#include "gpu/memory/raw_loader.h"

namespace loom::gpu {

/// Columns of files that stay on a device for later programs: file by file, so that tables, parts
/// of them and tables that have grown share what they have in common. Columns that no program uses
/// make room for others: those first that were used once, then those whose last use is the longest
/// ago. May be used by several threads.
class ColumnStore {
  public:
    /// Called now and then while columns are loaded; what it throws ends that.
    using Check = std::function<void()>;

    /// A column of a table that somebody wants.
    struct Wanted {
        const exec::TableSource* table = nullptr;
        int column = 0;
        plan::Type type;
    };

    /// Keeps `most_bytes` bytes of columns at most. With `modules`, of the same device, kernels
    /// encode what files hold as plain bytes; else the host does.
    ColumnStore(Device& device, int threads, uint64_t most_bytes = UINT64_MAX,
                ModuleCache* modules = nullptr);

    /// Returns a column of a table; what of it is not there is loaded. As long as the result lives,
    /// nobody drops it. Raises as FileLoader does, and DeviceError (kMemory) if there is no room.
    std::shared_ptr<const DeviceColumn> get(const exec::TableSource& table, int column,
                                            plan::Type type, const Check& check = nullptr);
    /// Returns columns of one request, which are loaded together.
    std::vector<std::shared_ptr<const DeviceColumn>> get_all(const std::vector<Wanted>& wanted,
                                                             const Check& check = nullptr);
    /// Returns such a column if it is there, else nullptr; does not wait.
    std::shared_ptr<const DeviceColumn> find(const exec::TableSource& table, int column,
                                             plan::Type type);

    /// What a column of a file takes on the device: known where it is or was there, else between
    /// these, unless its values are packed in fewer bits than a byte.
    struct Size {
        uint64_t least = 0;
        uint64_t most = 0;
    };
    std::vector<Size> sizes_of(const exec::TableSource& table, int column, plan::Type type);
    /// As much as one value of a type can take.
    static uint64_t most_value_bytes(plan::Type type);
    uint64_t most_bytes() const noexcept { return most_bytes_; }

    /// Drops columns that no program uses until `bytes` bytes of them are gone. Returns how many.
    uint64_t drop(uint64_t bytes);
    /// Drops those of these files, or of all files if none is named.
    uint64_t drop_files(const std::vector<std::string>& paths);

    /// A column of a file.
    struct Held {
        std::string path;
        std::string field;
        std::string type;
        std::string encoding;
        int64_t rows = 0;
        uint64_t bytes = 0;
        uint64_t uses = 0;
        double idle = 0;  ///< seconds since the last use
        bool in_use = false;
    };
    std::vector<Held> list() const;
    /// Returns how many bytes there are of a table's files.
    uint64_t bytes_of(const exec::TableSource& table) const;
    uint64_t bytes() const;

  private:
    using Clock = std::chrono::steady_clock;
    using Files = std::vector<std::shared_ptr<const FileColumn>>;

    // What a column of a file holds: of that version of the file, read in that way.
    struct Key {
        uint64_t device = 0;
        uint64_t inode = 0;
        uint64_t size = 0;
        int64_t mtime_ns = 0;
        int field = -1;
        int32_t characters = -1;
        std::string type;
        std::string value;  // of a column that the file does not have

        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        std::shared_ptr<const FileColumn> column;
        std::string path;
        std::string field;
        uint64_t uses = 0;
        uint64_t last = 0;  // by order
        Clock::time_point used;
    };
    using Entries = std::map<Key, Entry>;

    static std::vector<Key> keys_of(const exec::TableSource& table, int column, plan::Type type);
    Files held(const std::vector<Key>& keys);
    std::shared_ptr<const DeviceColumn> find(const std::vector<Key>& keys, plan::Type type);
    std::shared_ptr<const DeviceColumn> load(const exec::TableSource& table, int column,
                                             plan::Type type, const std::vector<Key>& keys,
                                             const Check& check);
    void load_raw(const std::vector<Wanted>& wanted,
                  const std::vector<std::shared_ptr<const DeviceColumn>>& there_already,
                  const Check& check);
    std::shared_ptr<TextDictionary> dictionary(const exec::TableSource& table, int column,
                                               Files& files);
    void keep(const exec::TableSource& table, int column, const std::vector<Key>& keys,
              const Files& files, uint64_t uses);
    void make_room(uint64_t bytes);
    template <typename Choose>
    uint64_t drop_some(const Choose& choose);

    Device& device_;
    int threads_;
    uint64_t most_bytes_;
    ModuleCache* modules_;
    UploadRings rings_;
    std::mutex loading_;  // one column at a time, on all threads
    mutable std::mutex mutex_;
    Entries entries_;
    std::map<Key, uint64_t> sizes_;  // of all that have been there
    uint64_t bytes_ = 0;
    uint64_t uses_ = 0;
    std::map<std::string, std::weak_ptr<TextDictionary>> dictionaries_;
};

}  // namespace loom::gpu
