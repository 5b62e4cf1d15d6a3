#pragma once
// Kernels that were compiled before: loaded ones in memory, images on disk.

#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "gpu/driver/compiler.h"
#include "gpu/driver/device.h"
#include "gpu/driver/image_store.h"

namespace loom::gpu {

struct ModuleCacheOptions {
    std::string folder;                         ///< of images on disk; empty: none are kept
    uint64_t folder_bytes = uint64_t{1} << 28;  ///< of all of them
    size_t modules = 256;                       ///< that stay loaded though nobody uses them
};

/// What a cache has done so far.
struct ModuleCacheCounters {
    uint64_t memory_hits = 0;  ///< includes waits for the same text's compilation
    uint64_t disk_hits = 0;
    uint64_t compiles = 0;
    uint64_t failures = 0;       ///< compilations or loads that raised
    uint64_t damaged_files = 0;  ///< that were removed
    double compile_milliseconds = 0;
    double load_milliseconds = 0;
};

/// The modules of one device and one compiler, by their text. An image's key is a hash of the text,
/// of all that texts may include, of the architecture and of the compiler's version. Members may be
/// called by several threads. Device and compiler must outlive the cache, and modules that it
/// returned go before the device.
class ModuleCache {
  public:
    ModuleCache(Device& device, Compiler& compiler, const ModuleCacheOptions& options);

    /// Returns a text's module if it is loaded or on disk, else nullptr.
    std::shared_ptr<Module> find(const std::string& text);
    /// Returns a text's module, compiled if need be; when several threads ask, by one of them.
    /// Raises DeviceError as Compiler::compile() and Device::load() do; nothing is remembered then.
    std::shared_ptr<Module> get(const std::string& text);

    ModuleCacheCounters counters() const;
    /// Why no images are kept on disk; empty if they are.
    const std::string& folder_problem() const noexcept { return store_.problem(); }

  private:
    struct Hash {
        size_t operator()(const ImageKey& key) const noexcept { return key.low; }
    };
    struct Loaded {
        ImageKey key;
        std::shared_ptr<Module> module;
    };
    using Coming = std::shared_future<std::shared_ptr<Module>>;

    ImageKey key(const std::string& text) const;
    std::shared_ptr<Module> look_up(const ImageKey& key);
    std::shared_ptr<Module> keep(const ImageKey& key, std::shared_ptr<Module> module);
    std::shared_ptr<Module> load(const std::string& image);
    std::shared_ptr<Module> load_stored(const ImageKey& key);
    std::shared_ptr<Module> compile(const ImageKey& key, const std::string& text);

    Device& device_;
    Compiler& compiler_;
    size_t limit_;
    ImageKey base_;  // of all but the text
    ImageStore store_;

    mutable std::mutex mutex_;
    ModuleCacheCounters counters_;
    std::list<Loaded> loaded_;  // the last used first
    std::unordered_map<ImageKey, std::list<Loaded>::iterator, Hash> by_key_;
    std::unordered_map<ImageKey, Coming, Hash> coming_;
};

}  // namespace loom::gpu
