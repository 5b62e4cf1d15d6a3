#pragma once
// The face of a device that runs kernels: memory, streams, modules. Behind it stands CUDA
// (cuda_device.h), the host's own processor (host_device.h), or either with faults injected
// (faulty_device.h).

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace loom::gpu {

/// An address in a device's memory; 0 is none.
using DeviceAddress = uint64_t;

/// Returns an address as structs of kernels have it.
template <typename T>
T* pointer(DeviceAddress address) {
    return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Things that share a piece of memory begin at multiples of so many bytes.
inline constexpr uint64_t kAlignment = 256;
/// Returns how many bytes a thing takes there.
constexpr uint64_t aligned(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// What a device cannot do. Never an error of SQL: the CPU engine answers instead.
class DeviceError : public std::exception {
  public:
    enum class Kind : uint8_t {
        kAbsent,   ///< there is no driver, or no device
        kMemory,   ///< the device has not that much memory left; others may go on
        kRefused,  ///< this call failed, e.g. a launch beyond the device's limits; others may go on
        kLost      ///< every further call will fail: the process has to begin again
    };
    DeviceError(Kind kind, std::string message) : kind_(kind), message_(std::move(message)) {}
    Kind kind() const noexcept { return kind_; }
    const char* what() const noexcept override { return message_.c_str(); }

  private:
    Kind kind_;
    std::string message_;
};

struct DeviceFacts {
    std::string name;          ///< as the vendor calls it
    std::string architecture;  ///< what kernels are compiled for: `sm_90`, or `host`
    int driver_version = 0;    ///< as CUDA counts: 13000 is 13.0
    int multiprocessors = 1;
    int threads_per_multiprocessor = 64;
    uint64_t memory = 0;        ///< bytes
    uint64_t cache = 0;         ///< bytes of the last level
    uint64_t shared_bytes = 0;  ///< dynamic shared memory that a block may ask for
};

/// A function of a module, valid as long as the module.
struct Kernel {
    void* handle = nullptr;
    int registers = 0;     ///< a thread
    int local_bytes = 0;   ///< a thread, of spilled registers and arrays
    int shared_bytes = 0;  ///< a block, static
};

/// Kernels loaded onto a device. May be used by several threads.
class Module {
  public:
    virtual ~Module() = default;
    /// Raises DeviceError (kRefused) if there is none of that name.
    virtual Kernel kernel(const std::string& name) = 0;
};

struct Grid {
    uint32_t blocks = 1;
    uint32_t threads = 32;      ///< a block; whole warps of 32, at most kMaxBlockThreads
    uint32_t shared_bytes = 0;  ///< a block, dynamic
};
inline constexpr uint32_t kMaxBlockThreads = 1024;
/// A kernel's struct of parameters has at most as many bytes.
inline constexpr uint64_t kMaxParameterBytes = 4000;

/// Raises DeviceError (kRefused) unless a device like that may run such a grid.
void check_launch(const DeviceFacts& facts, const Grid& grid, uint64_t parameter_bytes);

/// Work that a device does in order. Calls return before it is done; memory that they name must
/// live until then. Used by one thread at a time.
class Stream {
  public:
    virtual ~Stream() = default;

    /// Copies between host and device. Truly asynchronous for memory of Device::pin().
    virtual void upload(DeviceAddress to, const void* from, uint64_t bytes) = 0;
    virtual void download(void* to, DeviceAddress from, uint64_t bytes) = 0;
    virtual void copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) = 0;
    virtual void fill(DeviceAddress to, uint8_t value, uint64_t bytes) = 0;
    /// `parameters` is the one struct that the kernel takes, by value. They are copied before the
    /// call returns. Raises DeviceError (kRefused) for what check_launch() does not allow.
    virtual void launch(const Kernel& kernel, const Grid& grid, base::ByteSpan parameters) = 0;

    /// Notes the moment when the device has come so far; returns a number for elapsed().
    virtual int mark() = 0;
    /// Returns the milliseconds between two marks. The stream must be finished. Marks are forgotten
    /// by forget_marks().
    virtual double elapsed(int from, int to) = 0;
    virtual void forget_marks() = 0;

    /// Whether all is done. Raises DeviceError if something failed meanwhile.
    virtual bool finished() = 0;
    /// Waits for it, without using a processor for more than some microseconds.
    virtual void wait() = 0;
};

struct MemoryState {
    uint64_t free = 0;   ///< bytes
    uint64_t total = 0;  ///< bytes
};

/// One device. All members may be called by several threads. Streams, modules and allocations must
/// be gone before it.
class Device {
  public:
    virtual ~Device() = default;
    virtual const DeviceFacts& facts() const = 0;
    virtual MemoryState memory() = 0;

    /// Returns `bytes` of device memory, aligned to 256 bytes, not cleared. Raises DeviceError
    /// (kMemory) if there is not as much.
    virtual DeviceAddress allocate(uint64_t bytes) = 0;
    virtual void release(DeviceAddress address) noexcept = 0;
    /// Takes note that memory is about to be used for something else. A device that checks what
    /// runs on it fills it, so that nobody relies on what it held.
    virtual void spoil(DeviceAddress, uint64_t) {}
    /// Returns host memory that copies go through at the full speed of the link.
    virtual void* pin(uint64_t bytes) = 0;
    virtual void unpin(void* memory) noexcept = 0;

    virtual std::unique_ptr<Stream> make_stream() = 0;
    /// Loads what a Compiler made for facts().architecture. Raises DeviceError (kRefused) if it is
    /// not that.
    virtual std::unique_ptr<Module> load(base::ByteSpan image) = 0;
};

/// Device memory with an owner.
class DeviceMemory {
  public:
    DeviceMemory() = default;
    DeviceMemory(Device& device, uint64_t bytes)
        : device_(&device), address_(device.allocate(bytes)), bytes_(bytes) {}
    DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
    DeviceMemory& operator=(DeviceMemory&& other) noexcept {
        DeviceMemory(std::move(other)).swap(*this);
        return *this;
    }
    ~DeviceMemory() {
        if (address_ != 0) device_->release(address_);
    }

    DeviceAddress address() const noexcept { return address_; }
    uint64_t bytes() const noexcept { return bytes_; }

  private:
    void swap(DeviceMemory& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(address_, other.address_);
        std::swap(bytes_, other.bytes_);
    }

    Device* device_ = nullptr;
    DeviceAddress address_ = 0;
    uint64_t bytes_ = 0;
};

}  // namespace loom::gpu
