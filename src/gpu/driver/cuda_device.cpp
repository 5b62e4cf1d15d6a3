#include "gpu/driver/cuda_device.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include <fmt/core.h>

#include "gpu/driver/cuda_context.h"
#include "gpu/driver/cuda_stream.h"

namespace loom::gpu {

thread_local uint64_t CudaContext::current_number = 0;

CudaContext::CudaContext(const CudaDriver& driver, CudaDriver::Device device)
    : driver_(driver), device_(device) {
    static std::atomic<uint64_t> contexts{0};
    number_ = ++contexts;
    // Where the driver waits by itself it shall sleep. Refused where a context of the device is in
    // use already, which keeps its own way.
    driver_.DevicePrimaryCtxSetFlags(device_, kCudaContextBlockingSync);
    check(driver_, driver_.DevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
    try {
        make_current();
    } catch (...) {
        driver_.DevicePrimaryCtxRelease(device_);
        throw;
    }
    // Look-ups read 32 bytes here and there, so nothing beside them shall be fetched. A hint: a
    // device that does not know it does not matter.
    driver_.CtxSetLimit(kCudaLimitFetchGranularity, 32);
}

CudaContext::~CudaContext() {
    if (current_number == number_) {
        driver_.CtxSetCurrent(nullptr);
        current_number = 0;
    }
    driver_.DevicePrimaryCtxRelease(device_);
}

void CudaContext::make_current() const {
    check(driver_, driver_.CtxSetCurrent(context_), "cuCtxSetCurrent");
    current_number = number_;
}

namespace {

using Driver = CudaDriver;

int attribute(const Driver& driver, int which, Driver::Device device) {
    int value = 0;
    check(driver, driver.DeviceGetAttribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
}

DeviceFacts facts_of(const Driver& driver, Driver::Device device) {
    DeviceFacts facts;
    char name[256] = {};
    check(driver, driver.DeviceGetName(name, sizeof name - 1, device), "cuDeviceGetName");
    facts.name = name;
    facts.architecture = fmt::format("sm_{}{}", attribute(driver, kCudaCapabilityMajor, device),
                                     attribute(driver, kCudaCapabilityMinor, device));
    check(driver, driver.DriverGetVersion(&facts.driver_version), "cuDriverGetVersion");
    facts.multiprocessors = attribute(driver, kCudaMultiprocessors, device);
    facts.threads_per_multiprocessor = attribute(driver, kCudaThreadsPerMultiprocessor, device);
    size_t memory = 0;
    check(driver, driver.DeviceTotalMem(&memory, device), "cuDeviceTotalMem");
    facts.memory = memory;
    facts.cache = static_cast<uint64_t>(attribute(driver, kCudaCacheBytes, device));
    facts.shared_bytes = static_cast<uint64_t>(attribute(driver, kCudaSharedBytesPerBlock, device));
    return facts;
}

Driver::Device device_at(const Driver& driver, int ordinal) {
    Driver::Device device = 0;
    check(driver, driver.DeviceGet(&device, ordinal), "cuDeviceGet");
    return device;
}

class CudaModule : public Module {
  public:
    CudaModule(const CudaContext& context, const DeviceFacts& facts, base::ByteSpan image)
        : context_(context), facts_(facts) {
        // The driver is not told how long an image is, so it has to look like one at least.
        static constexpr char kElf[] = {0x7f, 'E', 'L', 'F'};
        if (image.size() < 64 || std::memcmp(image.data(), kElf, sizeof kElf) != 0)
            throw DeviceError(DeviceError::Kind::kRefused, "the image is no cubin");
        context_.call("cuModuleLoadData", &Driver::ModuleLoadData, &module_, image.data());
    }
    CudaModule(const CudaModule&) = delete;
    CudaModule& operator=(const CudaModule&) = delete;
    ~CudaModule() override { context_.call_quietly(&Driver::ModuleUnload, module_); }

    Kernel kernel(const std::string& name) override {
        const std::lock_guard lock(mutex_);
        const auto known = kernels_.find(name);
        if (known != kernels_.end()) return known->second;
        return kernels_.emplace(name, find(name)).first->second;
    }

  private:
    Kernel find(const std::string& name) const {
        Driver::Function function = nullptr;
        context_.call("cuModuleGetFunction", &Driver::ModuleGetFunction, &function, module_,
                      name.c_str());
        Kernel kernel;
        kernel.handle = function;
        const auto read = [&](int& value, int which) {
            context_.call("cuFuncGetAttribute", &Driver::FuncGetAttribute, &value, which, function);
        };
        read(kernel.registers, kCudaFunctionRegisters);
        read(kernel.local_bytes, kCudaFunctionLocalBytes);
        read(kernel.shared_bytes, kCudaFunctionSharedBytes);
        // Blocks may have more than 48 KB only if the function allows it. It is allowed all that
        // there is here rather than what a launch wants there, where another thread might be
        // about to launch it with more.
        const int dynamic = static_cast<int>(facts_.shared_bytes) - kernel.shared_bytes;
        context_.call("cuFuncSetAttribute", &Driver::FuncSetAttribute, function,
                      kCudaFunctionMaxDynamicSharedBytes, std::max(dynamic, 0));
        return kernel;
    }

    const CudaContext& context_;
    const DeviceFacts& facts_;
    Driver::Module module_ = nullptr;
    std::mutex mutex_;
    std::map<std::string, Kernel> kernels_;
};

class CudaDevice : public Device {
  public:
    CudaDevice(const Driver& driver, Driver::Device device)
        : facts_(facts_of(driver, device)), context_(driver, device) {}

    const DeviceFacts& facts() const override { return facts_; }
    MemoryState memory() override {
        size_t free = 0;
        size_t total = 0;
        context_.call("cuMemGetInfo", &Driver::MemGetInfo, &free, &total);
        return {free, total};
    }

    // The driver aligns to 256 bytes at least (CUDA C++ Programming Guide, device memory accesses)
    // and refuses to allocate nothing.
    DeviceAddress allocate(uint64_t bytes) override {
        DeviceAddress address = 0;
        context_.call("cuMemAlloc", &Driver::MemAlloc, &address, std::max<uint64_t>(bytes, 1));
        return address;
    }
    void release(DeviceAddress address) noexcept override {
        if (address != 0) context_.call_quietly(&Driver::MemFree, address);
    }
    void* pin(uint64_t bytes) override {
        void* memory = nullptr;
        context_.call("cuMemHostAlloc", &Driver::MemHostAlloc, &memory,
                      std::max<uint64_t>(bytes, 1), 0U);
        return memory;
    }
    void unpin(void* memory) noexcept override {
        if (memory != nullptr) context_.call_quietly(&Driver::MemFreeHost, memory);
    }

    std::unique_ptr<Stream> make_stream() override {
        return std::make_unique<CudaStream>(context_, facts_);
    }
    std::unique_ptr<Module> load(base::ByteSpan image) override {
        return std::make_unique<CudaModule>(context_, facts_, image);
    }

  private:
    DeviceFacts facts_;
    CudaContext context_;
};

}  // namespace

std::vector<DeviceFacts> cuda_devices(std::string* reason) {
    std::vector<DeviceFacts> devices;
    const Driver* driver = cuda_driver(reason);
    if (driver == nullptr) return devices;
    try {
        int count = 0;
        check(*driver, driver->DeviceGetCount(&count), "cuDeviceGetCount");
        for (int i = 0; i < count; ++i) devices.push_back(facts_of(*driver, device_at(*driver, i)));
        if (devices.empty()) *reason = "the driver finds no device";
    } catch (const DeviceError& error) {
        devices.clear();
        *reason = error.what();
    }
    return devices;
}

std::unique_ptr<Device> open_cuda_device(int ordinal) {
    std::string reason;
    const Driver* driver = cuda_driver(&reason);
    if (driver == nullptr) throw DeviceError(DeviceError::Kind::kAbsent, reason);
    return open_cuda_device(*driver, ordinal);
}

std::unique_ptr<Device> open_cuda_device(const CudaDriver& driver, int ordinal) {
    return std::make_unique<CudaDevice>(driver, device_at(driver, ordinal));
}

}  // namespace loom::gpu
