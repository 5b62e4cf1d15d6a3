#pragma once
// What tests of devices share: devices with their compilers, and kernels in text.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/driver/compiler.h"
#include "gpu/driver/device.h"

namespace loom::gpu::test {

/// Every operation of gpu/runtime/machine.h by a block of kOperationThreads threads, and sums by
/// several blocks: see Operations and Sums below.
std::string operations_text();
/// Includes all of src/sql and calls some of it: see SqlCalls below.
std::string sql_text();

inline constexpr uint32_t kOperationThreads = 64;
inline constexpr uint32_t kOperationResults = 49;

/// Parameters of the kernel `operations`. `out` has kOperationResults words for each thread, those
/// of one operation side by side.
struct Operations {
    const uint32_t* in;   ///< a value for each thread
    const uint8_t* rows;  ///< 16 bytes for each thread
    uint64_t* out;
    uint64_t* wide;     ///< sum, swapped once
    uint32_t* narrow;   ///< sum, or, swapped once, swapped by each
    int64_t* extremes;  ///< least, greatest
};
/// Parameters of the kernels `sums` and `sums_dynamic`.
struct Sums {
    const uint64_t* in;
    uint64_t* sum;
    uint64_t count;
};
/// Parameters of the kernel `sql_calls`: a + b, whether it fails, the day's week, cents * 10.
struct SqlCalls {
    const int32_t* a;
    const int32_t* b;
    int64_t* out;  ///< 4 words for each thread
};

/// A device and what compiles for it; nothing if there is none.
struct TestDevice {
    std::unique_ptr<Device> device;
    std::unique_ptr<Compiler> compiler;
};
/// Opens `host`, `shuffled` (a host device with a seed) or `cuda`. Says `skipped: no device` and
/// returns nothing where there is none.
TestDevice open_test_device(const std::string& name);

/// One device at work, for short tests.
class Bench {
  public:
    Bench(Device& device, Compiler& compiler, const std::string& text);

    template <typename T>
    T* upload(const std::vector<T>& values) {
        const DeviceAddress address = room(values.size() * sizeof(T));
        stream_->upload(address, values.data(), values.size() * sizeof(T));
        stream_->wait();
        return reinterpret_cast<T*>(address);
    }
    template <typename T>
    std::vector<T> download(const T* from, size_t count) {
        std::vector<T> values(count);
        stream_->download(values.data(), reinterpret_cast<DeviceAddress>(from), count * sizeof(T));
        stream_->wait();
        return values;
    }
    template <typename Parameters>
    void run(const std::string& kernel, const Grid& grid, const Parameters& parameters) {
        stream_->launch(module_->kernel(kernel), grid,
                        {reinterpret_cast<const uint8_t*>(&parameters), sizeof parameters});
        stream_->wait();
    }
    Stream& stream() { return *stream_; }
    Module& module() { return *module_; }

  private:
    DeviceAddress room(uint64_t bytes);

    Device& device_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<Module> module_;
    std::vector<DeviceMemory> memory_;
};

}  // namespace loom::gpu::test
