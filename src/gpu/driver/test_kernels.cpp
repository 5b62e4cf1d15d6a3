#include "gpu/driver/test_kernels.h"

#include <cstdio>
#include <map>
#include <string_view>

#include <gtest/gtest.h>

#include "gpu/driver/cuda_device.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/nvrtc_compiler.h"

namespace loom::gpu::test {

namespace {

const char* const kOperationsText = R"text(
#include "gpu/runtime/machine.h"

namespace loom::gpu {

struct Operations {
    const uint32_t* in;
    const uint8_t* rows;
    uint64_t* out;
    uint64_t* wide;
    uint32_t* narrow;
    int64_t* extremes;
};

LOOM_KERNEL(operations, Operations, 64, 1) {
    LOOM_SHARED uint32_t tile[64];
    const uint32_t thread = thread_index();
    const uint32_t value = p.in[thread];
    const uint64_t wide = value * 0x9e3779b97f4a7c15ULL;
    uint32_t column = 0;
    const auto put = [&](uint64_t result) {
        p.out[column * block_threads() + thread] = result;
        ++column;
    };

    put(block_index());
    put(grid_blocks());
    put(lane_index());
    put(warp_index());
    put(ballot(value % 3 == 0));
    put(any_lane(value % 61 == 7));
    put(warp_sum(value));
    put(warp_or(value));
    put(shuffle(value, value % 32));
    put(shuffle(wide, value % 32));
    put(shuffle_xor(value, 5));
    put(shuffle_xor(wide, 17));
    put(shuffle_up(value, 3));
    put(lanes_below());
    put(population(value));
    put(lowest_bit(value | 1024));
    put(reversed_bits(value));
    put(funnel_right(value, ~value, value));
    put(funnel_left(value, ~value, value));
    put(byte_permute(value, 0x01234567, 0x3614));

    tile[thread] = value;
    block_sync();
    put(tile[63 - thread]);
    const auto own = reinterpret_cast<uint32_t*>(shared_memory());
    own[thread] = value + 1;
    warp_sync();
    put(own[thread ^ 1]);

    put(atomic_add(p.narrow, value));
    put(atomic_add(p.wide, wide));
    put(atomic_or(p.narrow + 1, value));
    put(static_cast<uint64_t>(atomic_min(p.extremes, static_cast<int64_t>(wide))));
    put(static_cast<uint64_t>(atomic_max(p.extremes + 1, static_cast<int64_t>(wide))));
    put(atomic_swap_if(p.narrow + 2, 0U, thread + 1));
    put(atomic_swap_if(p.wide + 1, uint64_t{0}, uint64_t{thread + 1}));
    put(atomic_max(p.wide + 2, wide));
    put(atomic_swap(p.narrow + 3, thread + 1));
    fence();

    const uint8_t* rows = p.rows;
    const uint32_t wanted = value & 1;
    uint32_t words[4];
    put(read8(rows + thread));
    put(read16(rows + 2 * thread));
    put(read32(rows + 4 * thread));
    put(read64(rows + 8 * thread));
    read_words2(words, rows + 8 * thread);
    put(uint64_t{words[1]} << 32 | words[0]);
    read_words4(words, rows + 16 * thread);
    put(words[0] ^ uint64_t{words[1]} << 8 ^ uint64_t{words[2]} << 16 ^ uint64_t{words[3]} << 24);
    // Where it is not wanted, the address is none.
    const auto at = [&](uint32_t bytes) { return wanted ? rows + bytes * thread : nullptr; };
    put(read8_if(at(1), wanted, 77));
    put(read16_if(at(2), wanted, 78));
    put(read32_if(at(4), wanted, 79));
    put(read64_if(at(8), wanted, 80));
    put(look_up8_if(at(1), wanted, 81));
    put(look_up16_if(at(2), wanted, 82));
    put(look_up32_if(at(4), wanted, 83));
    put(look_up64_if(at(8), wanted, 86));
    read_words2_if(words, at(8), wanted, 84);
    put(uint64_t{words[1]} << 32 | words[0]);
    read_words4_if(words, at(16), wanted, 85);
    put(words[0] ^ uint64_t{words[1]} << 8 ^ uint64_t{words[2]} << 16 ^ uint64_t{words[3]} << 24);
    put(block_threads());
    put(column + kWarp);
}

struct Sums {
    const uint64_t* in;
    uint64_t* sum;
    uint64_t count;
};

LOOM_DEVICE void add_block(const Sums& p, uint64_t* of_warps) {
    uint64_t sum = 0;
    LOOM_NO_UNROLL for (uint64_t i = uint64_t{block_index()} * block_threads() + thread_index();
                        i < p.count; i += uint64_t{grid_blocks()} * block_threads())
        sum += p.in[i];
    LOOM_UNROLL for (uint32_t by = kWarp / 2; by != 0; by /= 2) sum += shuffle_xor(sum, by);
    if (lane_index() == 0) of_warps[warp_index()] = sum;
    block_sync();
    if (warp_index() != 0) return;
    sum = lane_index() < block_threads() / kWarp ? of_warps[lane_index()] : 0;
    LOOM_UNROLL for (uint32_t by = kWarp / 2; by != 0; by /= 2) sum += shuffle_xor(sum, by);
    if (lane_index() == 0) atomic_add(p.sum, sum);
}

LOOM_KERNEL(sums, Sums, 1024, 1) {
    LOOM_SHARED uint64_t of_warps[32];
    add_block(p, of_warps);
}

LOOM_KERNEL(sums_dynamic, Sums, 1024, 1) {
    // The last bytes of what was asked for.
    add_block(p, reinterpret_cast<uint64_t*>(shared_memory()) + p.count / 1024);
}

}  // namespace loom::gpu
)text";

const char* const kSqlText = R"text(
#include "gpu/runtime/machine.h"

namespace loom::gpu {

struct SqlCalls {
    const int32_t* a;
    const int32_t* b;
    int64_t* out;
};

LOOM_KERNEL(sql_calls, SqlCalls, 256, 2) {
    const uint32_t i = block_index() * block_threads() + thread_index();
    sql::Fault fault;
    p.out[4 * i] = sql::integer_add(p.a[i], p.b[i], fault);
    p.out[4 * i + 1] = fault.bits();
    p.out[4 * i + 2] = sql::monday_of(p.a[i] % 100000);
    p.out[4 * i + 3] = static_cast<int64_t>(
        sql::numeric_multiply(sql::Int128{p.b[i]}, sql::power_of_ten(1)));
}

}  // namespace loom::gpu
)text";

}  // namespace

std::string operations_text() {
    return kOperationsText;
}

std::string sql_text() {
    std::string text;
    for (const Header& header : device_headers())
        if (std::string_view(header.name).starts_with("sql/"))
            text += std::string("#include \"") + header.name + "\"\n";
    return text + kSqlText;
}

TestDevice open_test_device(const std::string& name) {
    TestDevice opened;
    std::string reason;
    if (name == "cuda") {
        const std::vector<DeviceFacts> devices = cuda_devices(&reason);
        if (!devices.empty())
            opened.compiler = make_nvrtc_compiler(&reason, devices.front().driver_version);
        if (opened.compiler != nullptr) opened.device = open_cuda_device(0);
        if (opened.device == nullptr) std::printf("skipped: no device (%s)\n", reason.c_str());
        return opened;
    }
    opened.compiler = make_host_compiler(&reason);
    if (opened.compiler == nullptr) {
        ADD_FAILURE() << reason;
        return opened;
    }
    HostDeviceOptions options;
    if (name == "shuffled") options.seed = 12345;
    opened.device = open_host_device(options);
    return opened;
}

Bench::Bench(Device& device, Compiler& compiler, const std::string& text)
    : device_(device), stream_(device.make_stream()) {
    // Tests share texts, and compiling takes most of their time.
    static std::map<std::string, std::string> images;
    std::string& image = images[device.facts().architecture + "\n" + text];
    if (image.empty()) image = compiler.compile(text, device.facts().architecture);
    module_ = device.load(base::as_bytes(image));
}

DeviceAddress Bench::room(uint64_t bytes) {
    memory_.emplace_back(device_, bytes);
    return memory_.back().address();
}

}  // namespace loom::gpu::test
