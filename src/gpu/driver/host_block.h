#pragma once
// A grid on the host's processor: its blocks one after the other, the threads of a block as fibers.
// A thread runs until it comes to a barrier; then the next one of its warp does.

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/driver/device.h"
#include "gpu/driver/fibers.h"
#include "gpu/driver/host_memory.h"
#include "gpu/runtime/machine.h"

namespace loom::gpu {

/// A kernel as LOOM_KERNEL exports it.
struct HostKernel {
    std::string name;
    void (*function)(const void* parameters, const Machine* machine) = nullptr;
    KernelLimits limits{};
};

/// Runs grids. Used by one thread at a time.
class HostBlock {
  public:
    /// With seed 0, blocks, warps and lanes run in ascending order, and a warp up to its next
    /// barrier of the block. Any other seed shuffles all of them, and changes between warps at
    /// their own barriers too, so that races between threads show.
    explicit HostBlock(uint64_t seed) noexcept : random_(seed) {}

    /// Runs all blocks. Raises DeviceError (kRefused) if threads wait at a barrier that others of
    /// the warp, or of the block, do not come to.
    void run(const HostKernel& kernel, const Grid& grid, const void* parameters);

  private:
    enum class Stop : uint8_t { kWarpBarrier, kBlockBarrier, kEnd };

    struct Fault {
        int thread = -1;  ///< waits; -1: there is no fault
        Stop stop{};
        int other = 0;  ///< does not come there
        Stop other_stop{};
    };

    static int begin_thread(void* block, int thread) noexcept;
    static void warp_barrier();
    static void block_barrier();

    void run_block(uint32_t block);
    void wait_at(Stop barrier);
    int after(int thread, Stop stop) noexcept;
    int begin_turn() noexcept;
    int next_lane() noexcept;
    int next_warp() noexcept;
    void refill() noexcept;
    int fail(int begin, int end) noexcept;
    [[noreturn]] void raise() const;
    uint64_t random(uint64_t below) noexcept;

    uint64_t random_;  // the state of a generator; 0: nothing is shuffled
    const HostKernel* kernel_ = nullptr;
    const void* parameters_ = nullptr;
    Machine machine_;
    Fibers fibers_;
    HostBytes shared_;
    Fault fault_;

    int threads_ = 0;
    int lane_ = 0;               // how many lanes of the warp had their turn
    uint8_t lanes_[kWarp] = {};  // their order
    std::vector<int> warps_;     // that can go on; the last one runs
    std::vector<Stop> stops_;    // where each thread stopped last
    int at_block_barrier_ = 0;   // warps
    // What lanes exchange: kWarp words for each warp, twice, and which of them are in use.
    std::vector<uint64_t> words_;
    std::vector<uint8_t> second_words_;
};

}  // namespace loom::gpu
