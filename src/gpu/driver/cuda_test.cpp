// The device of CUDA over a driver that is made up, so that it is tested where there is none. Real
// devices run kernels_test.cpp.

#include "gpu/driver/cuda_device.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

namespace loom::gpu {
namespace {

using Kind = DeviceError::Kind;
using Driver = CudaDriver;

// What the made-up driver was told, and what it shall answer.
struct Record {
    std::atomic<int> set_current{0};
    int alive = 0;  // allocations, streams, events, modules, contexts
    int queries = 0;
    std::atomic<int> ready_after{0};  // queries
    CudaResult query_result = kCudaSuccess;
    CudaResult allocate_result = kCudaSuccess;
    std::map<int, size_t> limits;
    std::array<unsigned, 3> grid{};  // blocks, threads, shared bytes
    std::string parameters;
    int dynamic_bytes = 0;
    uint64_t uploaded = 0;
};
Record* record = nullptr;
thread_local Driver::Context current = nullptr;

template <typename T>
T handle(uintptr_t number) {
    return reinterpret_cast<T>(number);
}
// Of calls that need a context.
CudaResult in_context(CudaResult result = kCudaSuccess) {
    return current == handle<Driver::Context>(7) ? result : static_cast<CudaResult>(201);
}
CudaResult made(int count) {
    record->alive += count;
    return in_context();
}

// Reads the buffer that cuLaunchKernel is handed as pairs of a kind and an address.
CudaResult note_launch(Driver::Function, unsigned x, unsigned y, unsigned z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared, Driver::Stream,
                       void** parameters, void** extra) {
    EXPECT_EQ(y * z * block_y * block_z, 1U);
    EXPECT_EQ(parameters, nullptr);
    EXPECT_EQ(extra[0], handle<void*>(1));
    EXPECT_EQ(extra[2], handle<void*>(2));
    EXPECT_EQ(extra[4], nullptr);
    record->grid = {x, block_x, shared};
    record->parameters.assign(static_cast<const char*>(extra[1]),
                              *static_cast<const size_t*>(extra[3]));
    return in_context();
}

CudaResult attribute_of_device(int* value, int attribute, Driver::Device) {
    const std::map<int, int> values = {
        {kCudaMultiprocessors, 132}, {kCudaThreadsPerMultiprocessor, 2048},
        {kCudaCacheBytes, 60 << 20}, {kCudaCapabilityMajor, 9},
        {kCudaCapabilityMinor, 0},   {kCudaSharedBytesPerBlock, 227 << 10}};
    *value = values.at(attribute);
    return kCudaSuccess;
}

Driver made_up_driver() {
    Driver driver{};
    driver.DriverGetVersion = [](int* version) {
        *version = 13000;
        return kCudaSuccess;
    };
    driver.GetErrorName = [](CudaResult, const char** name) {
        *name = "CUDA_ERROR_OF_TEST";
        return kCudaSuccess;
    };
    driver.GetErrorString = [](CudaResult, const char** text) {
        *text = "made up";
        return kCudaSuccess;
    };
    driver.DeviceGet = [](Driver::Device* device, int ordinal) {
        *device = ordinal;
        return ordinal == 0 ? kCudaSuccess : static_cast<CudaResult>(101);
    };
    driver.DeviceGetName = [](char* name, int length, Driver::Device) {
        std::strncpy(name, "Paper 100", static_cast<size_t>(length));
        return kCudaSuccess;
    };
    driver.DeviceGetAttribute = &attribute_of_device;
    driver.DeviceTotalMem = [](size_t* bytes, Driver::Device) {
        *bytes = 1 << 30;
        return kCudaSuccess;
    };
    driver.DevicePrimaryCtxSetFlags = [](Driver::Device, unsigned) { return kCudaSuccess; };
    driver.DevicePrimaryCtxRetain = [](Driver::Context* context, Driver::Device) {
        *context = handle<Driver::Context>(7);
        ++record->alive;
        return kCudaSuccess;
    };
    driver.DevicePrimaryCtxRelease = [](Driver::Device) {
        --record->alive;
        return kCudaSuccess;
    };
    driver.CtxSetCurrent = [](Driver::Context context) {
        ++record->set_current;
        current = context;
        return kCudaSuccess;
    };
    driver.CtxSetLimit = [](int limit, size_t value) {
        record->limits[limit] = value;
        return in_context();
    };
    driver.MemGetInfo = [](size_t* free, size_t* total) {
        *free = 5;
        *total = 10;
        return in_context();
    };
    driver.MemAlloc = [](DeviceAddress* address, size_t bytes) {
        if (record->allocate_result != kCudaSuccess) return record->allocate_result;
        *address = 256 * bytes;
        return made(1);
    };
    driver.MemFree = [](DeviceAddress) { return made(-1); };
    driver.MemHostAlloc = [](void** memory, size_t bytes, unsigned) {
        *memory = ::operator new(bytes);
        return made(1);
    };
    driver.MemFreeHost = [](void* memory) {
        ::operator delete(memory);
        return made(-1);
    };
    driver.StreamCreate = [](Driver::Stream* stream, unsigned flags) {
        EXPECT_EQ(flags, kCudaStreamNonBlocking);
        *stream = handle<Driver::Stream>(8);
        return made(1);
    };
    driver.StreamDestroy = [](Driver::Stream) { return made(-1); };
    driver.StreamQuery = [](Driver::Stream) {
        const bool ready = ++record->queries > record->ready_after;
        return in_context(ready ? record->query_result : kCudaNotReady);
    };
    driver.MemcpyHtoDAsync = [](DeviceAddress, const void*, size_t bytes, Driver::Stream) {
        record->uploaded += bytes;
        return in_context();
    };
    driver.EventCreate = [](Driver::Event* event, unsigned) {
        *event = handle<Driver::Event>(9);
        return made(1);
    };
    driver.EventDestroy = [](Driver::Event) { return made(-1); };
    driver.EventRecord = [](Driver::Event, Driver::Stream) { return in_context(); };
    driver.EventElapsedTime = [](float* milliseconds, Driver::Event, Driver::Event) {
        *milliseconds = 1.5;
        return in_context();
    };
    driver.ModuleLoadData = [](Driver::Module* module, const void*) {
        *module = handle<Driver::Module>(10);
        return made(1);
    };
    driver.ModuleUnload = [](Driver::Module) { return made(-1); };
    driver.ModuleGetFunction = [](Driver::Function* function, Driver::Module, const char* name) {
        *function = handle<Driver::Function>(11);
        return in_context(name[0] == 'k' ? kCudaSuccess : static_cast<CudaResult>(500));
    };
    driver.FuncGetAttribute = [](int* value, int attribute, Driver::Function) {
        *value = attribute * 100;
        return in_context();
    };
    driver.FuncSetAttribute = [](Driver::Function, int attribute, int value) {
        EXPECT_EQ(attribute, kCudaFunctionMaxDynamicSharedBytes);
        record->dynamic_bytes = value;
        return in_context();
    };
    driver.LaunchKernel = &note_launch;
    return driver;
}

std::string elf() {
    std::string image(100, 0);
    std::memcpy(image.data(),
                "\x7f"
                "ELF",
                4);
    return image;
}

class CudaDeviceTest : public testing::Test {
  protected:
    CudaDeviceTest() { record = &record_; }
    ~CudaDeviceTest() override { record = nullptr; }
    std::unique_ptr<Device> open() { return open_cuda_device(driver_, 0); }
    static Kind kind(const std::function<void()>& call) {
        try {
            call();
        } catch (const DeviceError& error) {
            return error.kind();
        }
        ADD_FAILURE() << "nothing is raised";
        return Kind::kAbsent;
    }

    Record record_;
    Driver driver_ = made_up_driver();
};

TEST_F(CudaDeviceTest, KnowsTheDevice) {
    const auto device = open();
    const DeviceFacts& facts = device->facts();
    EXPECT_EQ(facts.name, "Paper 100");
    EXPECT_EQ(facts.architecture, "sm_90");
    EXPECT_EQ(facts.driver_version, 13000);
    EXPECT_EQ(facts.multiprocessors, 132);
    EXPECT_EQ(facts.threads_per_multiprocessor, 2048);
    EXPECT_EQ(facts.memory, 1U << 30);
    EXPECT_EQ(facts.cache, 60U << 20);
    EXPECT_EQ(facts.shared_bytes, 227U << 10);
    EXPECT_EQ(device->memory().free, 5U);
    EXPECT_EQ(device->memory().total, 10U);
    EXPECT_EQ(record_.limits[kCudaLimitFetchGranularity], 32U);
    EXPECT_EQ(kind([&] { open_cuda_device(driver_, 1); }), Kind::kAbsent);
}

TEST_F(CudaDeviceTest, GivesEverythingBack) {
    {
        const auto device = open();
        const DeviceMemory memory(*device, 100);
        const DeviceMemory none(*device, 0);
        device->unpin(device->pin(10));
        const auto stream = device->make_stream();
        stream->mark();
        stream->mark();
        const auto module = device->load(base::as_bytes(elf()));
        EXPECT_EQ(record_.alive, 7);
    }
    EXPECT_EQ(record_.alive, 0);
}

TEST_F(CudaDeviceTest, EntersTheContextOnceAThread) {
    const auto device = open();
    const auto stream = device->make_stream();
    for (int i = 0; i < 5; ++i) stream->upload(256, "x", 1);
    stream->upload(256, nullptr, 0);
    EXPECT_EQ(record_.uploaded, 5U);
    EXPECT_EQ(record_.set_current, 1);
    std::thread([&] {
        for (int i = 0; i < 5; ++i) stream->upload(256, "x", 1);
        const DeviceMemory memory(*device, 100);
    }).join();
    EXPECT_EQ(record_.set_current, 2);
    std::thread([&] { device->release(256); }).join();
    EXPECT_EQ(record_.set_current, 3);
    ++record_.alive;  // what was released is not there

    const auto other = open();
    EXPECT_EQ(record_.set_current, 4);
    stream->upload(256, "x", 1);
    EXPECT_EQ(record_.set_current, 5);
}

TEST_F(CudaDeviceTest, LaunchesKernels) {
    const auto device = open();
    const auto module = device->load(base::as_bytes(elf()));
    const Kernel kernel = module->kernel("k");
    EXPECT_EQ(kernel.registers, 400);
    EXPECT_EQ(kernel.local_bytes, 300);
    EXPECT_EQ(kernel.shared_bytes, 100);
    EXPECT_EQ(record_.dynamic_bytes, (227 << 10) - 100);
    EXPECT_EQ(kind([&] { module->kernel("other"); }), Kind::kRefused);

    const auto stream = device->make_stream();
    stream->launch(kernel, {1000, 256, 64}, base::as_bytes("parameters"));
    EXPECT_EQ(record_.grid, (std::array<unsigned, 3>{1000, 256, 64}));
    EXPECT_EQ(record_.parameters, "parameters");
    EXPECT_EQ(kind([&] { stream->launch(kernel, {1, 40, 0}, {}); }), Kind::kRefused);
    EXPECT_EQ(kind([&] { device->load(base::as_bytes("short")); }), Kind::kRefused);
    EXPECT_EQ(kind([&] { device->load(base::as_bytes(std::string(100, 'x'))); }), Kind::kRefused);
}

TEST_F(CudaDeviceTest, Waits) {
    const auto device = open();
    const auto stream = device->make_stream();
    record_.ready_after = 1;
    EXPECT_FALSE(stream->finished());
    EXPECT_TRUE(stream->finished());
    record_.ready_after = 100'000;
    std::thread device_thread([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        record_.ready_after = 0;
    });
    stream->wait();
    device_thread.join();
    // Most of these are of the first microseconds.
    EXPECT_LT(record_.queries, 100'000);

    const int begin = stream->mark();
    EXPECT_EQ(stream->elapsed(begin, stream->mark()), 1.5);
    record_.query_result = static_cast<CudaResult>(700);
    EXPECT_EQ(kind([&] { stream->wait(); }), Kind::kLost);
    EXPECT_EQ(kind([&] { stream->finished(); }), Kind::kLost);
}

TEST_F(CudaDeviceTest, SaysWhatAnErrorMeans) {
    const auto device = open();
    const std::pair<int, Kind> kinds[] = {
        {2, Kind::kMemory}, {1, Kind::kRefused}, {701, Kind::kRefused}, {209, Kind::kRefused},
        {700, Kind::kLost}, {719, Kind::kLost},  {214, Kind::kLost},    {714, Kind::kLost},
        {716, Kind::kLost}, {710, Kind::kLost},  {702, Kind::kLost},    {46, Kind::kLost},
        {709, Kind::kLost}, {999, Kind::kLost},  {100, Kind::kAbsent},  {803, Kind::kAbsent}};
    for (const auto& [result, meaning] : kinds) {
        record_.allocate_result = static_cast<CudaResult>(result);
        EXPECT_EQ(kind([&] { device->allocate(1); }), meaning) << result;
    }
    try {
        device->allocate(1);
    } catch (const DeviceError& error) {
        EXPECT_STREQ(error.what(), "cuMemAlloc: CUDA_ERROR_OF_TEST (803) made up");
    }
}

TEST(CudaDevices, SayWhyThereIsNone) {
    std::string reason;
    const std::vector<DeviceFacts> devices = cuda_devices(&reason);
    if (!devices.empty()) GTEST_SKIP() << devices.front().name;
    EXPECT_NE(reason, "");
    try {
        open_cuda_device(0);
        FAIL() << "there is no device";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.kind(), Kind::kAbsent);
        EXPECT_EQ(error.what(), reason);
    }
}

}  // namespace
}  // namespace loom::gpu
