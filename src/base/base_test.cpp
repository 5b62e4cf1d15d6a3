#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/bitmap.h"
#include "base/buffer.h"
#include "base/bytes.h"
#include "base/copy_short.h"
#include "base/division.h"
#include "base/error.h"
#include "base/page_heap.h"
#include "base/parallel.h"

namespace loom::base {
namespace {

TEST(Error, PutsOuterPlacesFirst) {
    Error error(ErrorKind::kCorrupt, "page is cut", "column \"a\"");
    error.add_where("file \"x\"");
    EXPECT_STREQ(error.what(), "file \"x\", column \"a\": page is cut");
}

TEST(ByteReader, RefusesToPassTheEnd) {
    // On the heap: in an array, GCC 14 warns of the very reads that are refused.
    const std::vector<uint8_t> bytes = {1, 0, 0, 0, 9};
    ByteReader reader(bytes);
    EXPECT_EQ(reader.read<uint32_t>("length"), 1U);
    EXPECT_THROW(reader.read<uint16_t>("tail"), Error);
    EXPECT_EQ(reader.remaining(), 1U);
    EXPECT_THROW(reader.take(UINT64_MAX, "huge"), Error);
}

TEST(CheckedSlice, RefusesOverflowingRanges) {
    const uint8_t bytes[4] = {};
    EXPECT_EQ(checked_slice(bytes, 4, 0, "x").size(), 0U);
    EXPECT_THROW(checked_slice(bytes, 5, 0, "x"), Error);
    EXPECT_THROW(checked_slice(bytes, 2, UINT64_MAX, "x"), Error);
}

TEST(Division, RoundsToOneSideForAllSigns) {
    for (int divisor = 1; divisor <= 7; ++divisor)
        for (int dividend = -30; dividend <= 30; ++dividend) {
            const int below = floor_divide(dividend, divisor);
            EXPECT_LE(below * divisor, dividend);
            EXPECT_GT((below + 1) * divisor, dividend);
            EXPECT_EQ(below * divisor + floor_modulo(dividend, divisor), dividend);
            EXPECT_EQ(ceil_divide(dividend, divisor), dividend % divisor == 0 ? below : below + 1);
        }
}

TEST(Division, TakesTheExtremesOfAType) {
    constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    EXPECT_EQ(floor_divide(kLeast, 1), kLeast);
    EXPECT_EQ(floor_divide(kLeast, 1'000), -9'223'372'036'854'776);
    EXPECT_EQ(ceil_divide(kLeast, 1'000), -9'223'372'036'854'775);
    EXPECT_EQ(ceil_divide(kMost, 1'000), 9'223'372'036'854'776);
    EXPECT_EQ(floor_divide(kMost, kMost), 1);
    EXPECT_EQ(floor_modulo(kLeast, kMost), kMost - 1);
    const __int128 wide = __int128{kLeast} * 1'000 - 1;
    EXPECT_TRUE(floor_divide(wide, 1'000) == __int128{kLeast} - 1);
    EXPECT_TRUE(ceil_divide(wide, 1'000) == kLeast);
}

TEST(Buffer, KeepsContentsWhenItGrowsAndCountsItsBytes) {
    MemoryBudget budget(1 << 20);
    {
        Buffer buffer(&budget);
        buffer.resize(10);
        std::memcpy(buffer.data(), "0123456789", 10);
        for (int n = 11; n < 5000; n += 97) buffer.resize(n);
        EXPECT_EQ(std::memcmp(buffer.data(), "0123456789", 10), 0);
        EXPECT_GT(budget.used(), 4000U);
        EXPECT_THROW(buffer.resize(2 << 20), Error);
        Buffer other = std::move(buffer);
        EXPECT_EQ(std::memcmp(other.data(), "0123456789", 10), 0);
    }
    EXPECT_EQ(budget.used(), 0U);
}

// Blocks of all sizes, each filled with a byte of its own while it lives.
TEST(PageHeap, BlocksDoNotOverlapAndAreReused) {
    PageHeap heap;
    struct Block {
        uint8_t* begin;
        uint64_t bytes;
        uint8_t mark;
    };
    std::vector<Block> blocks;
    std::mt19937_64 random(7);
    const auto drop = [&](size_t index) {
        const Block block = blocks[index];
        ASSERT_EQ(std::count(block.begin, block.begin + block.bytes, block.mark),
                  static_cast<int64_t>(block.bytes));
        heap.free(block.begin, block.bytes);
        blocks[index] = blocks.back();
        blocks.pop_back();
    };
    for (int step = 0; step < 3000; ++step) {
        if (blocks.size() < 40 || random() % 2 == 0) {
            // Mostly small, now and then one with a mapping of its own.
            const uint64_t bytes =
                PageHeap::kMinBytes + random() % (step % 100 == 0 ? 12 << 20 : 200'000);
            uint8_t* begin = heap.allocate(bytes);
            ASSERT_NE(begin, nullptr);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(begin) % 64, 0U);
            const auto mark = static_cast<uint8_t>(random());
            std::memset(begin, mark, bytes);
            blocks.push_back({begin, bytes, mark});
        } else {
            drop(random() % blocks.size());
        }
        if (step % 500 == 0) heap.trim(64 << 20);
    }
    while (!blocks.empty()) drop(0);
    EXPECT_EQ(heap.used_bytes(), 0U);
    heap.trim(0);
    EXPECT_EQ(heap.mapped_bytes(), 0U);
}

TEST(PageHeap, ServesThreadsAtOnce) {
    PageHeap heap;
    std::vector<std::thread> threads;
    threads.reserve(4);
    std::atomic<int> wrong{0};
    for (int thread = 0; thread < 4; ++thread)
        threads.emplace_back([&, thread] {
            std::mt19937_64 random(static_cast<uint64_t>(thread));
            for (int i = 0; i < 500; ++i) {
                const uint64_t bytes = PageHeap::kMinBytes + random() % 100'000;
                uint8_t* block = heap.allocate(bytes);
                std::memset(block, thread, bytes);
                wrong += std::count(block, block + bytes, thread) != static_cast<int64_t>(bytes);
                heap.free(block, bytes);
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(heap.used_bytes(), 0U);
}

TEST(Bitmap, CopyCountAndFillAgreeWithSingleBits) {
    for (int from = 0; from < 17; ++from)
        for (int to = 0; to < 17; ++to)
            for (int n = 0; n < 90; n += 7) {
                std::vector<uint8_t> a(32), b(32, 0xAA), expected(32, 0xAA);
                for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i * 37 + 11);
                int64_t ones = 0;
                for (int i = 0; i < n; ++i) {
                    put_bit(expected.data(), to + i, bit_at(a.data(), from + i));
                    ones += bit_at(a.data(), from + i);
                }
                copy_bits(a.data(), from, n, b.data(), to);
                EXPECT_EQ(b, expected);
                EXPECT_EQ(count_bits(a.data(), from, n), ones);
                fill_bits(b.data(), to, n, true);
                EXPECT_EQ(count_bits(b.data(), to, n), n);
            }
}

TEST(CopyShort, CopiesAllSizes) {
    for (size_t size = 0; size <= 70; ++size) {
        std::vector<uint8_t> from(size);
        for (size_t i = 0; i < size; ++i) from[i] = static_cast<uint8_t>(i + 1);
        std::vector<uint8_t> to(size + 1, 0xff);
        copy_short(to.data(), from.data(), size);
        from.push_back(0xff);
        EXPECT_EQ(to, from) << size;
    }
}

TEST(Parallel, EachNumberOnce) {
    for (const int threads : {0, 1, 3, 8})
        for (const int64_t count : {0, 1, 2, 1000}) {
            std::vector<std::atomic<int>> done(static_cast<size_t>(count));
            std::atomic<int> workers = 0;
            in_parallel(threads, count, [&] {
                ++workers;
                return [&, own = int64_t{-1}](int64_t i) mutable {
                    EXPECT_GT(i, own);
                    own = i;
                    ++done[static_cast<size_t>(i)];
                };
            });
            for (const auto& each : done) EXPECT_EQ(each, 1);
            EXPECT_GE(workers, 1);
            EXPECT_LE(workers, std::max(1, threads));
        }
}

TEST(Parallel, TheFirstExceptionEndsIt) {
    for (const int threads : {1, 4}) {
        std::atomic<int64_t> begun = 0;
        EXPECT_THROW(parallel_for(threads, 1'000'000,
                                  [&](int64_t i) {
                                      ++begun;
                                      if (i == 10) throw std::runtime_error("no");
                                      std::this_thread::yield();
                                  }),
                     std::runtime_error);
        EXPECT_LT(begun, 1'000'000);
    }
    EXPECT_THROW(
        in_parallel(
            2, 5, [&]() -> std::function<void(int64_t)> { throw std::runtime_error("no worker"); }),
        std::runtime_error);
}

}  // namespace
}  // namespace loom::base
