#include "gpu/driver/faulty_device.h"

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/error.h"

namespace loom::gpu {

namespace {

using Kind = DeviceError::Kind;

struct Field {
    std::string_view name;
    int64_t FaultPlan::*member;
};
constexpr Field kFields[] = {{"allocation", &FaultPlan::allocation},
                             {"launch", &FaultPlan::launch},
                             {"load", &FaultPlan::load},
                             {"call", &FaultPlan::call},
                             {"wait", &FaultPlan::wait},
                             {"hang_ms", &FaultPlan::hang_ms}};

void parse_field(std::string_view text, FaultPlan& plan) {
    const size_t equals = text.find('=');
    for (const Field& field : kFields) {
        if (equals == std::string_view::npos || text.substr(0, equals) != field.name) continue;
        const char* const end = text.data() + text.size();
        int64_t value = 0;
        const auto [stop, error] = std::from_chars(text.data() + equals + 1, end, value);
        if (error != std::errc() || stop != end || value < 0) break;
        plan.*field.member = value;
        return;
    }
    base::raise(base::ErrorKind::kBadOption, "\"{}\" is no fault of a device", text);
}

}  // namespace

FaultPlan parse_fault_plan(std::string_view text) {
    FaultPlan plan;
    while (!text.empty()) {
        const size_t comma = text.find(',');
        parse_field(text.substr(0, comma), plan);
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    return plan;
}

// Counts calls and raises what the plan says.
class FaultyDevice::Script {
  public:
    explicit Script(const FaultPlan& plan) : plan_(plan) {}

    void call() {
        const std::lock_guard lock(mutex_);
        count_call();
    }
    void allocation() {
        raise_at(allocations_, plan_.allocation, Kind::kMemory, "no memory for this allocation");
    }
    void launch() { raise_at(launches_, plan_.launch, Kind::kRefused, "this launch is refused"); }
    void load() { raise_at(loads_, plan_.load, Kind::kRefused, "this module is refused"); }

    // Hangs if the plan says so.
    void wait() {
        std::unique_lock lock(mutex_);
        count_call();
        if (++waits_ != plan_.wait) return;
        hangs_ = true;
        const auto released = [this] { return released_; };
        if (plan_.hang_ms == 0)
            changed_.wait(lock, released);
        else
            changed_.wait_for(lock, std::chrono::milliseconds(plan_.hang_ms), released);
        hangs_ = false;
    }
    void release() {
        const std::lock_guard lock(mutex_);
        released_ = true;
        changed_.notify_all();
    }
    bool hangs() const {
        const std::lock_guard lock(mutex_);
        return hangs_;
    }

  private:
    void count_call() {
        if (plan_.call != 0 && ++calls_ >= plan_.call)
            throw DeviceError(Kind::kLost, "injected fault: the device is lost");
    }
    void raise_at(int64_t& count, int64_t which, Kind kind, const char* what) {
        const std::lock_guard lock(mutex_);
        count_call();
        if (++count == which) throw DeviceError(kind, fmt::format("injected fault: {}", what));
    }

    const FaultPlan plan_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int64_t calls_ = 0;
    int64_t allocations_ = 0;
    int64_t launches_ = 0;
    int64_t loads_ = 0;
    int64_t waits_ = 0;
    bool released_ = false;
    bool hangs_ = false;
};

class FaultyDevice::FaultyModule : public Module {
  public:
    FaultyModule(std::unique_ptr<Module> module, std::shared_ptr<Script> script)
        : module_(std::move(module)), script_(std::move(script)) {}

    Kernel kernel(const std::string& name) override {
        script_->call();
        return module_->kernel(name);
    }

  private:
    std::unique_ptr<Module> module_;
    std::shared_ptr<Script> script_;
};

class FaultyDevice::FaultyStream : public Stream {
  public:
    FaultyStream(std::unique_ptr<Stream> stream, std::shared_ptr<Script> script)
        : stream_(std::move(stream)), script_(std::move(script)) {}

    void upload(DeviceAddress to, const void* from, uint64_t bytes) override {
        script_->call();
        stream_->upload(to, from, bytes);
    }
    void download(void* to, DeviceAddress from, uint64_t bytes) override {
        script_->call();
        stream_->download(to, from, bytes);
    }
    void copy(DeviceAddress to, DeviceAddress from, uint64_t bytes) override {
        script_->call();
        stream_->copy(to, from, bytes);
    }
    void fill(DeviceAddress to, uint8_t value, uint64_t bytes) override {
        script_->call();
        stream_->fill(to, value, bytes);
    }
    void launch(const Kernel& kernel, const Grid& grid, base::ByteSpan parameters) override {
        script_->launch();
        stream_->launch(kernel, grid, parameters);
    }
    int mark() override {
        script_->call();
        return stream_->mark();
    }
    double elapsed(int from, int to) override {
        script_->call();
        return stream_->elapsed(from, to);
    }
    void forget_marks() override { stream_->forget_marks(); }
    bool finished() override {
        script_->call();
        if (script_->hangs()) return false;
        return stream_->finished();
    }
    void wait() override {
        script_->wait();
        stream_->wait();
    }

  private:
    std::unique_ptr<Stream> stream_;
    std::shared_ptr<Script> script_;
};

FaultyDevice::FaultyDevice(std::unique_ptr<Device> device, const FaultPlan& plan)
    : device_(std::move(device)), script_(std::make_shared<Script>(plan)) {}

FaultyDevice::~FaultyDevice() = default;

const DeviceFacts& FaultyDevice::facts() const {
    return device_->facts();
}

MemoryState FaultyDevice::memory() {
    script_->call();
    return device_->memory();
}

DeviceAddress FaultyDevice::allocate(uint64_t bytes) {
    script_->allocation();
    return device_->allocate(bytes);
}

void FaultyDevice::release(DeviceAddress address) noexcept {
    device_->release(address);
}

void FaultyDevice::spoil(DeviceAddress address, uint64_t bytes) {
    device_->spoil(address, bytes);
}

void* FaultyDevice::pin(uint64_t bytes) {
    script_->allocation();
    return device_->pin(bytes);
}

void FaultyDevice::unpin(void* memory) noexcept {
    device_->unpin(memory);
}

std::unique_ptr<Stream> FaultyDevice::make_stream() {
    script_->call();
    return std::make_unique<FaultyStream>(device_->make_stream(), script_);
}

std::unique_ptr<Module> FaultyDevice::load(base::ByteSpan image) {
    script_->load();
    return std::make_unique<FaultyModule>(device_->load(image), script_);
}

void FaultyDevice::release_hang() {
    script_->release();
}

bool FaultyDevice::hangs() const {
    return script_->hangs();
}

}  // namespace loom::gpu
