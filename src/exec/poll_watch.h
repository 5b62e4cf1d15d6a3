#pragma once
// How long threads compute without looking whether the query shall end: what bounds the time that a
// cancelled query goes on for, whatever else the machine does.

#include <time.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace loom::exec {

/// Measures processor time between polls, a worker at a time. Each poll costs a system call, so
/// this is for tests.
class PollWatch {
  public:
    explicit PollWatch(int workers) : last_(static_cast<size_t>(workers)) {}

    /// Starts measuring the calling thread, which is worker `worker`.
    void begin(int worker, const char* stage) noexcept {
        last_[static_cast<size_t>(worker)] = {now(), stage};
    }
    /// Notes a poll of the calling thread; `stage` is what the query is at from here on.
    void poll(int worker, const char* stage) noexcept {
        Last& last = last_[static_cast<size_t>(worker)];
        const int64_t time = now();
        const int64_t stretch = last.time < 0 ? 0 : time - last.time;
        const char* in = last.stage;
        last = {time, stage};
        int64_t known = longest_.load(std::memory_order_relaxed);
        while (stretch > known)
            if (longest_.compare_exchange_weak(known, stretch, std::memory_order_relaxed)) {
                longest_in_.store(in, std::memory_order_relaxed);
                break;
            }
    }

    /// Milliseconds.
    double longest() const noexcept {
        return static_cast<double>(longest_.load(std::memory_order_relaxed)) / 1e6;
    }
    const char* longest_in() const noexcept { return longest_in_.load(std::memory_order_relaxed); }

  private:
    struct alignas(64) Last {
        int64_t time = -1;  ///< nanoseconds that the thread had computed at its last poll
        const char* stage = "";
    };
    static int64_t now() noexcept {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return time.tv_sec * 1'000'000'000 + time.tv_nsec;
    }

    std::vector<Last> last_;
    std::atomic<int64_t> longest_{0};
    std::atomic<const char*> longest_in_{""};
};

}  // namespace loom::exec
