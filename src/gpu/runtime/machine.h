#pragma once
// What kernels use of the machine: threads of a block, warps of 32, memory. The same kernels run on
// a device (compiled by NVRTC) and, a block at a time, on the host's processor, where each thread
// of a block is a fiber and `Machine` says which one runs (src/gpu/driver/host_device.cpp).
//
// All 32 lanes of a warp must come to each operation of a warp, and all threads of a block to
// block_sync(). The host checks that.

#include "sql/definition.h"

#if defined(__CUDACC_RTC__)

#define LOOM_DEVICE __device__ __forceinline__
/// Opens the definition of a kernel that takes one struct `p`.
#define LOOM_KERNEL(name, Parameters, threads, blocks)            \
    extern "C" __global__ void __launch_bounds__(threads, blocks) \
        name(const __grid_constant__ Parameters p)
/// Declares memory of the block.
#define LOOM_SHARED __shared__
#define LOOM_UNROLL _Pragma("unroll")
#define LOOM_NO_UNROLL _Pragma("unroll 1")

#else

#define LOOM_DEVICE inline
/// Exports, beside the kernel, what its launches are checked against (KernelLimits).
#define LOOM_KERNEL(name, Parameters, threads, blocks)                                      \
    static void name##_thread(const Parameters& p);                                         \
    extern "C" {                                                                            \
    __attribute__((visibility("default"))) ::loom::gpu::KernelLimits name##_limits = {      \
        threads, sizeof(Parameters)};                                                       \
    __attribute__((visibility("default"))) void name(const void* parameters,                \
                                                     const ::loom::gpu::Machine* machine) { \
        ::loom::gpu::loom_machine = machine;                                                \
        name##_thread(*static_cast<const Parameters*>(parameters));                         \
    }                                                                                       \
    }                                                                                       \
    static void name##_thread([[maybe_unused]] const Parameters& p)
#define LOOM_SHARED static
#define LOOM_UNROLL
#define LOOM_NO_UNROLL

#endif

namespace loom::gpu {

inline constexpr uint32_t kWarp = 32;

#if defined(__CUDACC_RTC__)

inline constexpr uint32_t kAllLanes = 0xffffffffU;

LOOM_DEVICE uint32_t thread_index() {
    return threadIdx.x;
}
LOOM_DEVICE uint32_t block_index() {
    return blockIdx.x;
}
LOOM_DEVICE uint32_t block_threads() {
    return blockDim.x;
}
LOOM_DEVICE uint32_t grid_blocks() {
    return gridDim.x;
}
LOOM_DEVICE void block_sync() {
    __syncthreads();
}
LOOM_DEVICE void warp_sync() {
    __syncwarp();
}
LOOM_DEVICE uint8_t* shared_memory() {
    extern __shared__ __align__(16) uint8_t memory[];
    return memory;
}

/// Bit i says what lane i says.
LOOM_DEVICE uint32_t ballot(bool value) {
    return __ballot_sync(kAllLanes, value);
}
LOOM_DEVICE bool any_lane(bool value) {
    return __any_sync(kAllLanes, value) != 0;
}
LOOM_DEVICE uint32_t warp_sum(uint32_t value) {
    return __reduce_add_sync(kAllLanes, value);
}
LOOM_DEVICE uint32_t warp_or(uint32_t value) {
    return __reduce_or_sync(kAllLanes, value);
}
/// Returns the value of lane `from`, of the lane `by` above, below, or at the index xor `by`.
LOOM_DEVICE uint32_t shuffle(uint32_t value, uint32_t from) {
    return __shfl_sync(kAllLanes, value, static_cast<int>(from));
}
LOOM_DEVICE uint64_t shuffle(uint64_t value, uint32_t from) {
    return __shfl_sync(kAllLanes, value, static_cast<int>(from));
}
LOOM_DEVICE uint32_t shuffle_xor(uint32_t value, uint32_t by) {
    return __shfl_xor_sync(kAllLanes, value, static_cast<int>(by));
}
LOOM_DEVICE uint64_t shuffle_xor(uint64_t value, uint32_t by) {
    return __shfl_xor_sync(kAllLanes, value, static_cast<int>(by));
}
/// Returns the value of lane - by; of the lane itself where there is none.
LOOM_DEVICE uint32_t shuffle_up(uint32_t value, uint32_t by) {
    return __shfl_up_sync(kAllLanes, value, by);
}

/// Bits of the lanes below this one.
LOOM_DEVICE uint32_t lanes_below() {
    uint32_t mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
}
LOOM_DEVICE uint32_t population(uint32_t value) {
    return static_cast<uint32_t>(__popc(static_cast<int>(value)));
}
/// Returns the lowest bit that is set; the value is not 0.
LOOM_DEVICE uint32_t lowest_bit(uint32_t value) {
    return static_cast<uint32_t>(__ffs(static_cast<int>(value))) - 1;
}
LOOM_DEVICE uint32_t reversed_bits(uint32_t value) {
    return __brev(value);
}
/// Return 32 of the 64 bits high:low, from bit `shift` (% 32) on; ending `shift` bits before the
/// top.
LOOM_DEVICE uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t shift) {
    return __funnelshift_r(low, high, shift);
}
LOOM_DEVICE uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t shift) {
    return __funnelshift_l(low, high, shift);
}
/// Byte i of the result is byte `selector >> 4 i & 7` of the eight b:a.
LOOM_DEVICE uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t selector) {
    return __byte_perm(a, b, selector);
}

/// Return what was there before.
LOOM_DEVICE uint32_t atomic_add(uint32_t* at, uint32_t value) {
    return atomicAdd(at, value);
}
LOOM_DEVICE uint64_t atomic_add(uint64_t* at, uint64_t value) {
    return atomicAdd(reinterpret_cast<unsigned long long*>(at), value);
}
LOOM_DEVICE uint32_t atomic_or(uint32_t* at, uint32_t value) {
    return atomicOr(at, value);
}
LOOM_DEVICE uint64_t atomic_max(uint64_t* at, uint64_t value) {
    return atomicMax(reinterpret_cast<unsigned long long*>(at), value);
}
LOOM_DEVICE int64_t atomic_min(int64_t* at, int64_t value) {
    return atomicMin(reinterpret_cast<long long*>(at), value);
}
LOOM_DEVICE int64_t atomic_max(int64_t* at, int64_t value) {
    return atomicMax(reinterpret_cast<long long*>(at), value);
}
LOOM_DEVICE uint32_t atomic_swap(uint32_t* at, uint32_t value) {
    return atomicExch(at, value);
}
LOOM_DEVICE uint32_t atomic_swap_if(uint32_t* at, uint32_t expected, uint32_t value) {
    return atomicCAS(at, expected, value);
}
LOOM_DEVICE uint64_t atomic_swap_if(uint64_t* at, uint64_t expected, uint64_t value) {
    return atomicCAS(reinterpret_cast<unsigned long long*>(at), expected, value);
}
/// Other threads see what was written before it, if they see what is written after it.
LOOM_DEVICE void fence() {
    __threadfence();
}

// Reads of memory that no kernel writes meanwhile. Rows are read once and stay out of the first
// cache, which is for what many rows look up. The condition stands inside the instruction: a branch
// around it would keep reads of several rows from being in flight together. Volatile, since what is
// read early is meant to be on its way early, and not where the value is wanted.
#define LOOM_ROWS "ld.global.nc.L1::no_allocate"
LOOM_DEVICE uint32_t read8(const void* at) {
    uint32_t value;
    asm volatile(LOOM_ROWS ".u8 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
LOOM_DEVICE uint32_t read16(const void* at) {
    uint32_t value;
    asm volatile(LOOM_ROWS ".u16 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
LOOM_DEVICE uint32_t read32(const void* at) {
    uint32_t value;
    asm volatile(LOOM_ROWS ".u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
LOOM_DEVICE uint64_t read64(const void* at) {
    uint64_t value;
    asm volatile(LOOM_ROWS ".u64 %0, [%1];" : "=l"(value) : "l"(at));
    return value;
}
/// Reads 8 or 16 bytes into words.
LOOM_DEVICE void read_words2(uint32_t* words, const void* at) {
    asm volatile(LOOM_ROWS ".v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(at));
}
LOOM_DEVICE void read_words4(uint32_t* words, const void* at) {
    asm volatile(LOOM_ROWS ".v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(at));
}
/// Read if `wanted` is not 0, else give `otherwise`.
#define LOOM_READ_IF(name, instruction)                                                          \
    LOOM_DEVICE uint32_t name(const void* at, uint32_t wanted, uint32_t otherwise) {             \
        uint32_t value;                                                                          \
        asm("{.reg .pred q; setp.ne.u32 q, %2, 0; mov.u32 %0, %3; @q " instruction " %0, [%1];}" \
            : "=&r"(value)                                                                       \
            : "l"(at), "r"(wanted), "r"(otherwise));                                             \
        return value;                                                                            \
    }
LOOM_READ_IF(read8_if, LOOM_ROWS ".u8")
LOOM_READ_IF(read16_if, LOOM_ROWS ".u16")
LOOM_READ_IF(read32_if, LOOM_ROWS ".u32")
/// The same through the first cache.
LOOM_READ_IF(look_up8_if, "ld.global.nc.u8")
LOOM_READ_IF(look_up16_if, "ld.global.nc.u16")
LOOM_READ_IF(look_up32_if, "ld.global.nc.u32")
#undef LOOM_READ_IF
LOOM_DEVICE uint64_t read64_if(const void* at, uint32_t wanted, uint64_t otherwise) {
    uint64_t value;
    asm("{.reg .pred q; setp.ne.u32 q, %2, 0; mov.u64 %0, %3; @q " LOOM_ROWS ".u64 %0, [%1];}"
        : "=&l"(value)
        : "l"(at), "r"(wanted), "l"(otherwise));
    return value;
}
LOOM_DEVICE uint64_t look_up64_if(const void* at, uint32_t wanted, uint64_t otherwise) {
    uint64_t value;
    asm("{.reg .pred q; setp.ne.u32 q, %2, 0; mov.u64 %0, %3; @q ld.global.nc.u64 %0, [%1];}"
        : "=&l"(value)
        : "l"(at), "r"(wanted), "l"(otherwise));
    return value;
}
LOOM_DEVICE void read_words2_if(uint32_t* words, const void* at, uint32_t wanted,
                                uint32_t otherwise) {
    asm("{.reg .pred q; setp.ne.u32 q, %3, 0; mov.u32 %0, %4; mov.u32 %1, %4; @q " LOOM_ROWS
        ".v2.u32 {%0, %1}, [%2];}"
        : "=&r"(words[0]), "=&r"(words[1])
        : "l"(at), "r"(wanted), "r"(otherwise));
}
LOOM_DEVICE void read_words4_if(uint32_t* words, const void* at, uint32_t wanted,
                                uint32_t otherwise) {
    asm("{.reg .pred q; setp.ne.u32 q, %5, 0; mov.u32 %0, %6; mov.u32 %1, %6; mov.u32 %2, %6; "
        "mov.u32 %3, %6; @q " LOOM_ROWS ".v4.u32 {%0, %1, %2, %3}, [%4];}"
        : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2]), "=&r"(words[3])
        : "l"(at), "r"(wanted), "r"(otherwise));
}
#undef LOOM_ROWS

#else

/// What the host tells the thread that runs. Barriers switch to other threads and change it.
struct Machine {
    uint32_t thread = 0;
    uint32_t block = 0;
    uint32_t block_threads = 0;
    uint32_t grid_blocks = 0;
    uint8_t* shared = nullptr;     ///< the block's dynamic memory
    uint64_t* exchange = nullptr;  ///< a word for each lane of the warp
    void (*warp_barrier)() = nullptr;
    void (*block_barrier)() = nullptr;
};
/// Set as a thread enters a kernel. Each image has its own: it is not visible outside.
__attribute__((visibility("hidden"))) inline const Machine* loom_machine = nullptr;

/// What the host knows of a kernel besides its function.
struct KernelLimits {
    uint32_t threads;          ///< a block may have
    uint32_t parameter_bytes;  ///< of its struct of parameters
};

inline uint32_t thread_index() {
    return loom_machine->thread;
}
inline uint32_t block_index() {
    return loom_machine->block;
}
inline uint32_t block_threads() {
    return loom_machine->block_threads;
}
inline uint32_t grid_blocks() {
    return loom_machine->grid_blocks;
}
inline void block_sync() {
    loom_machine->block_barrier();
}
inline void warp_sync() {
    loom_machine->warp_barrier();
}
inline uint8_t* shared_memory() {
    return loom_machine->shared;
}

/// Calls `use` with the words of all lanes. The host changes to other words at each barrier of the
/// warp and back at the next, so these stay until all lanes have come to a further operation.
template <typename Use>
inline auto exchange(uint64_t value, Use&& use) {
    uint64_t* words = loom_machine->exchange;
    words[loom_machine->thread % kWarp] = value;
    warp_sync();
    return use(words);
}
template <typename T>
inline T from_lane(T value, uint32_t lane) {
    return exchange(value, [&](const uint64_t* words) {
        return static_cast<T>(words[lane < kWarp ? lane : loom_machine->thread % kWarp]);
    });
}

inline uint32_t ballot(bool value) {
    return exchange(value ? 1 : 0, [](const uint64_t* words) {
        uint32_t bits = 0;
        for (uint32_t i = 0; i < kWarp; ++i) bits |= static_cast<uint32_t>(words[i]) << i;
        return bits;
    });
}
inline bool any_lane(bool value) {
    return ballot(value) != 0;
}
inline uint32_t warp_sum(uint32_t value) {
    return exchange(value, [](const uint64_t* words) {
        uint32_t sum = 0;
        for (uint32_t i = 0; i < kWarp; ++i) sum += static_cast<uint32_t>(words[i]);
        return sum;
    });
}
inline uint32_t warp_or(uint32_t value) {
    return exchange(value, [](const uint64_t* words) {
        uint32_t all = 0;
        for (uint32_t i = 0; i < kWarp; ++i) all |= static_cast<uint32_t>(words[i]);
        return all;
    });
}
inline uint32_t shuffle(uint32_t value, uint32_t from) {
    return from_lane(value, from % kWarp);
}
inline uint64_t shuffle(uint64_t value, uint32_t from) {
    return from_lane(value, from % kWarp);
}
inline uint32_t shuffle_xor(uint32_t value, uint32_t by) {
    return from_lane(value, (loom_machine->thread % kWarp) ^ by);
}
inline uint64_t shuffle_xor(uint64_t value, uint32_t by) {
    return from_lane(value, (loom_machine->thread % kWarp) ^ by);
}
inline uint32_t shuffle_up(uint32_t value, uint32_t by) {
    return from_lane(value, loom_machine->thread % kWarp - by);
}

inline uint32_t lanes_below() {
    return (1U << (loom_machine->thread % kWarp)) - 1;
}
inline uint32_t population(uint32_t value) {
    return static_cast<uint32_t>(__builtin_popcount(value));
}
inline uint32_t lowest_bit(uint32_t value) {
    return static_cast<uint32_t>(__builtin_ctz(value));
}
inline uint32_t reversed_bits(uint32_t value) {
    uint32_t reversed = 0;
    for (int i = 0; i < 32; ++i) reversed |= (value >> i & 1U) << (31 - i);
    return reversed;
}
inline uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t shift) {
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) >> (shift & 31));
}
inline uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t shift) {
    return static_cast<uint32_t>((uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline uint32_t byte_permute(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t{b} << 32 | a;
    uint32_t result = 0;
    for (int i = 0; i < 4; ++i)
        result |= static_cast<uint32_t>(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
}

// The threads of a block take turns at barriers only, and blocks run one after the other.
template <typename T, typename Change>
inline T atomic_change(T* at, Change&& change) {
    const T before = *at;
    *at = change(before);
    return before;
}
inline uint32_t atomic_add(uint32_t* at, uint32_t value) {
    return atomic_change(at, [&](uint32_t before) { return before + value; });
}
inline uint64_t atomic_add(uint64_t* at, uint64_t value) {
    return atomic_change(at, [&](uint64_t before) { return before + value; });
}
inline uint32_t atomic_or(uint32_t* at, uint32_t value) {
    return atomic_change(at, [&](uint32_t before) { return before | value; });
}
inline uint64_t atomic_max(uint64_t* at, uint64_t value) {
    return atomic_change(at, [&](uint64_t before) { return before > value ? before : value; });
}
inline int64_t atomic_min(int64_t* at, int64_t value) {
    return atomic_change(at, [&](int64_t before) { return before < value ? before : value; });
}
inline int64_t atomic_max(int64_t* at, int64_t value) {
    return atomic_change(at, [&](int64_t before) { return before > value ? before : value; });
}
inline uint32_t atomic_swap(uint32_t* at, uint32_t value) {
    return atomic_change(at, [&](uint32_t) { return value; });
}
inline uint32_t atomic_swap_if(uint32_t* at, uint32_t expected, uint32_t value) {
    return atomic_change(at, [&](uint32_t before) { return before == expected ? value : before; });
}
inline uint64_t atomic_swap_if(uint64_t* at, uint64_t expected, uint64_t value) {
    return atomic_change(at, [&](uint64_t before) { return before == expected ? value : before; });
}
inline void fence() {}

template <typename T>
inline T read_as(const void* at) {
    T value;
    __builtin_memcpy(&value, at, sizeof value);
    return value;
}
inline uint32_t read8(const void* at) {
    return read_as<uint8_t>(at);
}
inline uint32_t read16(const void* at) {
    return read_as<uint16_t>(at);
}
inline uint32_t read32(const void* at) {
    return read_as<uint32_t>(at);
}
inline uint64_t read64(const void* at) {
    return read_as<uint64_t>(at);
}
inline void read_words2(uint32_t* words, const void* at) {
    __builtin_memcpy(words, at, 8);
}
inline void read_words4(uint32_t* words, const void* at) {
    __builtin_memcpy(words, at, 16);
}
inline uint32_t read8_if(const void* at, uint32_t wanted, uint32_t otherwise) {
    return wanted != 0 ? read8(at) : otherwise;
}
inline uint32_t read16_if(const void* at, uint32_t wanted, uint32_t otherwise) {
    return wanted != 0 ? read16(at) : otherwise;
}
inline uint32_t read32_if(const void* at, uint32_t wanted, uint32_t otherwise) {
    return wanted != 0 ? read32(at) : otherwise;
}
inline uint64_t read64_if(const void* at, uint32_t wanted, uint64_t otherwise) {
    return wanted != 0 ? read64(at) : otherwise;
}
inline uint32_t look_up8_if(const void* at, uint32_t wanted, uint32_t otherwise) {
    return read8_if(at, wanted, otherwise);
}
inline uint32_t look_up16_if(const void* at, uint32_t wanted, uint32_t otherwise) {
    return read16_if(at, wanted, otherwise);
}
inline uint32_t look_up32_if(const void* at, uint32_t wanted, uint32_t otherwise) {
    return read32_if(at, wanted, otherwise);
}
inline uint64_t look_up64_if(const void* at, uint32_t wanted, uint64_t otherwise) {
    return read64_if(at, wanted, otherwise);
}
inline void read_words2_if(uint32_t* words, const void* at, uint32_t wanted, uint32_t otherwise) {
    for (int i = 0; i < 2; ++i) words[i] = otherwise;
    if (wanted != 0) read_words2(words, at);
}
inline void read_words4_if(uint32_t* words, const void* at, uint32_t wanted, uint32_t otherwise) {
    for (int i = 0; i < 4; ++i) words[i] = otherwise;
    if (wanted != 0) read_words4(words, at);
}

#endif

LOOM_DEVICE uint32_t lane_index() {
    return thread_index() % kWarp;
}
LOOM_DEVICE uint32_t warp_index() {
    return thread_index() / kWarp;
}

}  // namespace loom::gpu
