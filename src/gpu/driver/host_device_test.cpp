// What only the host's device checks.

#include "gpu/driver/host_device.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "gpu/driver/host_compiler.h"
#include "gpu/driver/sanitizers.h"
#include "gpu/driver/test_kernels.h"

namespace loom::gpu::test {
namespace {

namespace fs = std::filesystem;

const char* const kText = R"text(
#include "gpu/runtime/machine.h"

namespace loom::gpu {

struct Where {
    uint32_t* out;
    uint32_t thread;
};

LOOM_KERNEL(lane_missing, Where, 128, 1) {
    if (thread_index() != p.thread) p.out[thread_index()] = ballot(true);
}

LOOM_KERNEL(warp_missing, Where, 128, 1) {
    if (warp_index() != p.thread / 32) block_sync();
    p.out[thread_index()] = block_index();
}

LOOM_KERNEL(other_barrier, Where, 128, 1) {
    if (block_index() == 2 && thread_index() == p.thread)
        block_sync();
    else
        warp_sync();
}

LOOM_KERNEL(half_missing, Where, 128, 1) {
    if (thread_index() % 2 == 0) block_sync();
}

LOOM_KERNEL(one_thread, Where, 128, 1) {
    if (thread_index() == 0) p.out[0] = p.out[p.thread];
}

// Warps of a block write and read what only a barrier of the block would keep apart.
LOOM_KERNEL(race_of_warps, Where, 128, 1) {
    LOOM_SHARED uint32_t last;
    last = warp_index();
    warp_sync();
    p.out[thread_index()] = last;
}
LOOM_KERNEL(race_of_blocks, Where, 32, 1) {
    if (thread_index() == 0) p.out[0] = block_index();
}

LOOM_KERNEL(what_was_there, Where, 32, 1) {
    p.out[thread_index()] = reinterpret_cast<const uint32_t*>(shared_memory())[thread_index()];
}

LOOM_KERNEL(count_blocks, Where, 32, 1) {
    LOOM_SHARED uint32_t blocks;
    if (thread_index() == 0) p.out[block_index()] = blocks++;
}

}  // namespace loom::gpu
)text";

struct Where {
    uint32_t* out;
    uint32_t thread;
};

class HostDevice : public testing::Test {
  protected:
    void open(uint64_t seed = 0) {
        bench_.reset();
        opened_ = open_test_device("host");
        HostDeviceOptions options;
        options.seed = seed;
        options.memory = 1 << 20;
        device_ = open_host_device(options);
        bench_.emplace(*device_, *opened_.compiler, kText);
        out_ = bench_->upload(std::vector<uint32_t>(1024));
    }
    std::string refused(const char* kernel, const Grid& grid, uint32_t thread) {
        try {
            bench_->run(kernel, grid, Where{out_, thread});
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.kind(), DeviceError::Kind::kRefused);
            return error.what();
        }
        return "it ends";
    }

    TestDevice opened_;
    std::unique_ptr<Device> device_;
    std::optional<Bench> bench_;
    uint32_t* out_ = nullptr;
};

TEST_F(HostDevice, FindsBarriersThatThreadsDoNotComeTo) {
    for (const uint64_t seed : {0, 1, 2}) {
        open(seed);
        const auto has = [](const std::string& text, const char* part) {
            EXPECT_NE(text.find(part), std::string::npos) << text;
        };
        std::string text = refused("lane_missing", {3, 128, 0}, 37);
        has(text, "kernel lane_missing, block ");
        has(text, " waits at a barrier of its warp, but thread 37 has ended");
        text = refused("warp_missing", {1, 128, 0}, 64);
        has(text, " waits at a barrier of the block, but thread 64 has ended");
        text = refused("other_barrier", {4, 128, 0}, 5);
        has(text, "kernel other_barrier, block 2: thread ");
        has(text, " waits at a barrier of its warp, but thread 5 waits at a barrier of the block");
        text = refused("half_missing", {1, 128, 0}, 0);
        has(text, " waits at a barrier of the block, but thread ");
        // The device goes on.
        EXPECT_EQ(refused("lane_missing", {3, 128, 0}, 128), "it ends");
        EXPECT_EQ(bench_->download(out_, 1)[0], 0xffffffffU);
    }
}

TEST_F(HostDevice, ShowsRaces) {
    open();
    bench_->run("race_of_warps", {1, 128, 0}, Where{out_, 0});
    bench_->run("race_of_blocks", {50, 32, 0}, Where{out_ + 128, 0});
    std::vector<uint32_t> out = bench_->download(out_, 129);
    for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i / 32) << "warps one after the other";
    EXPECT_EQ(out[128], 49U);

    bool warps = false;
    bool blocks = false;
    for (uint64_t seed = 1; seed < 10; ++seed) {
        open(seed);
        bench_->run("race_of_warps", {1, 128, 0}, Where{out_, 0});
        bench_->run("race_of_blocks", {50, 32, 0}, Where{out_ + 128, 0});
        out = bench_->download(out_, 129);
        for (uint32_t i = 0; i < 128; ++i) warps |= out[i] != i / 32;
        blocks |= out[128] != 49;
    }
    EXPECT_TRUE(warps);
    EXPECT_TRUE(blocks);
}

TEST_F(HostDevice, TakesItsSeedFromTheEnvironment) {
    setenv("LOOM_HOST_DEVICE_SEED", "3", 1);
    open();
    unsetenv("LOOM_HOST_DEVICE_SEED");
    bench_->run("race_of_blocks", {50, 32, 0}, Where{out_, 0});
    EXPECT_NE(bench_->download(out_, 1)[0], 49U);
}

TEST_F(HostDevice, SpoilsMemory) {
    open();
    const DeviceMemory memory(*device_, 4);
    auto* fresh = reinterpret_cast<const uint32_t*>(memory.address());
    EXPECT_EQ(bench_->download(fresh, 1)[0], 0xa5a5a5a5U);
    bench_->run("what_was_there", {2, 32, 128}, Where{out_, 0});
    EXPECT_EQ(bench_->download(out_, 32), std::vector<uint32_t>(32, 0xa5a5a5a5U));
}

TEST_F(HostDevice, ChecksCopies) {
    open();
    const DeviceMemory memory(*device_, 1000);
    std::vector<uint8_t> bytes(2000);
    Stream& stream = bench_->stream();
    stream.upload(memory.address() + 1, bytes.data(), 999);
    EXPECT_THROW(stream.upload(memory.address() + 2, bytes.data(), 999), DeviceError);
    EXPECT_THROW(stream.download(bytes.data(), memory.address(), 1001), DeviceError);
    EXPECT_THROW(stream.fill(memory.address() - 1, 0, 10), DeviceError);
    EXPECT_THROW(stream.copy(memory.address(), 4096, 10), DeviceError);
    EXPECT_THROW(stream.copy(4096, memory.address(), 10), DeviceError);
}

TEST_F(HostDevice, CountsMemory) {
    open();
    const uint64_t free = device_->memory().free;
    {
        DeviceMemory memory(*device_, 1000);
        EXPECT_EQ(device_->memory().free, free - 1000);
        DeviceMemory moved = std::move(memory);
        EXPECT_EQ(moved.bytes(), 1000U);
        EXPECT_THROW(device_->allocate(free), DeviceError);
        EXPECT_EQ(device_->memory().free, free - 1000);
    }
    EXPECT_EQ(device_->memory().free, free);
}

// Each image has static memory of its own, and what it is told of the machine.
TEST_F(HostDevice, RunsSeveralModules) {
    open();
    Bench second(*device_, *opened_.compiler, kText);
    auto* out = second.upload(std::vector<uint32_t>(4));
    for (int i = 0; i < 2; ++i) {
        bench_->run("count_blocks", {2, 32, 0}, Where{out_ + 2 * i, 0});
        second.run("count_blocks", {2, 32, 0}, Where{out + 2 * i, 0});
    }
    const std::vector<uint32_t> wanted = {0, 1, 2, 3};
    EXPECT_EQ(bench_->download(out_, 4), wanted);
    EXPECT_EQ(second.download(out, 4), wanted);

    std::thread other([&] {
        for (int i = 0; i < 20; ++i)
            second.run("lane_missing", {4, 128, 0}, Where{out_ + 512, 128});
    });
    for (int i = 0; i < 20; ++i) bench_->run("lane_missing", {4, 128, 0}, Where{out_, 128});
    other.join();
    EXPECT_EQ(bench_->download(out_, 128), std::vector<uint32_t>(128, 0xffffffffU));
}

TEST_F(HostDevice, FindsReadsBeyondTheEnd) {
#if LOOM_ADDRESS_SANITIZER
    open();
    const DeviceMemory memory(*device_, 12);
    auto* out = reinterpret_cast<uint32_t*>(memory.address());
    bench_->run("one_thread", {1, 32, 0}, Where{out, 2});
    EXPECT_DEATH(bench_->run("one_thread", {1, 32, 0}, Where{out, 3}), "heap-buffer-overflow");
    EXPECT_DEATH(bench_->run("what_was_there", {1, 32, 124}, Where{out_, 0}),
                 "heap-buffer-overflow");
#else
    GTEST_SKIP() << "needs AddressSanitizer";
#endif
}

TEST(HostCompiler, SaysWhatIsWrong) {
    std::string reason;
    const auto compiler = make_host_compiler(&reason);
    ASSERT_NE(compiler, nullptr) << reason;
    try {
        compiler->compile("#include \"gpu/runtime/machine.h\"\nint kernel = no_such_thing;\n",
                          "host");
        FAIL() << "that is no kernel";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.kind(), DeviceError::Kind::kRefused);
        EXPECT_NE(std::string(error.what()).find("no_such_thing"), std::string::npos);
    }
    EXPECT_THROW(compiler->compile(operations_text(), "sm_90"), DeviceError);
    EXPECT_NE(compiler->version().find("-O1"), std::string::npos);
}

TEST(HostCompiler, LeavesNothingBehind) {
    const fs::path folder =
        fs::temp_directory_path() / ("loom_compiler_test_" + std::to_string(getpid()));
    fs::create_directory(folder);
    const char* before = getenv("TMPDIR");
    const std::string kept = before == nullptr ? "" : before;
    setenv("TMPDIR", folder.c_str(), 1);
    std::string reason;
    const auto compiler = make_host_compiler(&reason);
    EXPECT_FALSE(compiler->compile("int nothing;", "host").empty());
    EXPECT_THROW(compiler->compile("?", "host"), DeviceError);
    if (before == nullptr)
        unsetenv("TMPDIR");
    else
        setenv("TMPDIR", kept.c_str(), 1);
    EXPECT_TRUE(fs::is_empty(folder));
    fs::remove_all(folder);
}

TEST(HostCompiler, MayBeMissing) {
    setenv("LOOM_HOST_COMPILER", "/no/such/compiler", 1);
    std::string reason;
    EXPECT_EQ(make_host_compiler(&reason), nullptr);
    unsetenv("LOOM_HOST_COMPILER");
    EXPECT_NE(reason.find("/no/such/compiler"), std::string::npos) << reason;
}

}  // namespace
}  // namespace loom::gpu::test
