#include "gpu/driver/host_device.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include <fmt/core.h>

#include "gpu/driver/host_block.h"
#include "gpu/driver/host_memory.h"

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = DeviceError::Kind;

// What the smallest devices of today have (compute capability 8.6), so that what runs here runs
// there.
constexpr uint64_t kSharedBytes = 99 * 1024;

[[noreturn]] void refuse(std::string message) {
    throw DeviceError(Kind::kRefused, std::move(message));
}

uint64_t physical_memory() {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t seed_of_environment() {
    const char* text = std::getenv("LOOM_HOST_DEVICE_SEED");
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

// A shared object in a nameless file. The loader knows objects by their path, so the descriptor,
// whose number is in it, stays open as long as the object is loaded.
class HostModule : public Module {
  public:
    explicit HostModule(base::ByteSpan image) {
        descriptor_ = memfd_create("loom_kernels", MFD_CLOEXEC);
        if (descriptor_ < 0)
            throw DeviceError(Kind::kMemory, fmt::format("could not create a file in memory: {}",
                                                         std::strerror(errno)));
        try {
            fill(image);
            const std::string path = fmt::format("/proc/self/fd/{}", descriptor_);
            object_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
            if (object_ == nullptr) refuse(fmt::format("could not load kernels: {}", dlerror()));
        } catch (...) {
            close(descriptor_);
            throw;
        }
    }
    HostModule(const HostModule&) = delete;
    HostModule& operator=(const HostModule&) = delete;
    ~HostModule() override {
        dlclose(object_);
        close(descriptor_);
    }

    Kernel kernel(const std::string& name) override {
        const std::lock_guard lock(mutex_);
        const auto [at, is_new] = kernels_.try_emplace(name);
        HostKernel& kernel = at->second;
        if (is_new) {
            void* const function = dlsym(object_, name.c_str());
            void* const limits = dlsym(object_, (name + "_limits").c_str());
            if (function == nullptr || limits == nullptr) {
                kernels_.erase(at);
                refuse(fmt::format("there is no kernel {}", name));
            }
            kernel.name = name;
            kernel.function = reinterpret_cast<decltype(kernel.function)>(function);
            kernel.limits = *static_cast<const KernelLimits*>(limits);
        }
        Kernel found;
        found.handle = &kernel;
        return found;
    }

  private:
    void fill(base::ByteSpan image) const {
        while (!image.empty()) {
            const ssize_t written = write(descriptor_, image.data(), image.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) throw DeviceError(Kind::kMemory, "there is no memory for kernels");
            image = image.subspan(static_cast<size_t>(written));
        }
    }

    int descriptor_ = -1;
    void* object_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, HostKernel> kernels_;  // where an entry lies it stays
};

class HostDevice : public Device {
  public:
    explicit HostDevice(const HostDeviceOptions& options)
        : block_(options.seed != 0 ? options.seed : seed_of_environment()) {
        facts_.name = "the host's processor";
        facts_.architecture = "host";
        facts_.memory = options.memory != 0 ? options.memory : physical_memory();
        facts_.shared_bytes = kSharedBytes;
    }

    const DeviceFacts& facts() const override { return facts_; }
    MemoryState memory() override {
        const std::lock_guard lock(memory_mutex_);
        return {facts_.memory - used_, facts_.memory};
    }

    DeviceAddress allocate(uint64_t bytes) override {
        const std::lock_guard lock(memory_mutex_);
        if (bytes > facts_.memory - used_)
            throw DeviceError(Kind::kMemory, fmt::format("{} bytes of device memory, {} are free",
                                                         bytes, facts_.memory - used_));
        HostBytes memory = make_bytes(bytes == 0 ? 1 : bytes);
        memory.spoil();
        const auto address = reinterpret_cast<DeviceAddress>(memory.data());
        used_ += memory.size();
        allocations_.emplace(address, std::move(memory));
        return address;
    }
    void release(DeviceAddress address) noexcept override {
        const std::lock_guard lock(memory_mutex_);
        const auto at = allocations_.find(address);
        if (at == allocations_.end()) return;
        used_ -= at->second.size();
        allocations_.erase(at);
    }
    void spoil(DeviceAddress address, uint64_t bytes) override {
        check_range(address, bytes);
        HostBytes::spoil(reinterpret_cast<uint8_t*>(address), bytes);
    }
    void* pin(uint64_t bytes) override {
        const std::lock_guard lock(memory_mutex_);
        HostBytes memory = make_bytes(bytes == 0 ? 1 : bytes);
        void* const address = memory.data();
        pinned_.emplace(address, std::move(memory));
        return address;
    }
    void unpin(void* memory) noexcept override {
        const std::lock_guard lock(memory_mutex_);
        pinned_.erase(memory);
    }

    std::unique_ptr<Stream> make_stream() override;
    std::unique_ptr<Module> load(base::ByteSpan image) override {
        return std::make_unique<HostModule>(image);
    }

    void launch(const HostKernel& kernel, const Grid& grid, base::ByteSpan parameters) {
        check_launch(facts_, grid, parameters.size());
        if (grid.threads > kernel.limits.threads)
            refuse(fmt::format("kernel {} is for blocks of {} threads, not {}", kernel.name,
                               kernel.limits.threads, grid.threads));
        if (parameters.size() != kernel.limits.parameter_bytes)
            refuse(fmt::format("kernel {} takes {} bytes of parameters, not {}", kernel.name,
                               kernel.limits.parameter_bytes, parameters.size()));
        const HostBytes aligned = make_bytes(parameters.size());
        if (!parameters.empty()) std::memcpy(aligned.data(), parameters.data(), parameters.size());
        const std::lock_guard lock(launch_mutex_);
        try {
            block_.run(kernel, grid, aligned.data());
        } catch (const std::bad_alloc&) {
            throw DeviceError(Kind::kMemory, "there is no memory for a block of threads");
        }
    }

    /// Raises DeviceError unless the bytes lie within one allocation.
    void check_range(DeviceAddress address, uint64_t bytes) {
        const std::lock_guard lock(memory_mutex_);
        auto at = allocations_.upper_bound(address);
        if (at != allocations_.begin()) {
            --at;
            const uint64_t offset = address - at->first;
            if (offset <= at->second.size() && bytes <= at->second.size() - offset) return;
        }
        refuse(fmt::format("{} bytes at {:#x} are no device memory", bytes, address));
    }

  private:
    static HostBytes make_bytes(uint64_t bytes) {
        try {
            return HostBytes(bytes);
        } catch (const std::bad_alloc&) {
            throw DeviceError(Kind::kMemory, fmt::format("{} bytes of memory", bytes));
        }
    }

    DeviceFacts facts_;
    std::mutex memory_mutex_;
    uint64_t used_ = 0;
    std::map<DeviceAddress, HostBytes> allocations_;
    std::map<void*, HostBytes> pinned_;
    std::mutex launch_mutex_;
    HostBlock block_;
};

class HostStream : public Stream {
  public:
    explicit HostStream(HostDevice& device) : device_(device) {}

    void upload(DeviceAddress to, const void* from, uint64_t bytes) override {
        if (bytes == 0) return;
        device_.check_range(to, bytes);
        std::memcpy(at(to), from, bytes);
    }
    void download(void* to, DeviceAddress from, uint64_t bytes) override {
        if (bytes == 0) return;
        device_.check_range(from, bytes);
        std::memcpy(to, at(from), bytes);
    }
    void copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) override {
        if (bytes == 0) return;
        device_.check_range(to, bytes);
        device_.check_range(from, bytes);
        std::memmove(at(to), at(from), bytes);
    }
    void fill(DeviceAddress to, uint8_t value, uint64_t bytes) override {
        if (bytes == 0) return;
        device_.check_range(to, bytes);
        std::memset(at(to), value, bytes);
    }
    void launch(const Kernel& kernel, const Grid& grid, base::ByteSpan parameters) override {
        device_.launch(*static_cast<const HostKernel*>(kernel.handle), grid, parameters);
    }

    int mark() override {
        marks_.push_back(Clock::now());
        return static_cast<int>(marks_.size()) - 1;
    }
    double elapsed(int from, int to) override {
        const Clock::duration between =
            marks_.at(static_cast<size_t>(to)) - marks_.at(static_cast<size_t>(from));
        return std::chrono::duration<double, std::milli>(between).count();
    }
    void forget_marks() override { marks_.clear(); }

    bool finished() override { return true; }
    void wait() override {}

  private:
    static void* at(DeviceAddress address) { return reinterpret_cast<void*>(address); }

    HostDevice& device_;
    std::vector<Clock::time_point> marks_;
};

std::unique_ptr<Stream> HostDevice::make_stream() {
    return std::make_unique<HostStream>(*this);
}

}  // namespace

std::unique_ptr<Device> open_host_device(const HostDeviceOptions& options) {
    return std::make_unique<HostDevice>(options);
}

}  // namespace loom::gpu
