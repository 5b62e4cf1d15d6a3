#include "gpu/driver/cuda_stream.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace loom::gpu {

namespace {

using Clock = std::chrono::steady_clock;
using Driver = CudaDriver;

// CU_LAUNCH_PARAM_END, _BUFFER_POINTER and _BUFFER_SIZE of cuda.h, which are numbers given as
// addresses.
void* launch_parameter(uintptr_t number) {
    return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr)
}

constexpr auto kSpin = std::chrono::microseconds(50);
constexpr auto kFirstSleep = std::chrono::microseconds(20);
constexpr auto kLongestSleep = std::chrono::microseconds(200);

}  // namespace

CudaStream::CudaStream(const CudaContext& context, const DeviceFacts& facts)
    : context_(context), facts_(facts) {
    context_.call("cuStreamCreate", &Driver::StreamCreate, &stream_, kCudaStreamNonBlocking);
}

CudaStream::~CudaStream() {
    for (const Driver::Event event : events_) context_.call_quietly(&Driver::EventDestroy, event);
    context_.call_quietly(&Driver::StreamDestroy, stream_);
}

void CudaStream::upload(DeviceAddress to, const void* from, uint64_t bytes) {
    if (bytes == 0) return;
    context_.call("cuMemcpyHtoDAsync", &Driver::MemcpyHtoDAsync, to, from, bytes, stream_);
}

void CudaStream::download(void* to, DeviceAddress from, uint64_t bytes) {
    if (bytes == 0) return;
    context_.call("cuMemcpyDtoHAsync", &Driver::MemcpyDtoHAsync, to, from, bytes, stream_);
}

void CudaStream::copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) {
    if (bytes == 0) return;
    context_.call("cuMemcpyDtoDAsync", &Driver::MemcpyDtoDAsync, to, from, bytes, stream_);
}

void CudaStream::fill(DeviceAddress to, uint8_t value, uint64_t bytes) {
    if (bytes == 0) return;
    context_.call("cuMemsetD8Async", &Driver::MemsetD8Async, to, value, bytes, stream_);
}

void CudaStream::launch(const Kernel& kernel, const Grid& grid, base::ByteSpan parameters) {
    check_launch(facts_, grid, parameters.size());
    size_t bytes = parameters.size();
    void* extra[] = {launch_parameter(1), const_cast<uint8_t*>(parameters.data()),
                     launch_parameter(2), &bytes, launch_parameter(0)};
    context_.call("cuLaunchKernel", &Driver::LaunchKernel,
                  static_cast<Driver::Function>(kernel.handle), grid.blocks, 1U, 1U, grid.threads,
                  1U, 1U, grid.shared_bytes, stream_, nullptr, extra);
}

int CudaStream::mark() {
    if (marks_ == events_.size()) {
        Driver::Event event = nullptr;
        context_.call("cuEventCreate", &Driver::EventCreate, &event, 0U);
        events_.push_back(event);
    }
    context_.call("cuEventRecord", &Driver::EventRecord, events_[marks_], stream_);
    return static_cast<int>(marks_++);
}

double CudaStream::elapsed(int from, int to) {
    float milliseconds = 0;
    context_.call("cuEventElapsedTime", &Driver::EventElapsedTime, &milliseconds,
                  events_.at(static_cast<size_t>(from)), events_.at(static_cast<size_t>(to)));
    return milliseconds;
}

bool CudaStream::finished() {
    const Driver& driver = context_.enter();
    const CudaResult result = driver.StreamQuery(stream_);
    if (result == kCudaNotReady) return false;
    check(driver, result, "cuStreamQuery");
    return true;
}

// Asks again and again rather than waiting for an event inside the driver: that wait may never
// return if the device is lost, and costs an interrupt and a thread's wake-up also where the work
// takes some microseconds. What is done within kSpin is seen at once; a longer wait ends at most
// kLongestSleep (and the timer's slack, 50 us) too late, a small part of it.
void CudaStream::wait() {
    const Clock::time_point begin = Clock::now();
    while (Clock::now() - begin < kSpin)
        if (finished()) return;
    for (auto sleep = kFirstSleep; !finished(); sleep = std::min(sleep * 2, kLongestSleep))
        std::this_thread::sleep_for(sleep);
}

}  // namespace loom::gpu
