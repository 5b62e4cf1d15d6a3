#include "gpu/driver/device_pool.h"

#include <atomic>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "gpu/driver/faulty_device.h"
#include "gpu/driver/host_device.h"

namespace loom::gpu {

namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

HostDeviceOptions memory_of(uint64_t bytes) {
    HostDeviceOptions options;
    options.memory = bytes;
    return options;
}

TEST(DevicePool, LendsTheSameAgain) {
    const auto device = open_host_device(memory_of(64 * kMegabyte));
    DevicePool pool(*device);
    DeviceAddress first = 0;
    const uint8_t* first_pinned = nullptr;
    const Stream* first_stream = nullptr;
    {
        DeviceLease lease(pool, &pool);
        const auto memory = lease.memory(3 * kMegabyte - 1);
        EXPECT_GE(memory.bytes, 3 * kMegabyte - 1);
        EXPECT_LE(memory.bytes, 3 * kMegabyte + 3 * kMegabyte / 8);
        lease.stream().fill(memory.address, 7, memory.bytes);
        EXPECT_EQ(lease.stream().mark(), 0);
        first = memory.address;
        first_pinned = lease.pinned(1000);
        first_stream = &lease.stream();
        EXPECT_EQ(pool.idle_bytes(), 0U);
    }
    EXPECT_GE(pool.idle_bytes(), 3 * kMegabyte - 1);
    DeviceLease lease(pool, &pool);
    const auto memory = lease.memory(3 * kMegabyte - 1);
    EXPECT_EQ(memory.address, first);
    EXPECT_EQ(lease.pinned(900), first_pinned);
    EXPECT_EQ(&lease.stream(), first_stream);
    EXPECT_EQ(lease.stream().mark(), 0);
    EXPECT_EQ(pool.idle_bytes(), 0U);
    // What was there before does not help those who do not write.
    std::vector<uint8_t> bytes(memory.bytes);
    lease.stream().download(bytes.data(), memory.address, memory.bytes);
    lease.stream().wait();
    EXPECT_EQ(bytes, std::vector<uint8_t>(memory.bytes, 0xA5));
    EXPECT_NE(lease.memory(3 * kMegabyte - 1).address, first);
    EXPECT_EQ(pool.give_back(), 0U);
}

TEST(DevicePool, KeepsNoMoreThanItsBound) {
    const auto device = open_host_device(memory_of(64 * kMegabyte));
    DevicePool pool(*device,
                    {.idle_bytes = 8 * kMegabyte, .pinned_bytes = kMegabyte, .streams = 1});
    {
        DeviceLease lease(pool, &pool);
        DeviceLease other(pool, &pool);
        for (const uint64_t size : {1, 2, 4, 5, 9}) lease.memory(size * kMegabyte);
        lease.pinned(2 * kMegabyte);
    }
    EXPECT_GT(pool.idle_bytes(), 0U);
    EXPECT_LE(pool.idle_bytes(), 8 * kMegabyte);
    EXPECT_EQ(device->memory().total - device->memory().free, pool.idle_bytes());
    const uint64_t idle = pool.idle_bytes();
    EXPECT_EQ(pool.give_back(), idle);
    EXPECT_EQ(device->memory().free, device->memory().total);
}

TEST(DevicePool, GivesBackWhereMemoryEnds) {
    const auto device = open_host_device(memory_of(16 * kMegabyte));
    DevicePool pool(*device);
    { DeviceLease(pool, &pool).memory(12 * kMegabyte); }
    EXPECT_EQ(pool.idle_bytes(), 12 * kMegabyte);
    {
        const DeviceMemory column(pool, 10 * kMegabyte);
        EXPECT_EQ(pool.idle_bytes(), 0U);
        EXPECT_THROW(DeviceMemory(pool, 10 * kMegabyte), DeviceError);
        DeviceLease lease(pool, &pool);
        EXPECT_THROW(lease.memory(10 * kMegabyte), DeviceError);
        EXPECT_NO_THROW(lease.memory(4 * kMegabyte));
    }
    EXPECT_EQ(pool.idle_bytes(), 4 * kMegabyte);
    { DeviceLease(pool, &pool).memory(14 * kMegabyte); }
    EXPECT_EQ(pool.idle_bytes(), 14 * kMegabyte);
}

TEST(DevicePool, MemoryThatIsDroppedIsLentAgain) {
    const auto device = open_host_device(memory_of(64 * kMegabyte));
    DevicePool pool(*device);
    DeviceLease lease(pool, &pool);
    const DeviceAddress first = lease.memory(kMegabyte).address;
    lease.drop(first);
    lease.drop(first);
    EXPECT_EQ(lease.memory(kMegabyte).address, first);
    DeviceLease alone(*device, nullptr);
    alone.drop(alone.memory(10).address);
    EXPECT_EQ(alone.memory(10).bytes, 10U);
}

TEST(DevicePool, WhatALostDeviceHasUsedIsNotLent) {
    FaultyDevice device(open_host_device(memory_of(64 * kMegabyte)), {.call = 4});
    DevicePool pool(device);
    {
        DeviceLease lease(pool, &pool);
        const auto memory = lease.memory(100);
        lease.stream().fill(memory.address, 0, 100);
        EXPECT_THROW(lease.stream().mark(), DeviceError);
    }
    EXPECT_EQ(pool.idle_bytes(), 0U);
}

TEST(DevicePool, ManyThreads) {
    const auto device = open_host_device(memory_of(64 * kMegabyte));
    DevicePool pool(*device, {.idle_bytes = 4 * kMegabyte});
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&pool, t] {
                for (int i = 0; i < 300; ++i) {
                    DeviceLease lease(pool, &pool);
                    const uint64_t bytes = static_cast<uint64_t>(1 + (i * 7 + t) % 5) << 17;
                    const auto memory = lease.memory(bytes);
                    std::vector<uint8_t> seen(bytes);
                    lease.stream().fill(memory.address, static_cast<uint8_t>(t), bytes);
                    std::this_thread::yield();
                    lease.stream().download(seen.data(), memory.address, bytes);
                    EXPECT_EQ(seen, std::vector<uint8_t>(bytes, static_cast<uint8_t>(t)));
                    if (i % 50 == 0) pool.give_back();
                }
            });
    }
    EXPECT_LE(pool.idle_bytes(), 4 * kMegabyte);
}

}  // namespace

}  // namespace loom::gpu
