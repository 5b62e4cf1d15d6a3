#include "gpu/driver/host_block.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/core.h>

namespace loom::gpu {

namespace {

constexpr int kLanes = static_cast<int>(kWarp);

// Barriers are plain functions for kernels; fibers of a grid stay on the thread that runs it.
thread_local HostBlock* running = nullptr;

const char* what(bool of_warp) {
    return of_warp ? "waits at a barrier of its warp" : "waits at a barrier of the block";
}

}  // namespace

void HostBlock::run(const HostKernel& kernel, const Grid& grid, const void* parameters) {
    kernel_ = &kernel;
    parameters_ = parameters;
    fault_ = {};
    threads_ = static_cast<int>(grid.threads);
    stops_.assign(grid.threads, Stop::kEnd);
    words_.assign(2 * grid.threads, 0);
    second_words_.assign(grid.threads / kWarp, 0);
    warps_.reserve(grid.threads / kWarp);
    shared_ = HostBytes(grid.shared_bytes);
    machine_ = {};
    machine_.block_threads = grid.threads;
    machine_.grid_blocks = grid.blocks;
    machine_.shared = shared_.data();
    machine_.warp_barrier = &warp_barrier;
    machine_.block_barrier = &block_barrier;
    std::iota(lanes_, lanes_ + kLanes, uint8_t{0});

    std::vector<uint32_t> order(random_ == 0 ? 0 : grid.blocks);
    std::iota(order.begin(), order.end(), 0U);
    for (uint32_t i = 0; i < order.size(); ++i)
        std::swap(order[i], order[i + random(order.size() - i)]);

    running = this;
    for (uint32_t i = 0; i < grid.blocks && fault_.thread < 0; ++i)
        run_block(order.empty() ? i : order[i]);
    running = nullptr;
    if (fault_.thread >= 0) raise();
}

void HostBlock::run_block(uint32_t block) {
    machine_.block = block;
    shared_.spoil();
    fibers_.prepare(threads_, &begin_thread, this);
    refill();
    fibers_.run(begin_turn());
}

int HostBlock::begin_thread(void* block, int thread) noexcept {
    auto& self = *static_cast<HostBlock*>(block);
    self.kernel_->function(self.parameters_, &self.machine_);
    return self.after(thread, Stop::kEnd);
}

void HostBlock::warp_barrier() {
    running->wait_at(Stop::kWarpBarrier);
}
void HostBlock::block_barrier() {
    running->wait_at(Stop::kBlockBarrier);
}

void HostBlock::wait_at(Stop barrier) {
    const auto thread = static_cast<int>(machine_.thread);
    const int next = after(thread, barrier);
    if (next != thread) fibers_.go(thread, next);
}

// Returns which fiber runs after a thread has stopped. Warps move in step: all lanes of one stop
// before any goes on, so that a look at them tells whether their barrier is complete.
int HostBlock::after(int thread, Stop stop) noexcept {
    stops_[static_cast<size_t>(thread)] = stop;
    if (++lane_ < kLanes) return next_lane();

    const int begin = warps_.back() * kLanes;
    const auto lanes = stops_.begin() + begin;
    if (std::any_of(lanes, lanes + kLanes, [&](Stop other) { return other != stop; }))
        return fail(begin, begin + kLanes);
    if (stop == Stop::kWarpBarrier) {
        second_words_[static_cast<size_t>(warps_.back())] ^= 1;
        return random_ == 0 ? begin_turn() : next_warp();
    }
    if (stop == Stop::kBlockBarrier) ++at_block_barrier_;
    warps_.pop_back();
    return next_warp();
}

int HostBlock::next_warp() noexcept {
    if (warps_.empty()) {
        if (at_block_barrier_ == 0) return Fibers::kCaller;
        if (at_block_barrier_ * kLanes < threads_) return fail(0, threads_);
        refill();
    }
    return begin_turn();
}

void HostBlock::refill() noexcept {
    for (int i = threads_ / kLanes; i-- > 0;) warps_.push_back(i);
    at_block_barrier_ = 0;
}

// Gives each lane of a warp its turn.
int HostBlock::begin_turn() noexcept {
    lane_ = 0;
    if (random_ != 0) {
        std::swap(warps_.back(), warps_[random(warps_.size())]);
        for (int i = 0; i < kLanes; ++i)
            std::swap(lanes_[i],
                      lanes_[i + static_cast<int>(random(static_cast<uint64_t>(kLanes - i)))]);
    }
    return next_lane();
}

int HostBlock::next_lane() noexcept {
    const int warp = warps_.back();
    machine_.thread = static_cast<uint32_t>(warp * kLanes + lanes_[lane_]);
    machine_.exchange =
        words_.data() + (2 * warp + second_words_[static_cast<size_t>(warp)]) * kLanes;
    return static_cast<int>(machine_.thread);
}

// Notes a thread of [begin, end) that waits and one that does not wait with it. A barrier of a warp
// is named before one of the block. The fibers are left where they stand.
int HostBlock::fail(int begin, int end) noexcept {
    const auto first = stops_.begin() + begin;
    const auto last = stops_.begin() + end;
    const auto waits = std::min_element(first, last);
    const auto other = std::find_if(first, last, [&](Stop stop) { return stop != *waits; });
    fault_ = {static_cast<int>(waits - stops_.begin()), *waits,
              static_cast<int>(other - stops_.begin()), *other};
    warps_.clear();
    return Fibers::kCaller;
}

void HostBlock::raise() const {
    throw DeviceError(DeviceError::Kind::kRefused,
                      fmt::format("kernel {}, block {}: thread {} {}, but thread {} {}",
                                  kernel_->name, machine_.block, fault_.thread,
                                  what(fault_.stop == Stop::kWarpBarrier), fault_.other,
                                  fault_.other_stop == Stop::kEnd
                                      ? "has ended"
                                      : what(fault_.other_stop == Stop::kWarpBarrier)));
}

// The generator of SplitMix64; its state is never 0, which stands for none.
uint64_t HostBlock::random(uint64_t below) noexcept {
    random_ += 0x9e3779b97f4a7c15;
    if (random_ == 0) random_ = 1;
    uint64_t x = random_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % below;
}

}  // namespace loom::gpu
