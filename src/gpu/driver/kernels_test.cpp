// The same kernels on every device that there is, against plain loops.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gpu/driver/test_kernels.h"

namespace loom::gpu::test {
namespace {

constexpr uint32_t kThreads = kOperationThreads;
constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;

class Kernels : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        opened_ = open_test_device(GetParam());
        if (opened_.device == nullptr) GTEST_SKIP();
    }
    Device& device() { return *opened_.device; }
    Compiler& compiler() { return *opened_.compiler; }

    TestDevice opened_;
};

template <typename T>
T at(const std::vector<uint8_t>& rows, size_t index) {
    T value;
    std::memcpy(&value, rows.data() + index * sizeof(T), sizeof(T));
    return value;
}

uint64_t mixed(const uint32_t* words) {
    return words[0] ^ uint64_t { words[1] } << 8 ^ uint64_t { words[2] } << 16 ^
           uint64_t { words[3] } << 24;
}

// Results in the order in which the kernel puts them. What depends on the order of threads is
// looked at by itself.
class Expected {
  public:
    Expected(const std::vector<uint32_t>& in, const std::vector<uint8_t>& rows)
        : in_(in), rows_(rows) {}

    std::vector<uint64_t> of(uint32_t thread) const {
        const uint32_t lane = thread % 32;
        const uint32_t value = in_[thread];
        const auto other = [&](uint32_t from) { return in_[thread / 32 * 32 + from]; };
        uint32_t ballot = 0;
        uint32_t sum = 0;
        uint32_t all = 0;
        bool any = false;
        for (uint32_t i = 0; i < 32; ++i) {
            ballot |= (other(i) % 3 == 0 ? 1U : 0U) << i;
            any |= other(i) % 61 == 7;
            sum += other(i);
            all |= other(i);
        }
        uint32_t reversed = 0;
        for (int i = 0; i < 32; ++i)
            if ((value >> i & 1) != 0) reversed |= 1U << (31 - i);
        const uint64_t pair = uint64_t{~value} << 32 | value;
        const auto byte = [&](uint32_t index) -> uint32_t {
            return (index < 4 ? value >> index * 8 : 0x01234567U >> (index - 4) * 8) & 255;
        };
        std::vector<uint64_t> out = {
            0,
            1,
            lane,
            thread / 32,
            ballot,
            any,
            sum,
            all,
            other(value % 32),
            other(value % 32) * kFactor,
            other(lane ^ 5),
            other(lane ^ 17) * kFactor,
            other(lane < 3 ? lane : lane - 3),
            (1U << lane) - 1,
            static_cast<uint64_t>(__builtin_popcount(value)),
            static_cast<uint64_t>(__builtin_ctz(value | 1024)),
            reversed,
            static_cast<uint32_t>(pair >> (value & 31)),
            static_cast<uint32_t>(pair << (value & 31) >> 32),
            byte(4) | byte(1) << 8 | byte(6) << 16 | byte(3) << 24,
            in_[63 - thread],
            in_[thread ^ 1] + 1,
        };
        out.resize(31);  // atomic operations
        add_reads(out, thread);
        out.push_back(kThreads);
        out.push_back(kOperationResults - 1 + 32);
        return out;
    }

  private:
    void add_reads(std::vector<uint64_t>& out, uint32_t thread) const {
        const bool wanted = (in_[thread] & 1) != 0;
        const auto put = [&](uint64_t value, uint64_t otherwise) {
            out.push_back(wanted ? value : otherwise);
        };
        uint32_t words[4];
        std::memcpy(words, rows_.data() + 16 * thread, 16);
        const uint32_t others[4] = {85, 85, 85, 85};
        out.push_back(rows_[thread]);
        out.push_back(at<uint16_t>(rows_, thread));
        out.push_back(at<uint32_t>(rows_, thread));
        out.push_back(at<uint64_t>(rows_, thread));
        out.push_back(at<uint64_t>(rows_, thread));
        out.push_back(mixed(words));
        put(rows_[thread], 77);
        put(at<uint16_t>(rows_, thread), 78);
        put(at<uint32_t>(rows_, thread), 79);
        put(at<uint64_t>(rows_, thread), 80);
        put(rows_[thread], 81);
        put(at<uint16_t>(rows_, thread), 82);
        put(at<uint32_t>(rows_, thread), 83);
        put(at<uint64_t>(rows_, thread), 86);
        put(at<uint64_t>(rows_, thread), uint64_t{84} << 32 | 84);
        put(mixed(words), mixed(others));
    }

    const std::vector<uint32_t>& in_;
    const std::vector<uint8_t>& rows_;
};

TEST_P(Kernels, DoEveryOperation) {
    std::mt19937 random(1);
    std::vector<uint32_t> in(kThreads);
    std::vector<uint8_t> rows(kThreads * 16);
    for (uint32_t& value : in) value = random();
    for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random());

    Bench bench(device(), compiler(), operations_text());
    Operations p{};
    p.in = bench.upload(in);
    p.rows = bench.upload(rows);
    p.out = bench.upload(std::vector<uint64_t>(kThreads * kOperationResults));
    p.wide = bench.upload(std::vector<uint64_t>{5, 0, 0});
    p.narrow = bench.upload(std::vector<uint32_t>{6, 1U << 31, 0, 0});
    p.extremes = bench.upload(std::vector<int64_t>{INT64_MAX, INT64_MIN});
    bench.run("operations", {1, kThreads, kThreads * 4}, p);

    const std::vector<uint64_t> out = bench.download(p.out, kThreads * kOperationResults);
    const Expected expected(in, rows);
    for (uint32_t thread = 0; thread < kThreads; ++thread) {
        const std::vector<uint64_t> wanted = expected.of(thread);
        ASSERT_EQ(wanted.size(), kOperationResults);
        for (uint32_t i = 0; i < kOperationResults; ++i) {
            if (i >= 22 && i < 31) continue;
            EXPECT_EQ(out[i * kThreads + thread], wanted[i]) << "operation " << i << thread;
        }
    }

    uint32_t sum = 6;
    uint32_t all = 1U << 31;
    uint64_t wide_sum = 5;
    int64_t least = INT64_MAX;
    int64_t greatest = INT64_MIN;
    uint64_t largest = 0;
    for (const uint32_t value : in) {
        sum += value;
        all |= value;
        wide_sum += value * kFactor;
        least = std::min(least, static_cast<int64_t>(value * kFactor));
        greatest = std::max(greatest, static_cast<int64_t>(value * kFactor));
        largest = std::max(largest, value * kFactor);
    }
    const std::vector<uint32_t> narrow = bench.download(p.narrow, 4);
    const std::vector<uint64_t> wide = bench.download(p.wide, 3);
    EXPECT_EQ(narrow[0], sum);
    EXPECT_EQ(narrow[1], all);
    EXPECT_EQ(wide[0], wide_sum);
    EXPECT_EQ(wide[2], largest);
    EXPECT_EQ(bench.download(p.extremes, 2), (std::vector<int64_t>{least, greatest}));
    // One thread has swapped; it saw 0, and the others what it left there.
    const auto swaps = [&](uint32_t operation, uint64_t left) {
        const auto begin = out.begin() + operation * kThreads;
        EXPECT_EQ(std::count(begin, begin + kThreads, 0U), 1);
        EXPECT_EQ(begin[static_cast<int64_t>(left) - 1], 0U);
        EXPECT_EQ(std::count(begin, begin + kThreads, left), kThreads - 1);
    };
    swaps(27, narrow[2]);
    swaps(28, wide[1]);
    // Each thread has left its number, which another one saw, or nobody did.
    std::set<uint64_t> left(out.begin() + 30 * kThreads, out.begin() + 31 * kThreads);
    EXPECT_TRUE(left.insert(narrow[3]).second);
    EXPECT_EQ(left.size(), kThreads + 1);
    EXPECT_EQ(*left.rbegin(), kThreads);
    // Each thread saw a sum of its own before it added.
    const auto before = out.begin() + 23 * kThreads;
    EXPECT_EQ(std::set<uint64_t>(before, before + kThreads).size(), kThreads);
}

TEST_P(Kernels, AddUpBlocks) {
    std::vector<uint64_t> in(100'000);
    std::mt19937_64 random(2);
    uint64_t sum = 0;
    for (uint64_t& value : in) sum += value = random();

    Bench bench(device(), compiler(), operations_text());
    Sums p{bench.upload(in), bench.upload(std::vector<uint64_t>{0}), in.size()};
    bench.run("sums", {37, 256, 0}, p);
    EXPECT_EQ(bench.download(p.sum, 1)[0], sum);
    bench.run("sums", {3, 1024, 0}, p);
    EXPECT_EQ(bench.download(p.sum, 1)[0], 2 * sum);
    const auto shared = static_cast<uint32_t>(in.size() / 1024 * 8 + 4 * 8);
    bench.run("sums_dynamic", {5, 128, shared}, p);
    EXPECT_EQ(bench.download(p.sum, 1)[0], 3 * sum);
}

TEST_P(Kernels, HaveMuchSharedMemory) {
    Bench bench(device(), compiler(), operations_text());
    Sums p{bench.upload(std::vector<uint64_t>(9'000, 1)), bench.upload(std::vector<uint64_t>{0}),
           9'000};
    const auto most = static_cast<uint32_t>(device().facts().shared_bytes);
    ASSERT_GT(most, 48U * 1024);
    bench.run("sums_dynamic", {2, 64, most}, p);
    EXPECT_EQ(bench.download(p.sum, 1)[0], 9'000U);
    EXPECT_THROW(bench.run("sums_dynamic", {2, 64, most + 1}, p), DeviceError);
}

TEST_P(Kernels, CallSql) {
    Bench bench(device(), compiler(), sql_text());
    std::vector<int32_t> a(256);
    std::vector<int32_t> b(256);
    for (int i = 0; i < 256; ++i) {
        a[static_cast<size_t>(i)] = i * 8'400'000;
        b[static_cast<size_t>(i)] = i % 2 == 0 ? i : -i;
    }
    a[254] = INT32_MAX;
    SqlCalls p{bench.upload(a), bench.upload(b), bench.upload(std::vector<int64_t>(4 * 256))};
    bench.run("sql_calls", {4, 64, 0}, p);
    const std::vector<int64_t> out = bench.download(p.out, 4 * 256);
    for (size_t i = 0; i < 256; ++i) {
        const int64_t sum = int64_t{a[i]} + b[i];
        const bool fails = sum != static_cast<int32_t>(sum);
        if (!fails) {
            EXPECT_EQ(out[4 * i], sum);
        }
        EXPECT_EQ(out[4 * i + 1] != 0, fails);
        EXPECT_EQ(out[4 * i + 3], int64_t{b[i]} * 10);
    }
    EXPECT_EQ(out[2], -5);  // 2000-01-01 was a Saturday
}

TEST_P(Kernels, CopyAndFill) {
    Bench bench(device(), compiler(), operations_text());
    Stream& stream = bench.stream();
    std::vector<uint8_t> bytes(1000);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7);
    DeviceMemory first(device(), bytes.size());
    DeviceMemory second(device(), bytes.size());
    EXPECT_EQ(first.address() % 256, 0U);
    EXPECT_EQ(second.address() % 256, 0U);
    auto* pinned = static_cast<uint8_t*>(device().pin(bytes.size()));
    std::copy(bytes.begin(), bytes.end(), pinned);

    const int begin = stream.mark();
    stream.upload(first.address(), pinned, bytes.size());
    stream.fill(second.address(), 9, bytes.size());
    stream.copy(second.address() + 100, first.address(), 50);
    stream.upload(first.address(), nullptr, 0);
    const int end = stream.mark();
    stream.download(pinned, second.address(), bytes.size());
    stream.wait();
    EXPECT_TRUE(stream.finished());
    EXPECT_GE(stream.elapsed(begin, end), 0);
    stream.forget_marks();
    EXPECT_EQ(stream.mark(), begin);
    for (size_t i = 0; i < bytes.size(); ++i)
        EXPECT_EQ(pinned[i], i >= 100 && i < 150 ? bytes[i - 100] : 9) << i;
    stream.wait();
    device().unpin(pinned);
}

TEST_P(Kernels, AreRefused) {
    Bench bench(device(), compiler(), operations_text());
    const Sums p{nullptr, nullptr, 0};
    const auto refused = [&](const char* kernel, const Grid& grid, const auto& parameters) {
        try {
            bench.run(kernel, grid, parameters);
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.kind(), DeviceError::Kind::kRefused) << error.what();
            return true;
        }
        return false;
    };
    EXPECT_TRUE(refused("sums", {1, 33, 0}, p)) << "a partial warp";
    EXPECT_TRUE(refused("sums", {1, 0, 0}, p));
    EXPECT_TRUE(refused("sums", {0, 32, 0}, p));
    EXPECT_TRUE(refused("sums", {1, 2048, 0}, p));
    EXPECT_TRUE(refused("operations", {1, 128, 512}, Operations{})) << "more than it is made for";
    EXPECT_TRUE(refused("sum", {1, 32, 0}, p)) << "no such kernel";
    struct Large {
        char bytes[kMaxParameterBytes + 1];
    };
    EXPECT_TRUE(refused("sums", {1, 32, 0}, Large{}));
    EXPECT_THROW(device().load(base::as_bytes("no image at all, but more than 64 bytes: it has to "
                                              "be looked at to be found out")),
                 DeviceError);
    EXPECT_THROW(device().load({}), DeviceError);

    // None of that was the end.
    const uint64_t* in = bench.upload(std::vector<uint64_t>{1, 2, 3});
    uint64_t* sum = bench.upload(std::vector<uint64_t>{0});
    bench.run("sums", {1, 32, 0}, Sums{in, sum, 3});
    EXPECT_EQ(bench.download(sum, 1)[0], 6U);
}

TEST_P(Kernels, FindTheEndOfMemory) {
    const MemoryState before = device().memory();
    EXPECT_LE(before.free, before.total);
    try {
        device().allocate(before.total + 1);
        FAIL() << "an allocation of more than there is";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.kind(), DeviceError::Kind::kMemory) << error.what();
    }
    DeviceMemory none(device(), 0);
    EXPECT_NE(none.address(), 0U);
}

// Words that are made of two keys, each inserted twice; as many threads as may meet.
TEST_P(Kernels, FindKeysInASet) {
    static const char* const kText = R"text(
#include "gpu/runtime/kernel.h"

namespace loom::gpu {

struct Keys {
    const uint64_t* in;
    uint64_t* words;
    uint32_t* counts;  // full, again
    uint32_t* out;
    uint32_t count;
    uint32_t slots;
};

LOOM_KERNEL(insert_keys, Keys, 128, 1) {
    const KeySet set{p.words, p.slots};
    for (uint32_t i = block_index() * block_threads() + thread_index(); i < p.count;
         i += grid_blocks() * block_threads()) {
        bool again = false;
        set.insert(p.in[i], p.counts, again);
        if (again) atomic_add(p.counts + 1, 1);
    }
}
LOOM_KERNEL(find_keys, Keys, 128, 1) {
    const KeySet set{p.words, p.slots};
    for (uint32_t i = block_index() * block_threads() + thread_index(); i < p.count;
         i += grid_blocks() * block_threads())
        p.out[i] = set.find(p.in[i]);
}

}  // namespace loom::gpu
)text";
    struct Keys {
        const uint64_t* in;
        uint64_t* words;
        uint32_t* counts;
        uint32_t* out;
        uint32_t count;
        uint32_t slots;
    };
    Bench bench(device(), compiler(), kText);
    constexpr uint32_t kCount = 3'000;
    std::vector<uint64_t> in;
    for (uint64_t i = 0; i < kCount; ++i) in.push_back(i / 3 | (i % 3) << 50);
    std::vector<uint64_t> twice = in;
    twice.insert(twice.end(), in.begin(), in.end());
    for (const uint32_t slots : {8'192U, 1'024U}) {
        Keys keys{bench.upload(twice),
                  bench.upload(std::vector<uint64_t>(slots, UINT64_MAX)),
                  bench.upload(std::vector<uint32_t>(2)),
                  nullptr,
                  kCount * 2,
                  slots};
        bench.run("insert_keys", {4, 128, 0}, keys);
        const std::vector<uint32_t> counts = bench.download(keys.counts, 2);
        if (slots < kCount) {
            EXPECT_EQ(counts[0], 1U) << "there is no room";
            continue;
        }
        EXPECT_EQ(counts[0], 0U);
        EXPECT_EQ(counts[1], kCount);
        std::vector<uint64_t> asked = in;
        for (uint64_t i = 0; i < kCount; ++i) asked.push_back((i + kCount) | uint64_t{1} << 50);
        keys.in = bench.upload(asked);
        keys.out = bench.upload(std::vector<uint32_t>(asked.size()));
        bench.run("find_keys", {4, 128, 0}, keys);
        const std::vector<uint32_t> found = bench.download(keys.out, asked.size());
        std::set<uint32_t> places(found.begin(), found.begin() + kCount);
        EXPECT_EQ(places.size(), kCount);
        EXPECT_LT(*places.rbegin(), slots);
        EXPECT_EQ(std::count(found.begin() + kCount, found.end(), UINT32_MAX),
                  static_cast<std::ptrdiff_t>(kCount));
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, Kernels, testing::Values("host", "shuffled", "cuda"),
                         [](const auto& test) { return std::string(test.param); });

// Returns the name that a line of machine.h defines an operation of, or nothing.
std::string operation_of(const std::string& line) {
    if (line.starts_with("LOOM_READ_IF(")) return line.substr(13, line.find(',') - 13);
    if (!line.starts_with("LOOM_DEVICE ")) return {};
    const size_t end = line.find('(');
    return line.substr(line.rfind(' ', end) + 1, end - line.rfind(' ', end) - 1);
}

// So that an operation that is added is tried on devices.
TEST(OperationsText, HasEveryOperation) {
    const std::string text = operations_text();
    int found = 0;
    for (const Header& header : device_headers()) {
        if (std::string(header.name) != "gpu/runtime/machine.h") continue;
        std::istringstream machine(header.text);
        for (std::string line; std::getline(machine, line);) {
            const std::string name = operation_of(line);
            if (name.empty()) continue;
            ++found;
            EXPECT_NE(text.find(name + "("), std::string::npos) << name;
        }
    }
    EXPECT_GE(found, 40);
}

}  // namespace
}  // namespace loom::gpu::test
