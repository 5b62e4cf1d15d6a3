#include "gpu/driver/module_cache.h"

#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Appends a text so that no two lists of texts give the same bytes.
void append(std::string& bytes, std::string_view text) {
    const uint64_t size = text.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes.append(text);
}

ImageKey base_key(const std::string& architecture, const std::string& version) {
    std::string bytes;
    append(bytes, architecture);
    append(bytes, version);
    for (const Header& header : device_headers()) {
        append(bytes, header.name);
        append(bytes, header.text);
    }
    return key_of(base::as_bytes(bytes));
}

}  // namespace

ModuleCache::ModuleCache(Device& device, Compiler& compiler, const ModuleCacheOptions& options)
    : device_(device),
      compiler_(compiler),
      limit_(options.modules),
      base_(base_key(device.facts().architecture, compiler.version())),
      store_(options.folder, options.folder_bytes) {}

ImageKey ModuleCache::key(const std::string& text) const {
    std::string bytes(reinterpret_cast<const char*>(&base_), sizeof base_);
    append(bytes, text);
    return key_of(base::as_bytes(bytes));
}

std::shared_ptr<Module> ModuleCache::find(const std::string& text) {
    const ImageKey key = this->key(text);
    {
        const std::lock_guard lock(mutex_);
        if (auto module = look_up(key)) return module;
    }
    auto module = load_stored(key);
    return module == nullptr ? nullptr : keep(key, std::move(module));
}

std::shared_ptr<Module> ModuleCache::get(const std::string& text) {
    const ImageKey key = this->key(text);
    std::promise<std::shared_ptr<Module>> promise;
    Coming others;
    {
        const std::lock_guard lock(mutex_);
        if (auto module = look_up(key)) return module;
        const auto [at, is_first] = coming_.try_emplace(key);
        if (is_first)
            at->second = promise.get_future().share();
        else
            others = at->second;
    }
    if (others.valid()) {
        auto module = others.get();
        const std::lock_guard lock(mutex_);
        ++counters_.memory_hits;
        return module;
    }
    try {
        auto module = load_stored(key);
        if (module == nullptr) module = compile(key, text);
        module = keep(key, std::move(module));
        promise.set_value(module);
        return module;
    } catch (...) {
        {
            const std::lock_guard lock(mutex_);
            ++counters_.failures;
            coming_.erase(key);
        }
        promise.set_exception(std::current_exception());
        throw;
    }
}

ModuleCacheCounters ModuleCache::counters() const {
    const std::lock_guard lock(mutex_);
    return counters_;
}

// With the mutex held.
std::shared_ptr<Module> ModuleCache::look_up(const ImageKey& key) {
    const auto at = by_key_.find(key);
    if (at == by_key_.end()) return nullptr;
    ++counters_.memory_hits;
    loaded_.splice(loaded_.begin(), loaded_, at->second);
    return at->second->module;
}

// Puts a module before all others, unless another thread loaded it too, and was first.
std::shared_ptr<Module> ModuleCache::keep(const ImageKey& key, std::shared_ptr<Module> module) {
    std::list<Loaded> dropped;  // unloaded when the mutex is free
    const std::lock_guard lock(mutex_);
    coming_.erase(key);
    const auto at = by_key_.find(key);
    if (at != by_key_.end()) return at->second->module;
    if (limit_ == 0) return module;
    loaded_.push_front({key, module});
    by_key_.emplace(key, loaded_.begin());
    while (loaded_.size() > limit_) {
        by_key_.erase(loaded_.back().key);
        dropped.splice(dropped.begin(), loaded_, std::prev(loaded_.end()));
    }
    return module;
}

std::shared_ptr<Module> ModuleCache::load(const std::string& image) {
    const Clock::time_point begin = Clock::now();
    std::shared_ptr<Module> module = device_.load(base::as_bytes(image));
    const std::lock_guard lock(mutex_);
    counters_.load_milliseconds += milliseconds_since(begin);
    return module;
}

// Returns nullptr if there is no image on disk, or none that this device takes.
std::shared_ptr<Module> ModuleCache::load_stored(const ImageKey& key) {
    uint64_t damaged = 0;
    const std::optional<std::string> image = store_.read(key, &damaged);
    std::shared_ptr<Module> module;
    if (image) {
        try {
            module = load(*image);
        } catch (const DeviceError& error) {
            if (error.kind() != DeviceError::Kind::kRefused) throw;
            store_.remove(key);
            ++damaged;
        }
    }
    const std::lock_guard lock(mutex_);
    counters_.damaged_files += damaged;
    counters_.disk_hits += module != nullptr ? 1 : 0;
    return module;
}

std::shared_ptr<Module> ModuleCache::compile(const ImageKey& key, const std::string& text) {
    const Clock::time_point begin = Clock::now();
    const std::string image = compiler_.compile(text, device_.facts().architecture);
    {
        const std::lock_guard lock(mutex_);
        ++counters_.compiles;
        counters_.compile_milliseconds += milliseconds_since(begin);
    }
    auto module = load(image);
    store_.write(key, base::as_bytes(image));
    return module;
}

}  // namespace loom::gpu
