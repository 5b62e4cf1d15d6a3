#include "gpu/driver/faulty_device.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/test_kernels.h"

namespace loom::gpu::test {
namespace {

using Kind = DeviceError::Kind;

const char* const kText = R"text(
#include "gpu/runtime/machine.h"
namespace loom::gpu {
struct Nothing {
    uint64_t unused;
};
LOOM_KERNEL(nothing, Nothing, 32, 1) {}
}  // namespace loom::gpu
)text";

// The image is the same for all tests.
base::ByteSpan image() {
    static const std::string bytes = open_test_device("host").compiler->compile(kText, "host");
    return base::as_bytes(bytes);
}

std::unique_ptr<FaultyDevice> open(const char* plan) {
    return std::make_unique<FaultyDevice>(open_host_device(), parse_fault_plan(plan));
}

// Returns what a call raises, or nothing.
std::optional<Kind> fault(const std::function<void()>& call) {
    try {
        call();
    } catch (const DeviceError& error) {
        return error.kind();
    }
    return std::nullopt;
}

TEST(FaultPlan, IsReadFromText) {
    const FaultPlan plan =
        parse_fault_plan("allocation=3,launch=7,load=1,call=9,wait=2,hang_ms=50");
    EXPECT_EQ(plan.allocation, 3);
    EXPECT_EQ(plan.launch, 7);
    EXPECT_EQ(plan.load, 1);
    EXPECT_EQ(plan.call, 9);
    EXPECT_EQ(plan.wait, 2);
    EXPECT_EQ(plan.hang_ms, 50);
    EXPECT_EQ(parse_fault_plan("").call, 0);
    for (const char* text : {"launch", "launch=", "launch=x", "launch=1x", "launch=-1", "lunch=1",
                             ",launch=1", "=1", "launch=99999999999999999999"})
        EXPECT_THROW(parse_fault_plan(text), base::Error) << text;
}

TEST(FaultyDevice, PassesCallsOn) {
    const auto device = open("");
    Bench bench(*device, *open_test_device("host").compiler, operations_text());
    Sums p{bench.upload(std::vector<uint64_t>{4, 5}), bench.upload(std::vector<uint64_t>{0}), 2};
    bench.run("sums", {1, 32, 0}, p);
    EXPECT_EQ(bench.download(p.sum, 1)[0], 9U);
    EXPECT_EQ(device->facts().architecture, "host");
}

TEST(FaultyDevice, FailsAnAllocation) {
    const auto device = open("allocation=3");
    const DeviceMemory first(*device, 10);
    device->unpin(device->pin(10));
    EXPECT_EQ(fault([&] { device->allocate(10); }), Kind::kMemory);
    const DeviceMemory fourth(*device, 10);
}

TEST(FaultyDevice, FailsALaunch) {
    const auto device = open("launch=2");
    const auto module = device->load(image());
    const auto stream = device->make_stream();
    const Kernel kernel = module->kernel("nothing");
    const uint64_t parameters = 0;
    const auto launch = [&] {
        stream->launch(kernel, {1, 32, 0}, {reinterpret_cast<const uint8_t*>(&parameters), 8});
    };
    EXPECT_EQ(fault(launch), std::nullopt);
    EXPECT_EQ(fault(launch), Kind::kRefused);
    EXPECT_EQ(fault(launch), std::nullopt);
}

TEST(FaultyDevice, FailsALoad) {
    const auto device = open("load=1");
    EXPECT_EQ(fault([&] { device->load(image()); }), Kind::kRefused);
    EXPECT_NE(device->load(image()), nullptr);
}

TEST(FaultyDevice, IsLost) {
    const auto device = open("call=5");
    const auto module = device->load(image());  // 1
    const auto stream = device->make_stream();
    DeviceMemory memory(*device, 16);
    const Kernel kernel = module->kernel("nothing");
    uint8_t bytes[16] = {};
    const std::function<void()> calls[] = {
        [&] { stream->upload(memory.address(), bytes, 16); },
        [&] { stream->download(bytes, memory.address(), 16); },
        [&] { stream->copy(memory.address(), memory.address(), 16); },
        [&] { stream->fill(memory.address(), 0, 16); },
        [&] {
            stream->launch(kernel, {1, 32, 0}, {bytes, 8});
        },
        [&] { stream->mark(); },
        [&] { stream->elapsed(0, 0); },
        [&] { stream->finished(); },
        [&] { stream->wait(); },
        [&] { device->memory(); },
        [&] { device->allocate(1); },
        [&] { device->pin(1); },
        [&] { device->make_stream(); },
        [&] { device->load(image()); },
        [&] { module->kernel("nothing"); },
    };
    for (const auto& call : calls) EXPECT_EQ(fault(call), Kind::kLost);
}

TEST(FaultyDevice, HangsForATime) {
    const auto device = open("wait=2,hang_ms=30");
    const auto stream = device->make_stream();
    stream->wait();
    const auto begin = std::chrono::steady_clock::now();
    stream->wait();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30));
    stream->wait();
}

TEST(FaultyDevice, HangsUntilReleased) {
    const auto device = open("wait=1");
    const auto stream = device->make_stream();
    std::thread waiting([&] { stream->wait(); });
    while (!device->hangs()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(device->make_stream()->finished());
    device->release_hang();
    waiting.join();
    EXPECT_FALSE(device->hangs());
    EXPECT_TRUE(stream->finished());
}

}  // namespace
}  // namespace loom::gpu::test
