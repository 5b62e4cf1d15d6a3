#pragma once
// Runs independent jobs on several threads.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace loom::base {

/// Calls make_worker() once on each of at most `threads` threads, the caller's among them, and what
/// it returned with 0 to count - 1, each number once. Returns when all are done. Throws the first
/// exception of any; numbers that no worker has begun by then are left out.
template <typename MakeWorker>
void in_parallel(int threads, int64_t count, const MakeWorker& make_worker) {
    std::atomic<int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run = [&] {
        try {
            auto worker = make_worker();
            for (int64_t i = next++; i < count; i = next++) worker(i);
        } catch (...) {
            const std::scoped_lock lock(mutex);
            if (!failure) failure = std::current_exception();
            next = count;
        }
    };
    {
        std::vector<std::jthread> others;
        for (int64_t i = 1; i < std::min<int64_t>(threads, count); ++i) others.emplace_back(run);
        run();
    }
    if (failure) std::rethrow_exception(failure);
}

/// Calls job(0) to job(count - 1), as in_parallel() does.
template <typename Job>
void parallel_for(int threads, int64_t count, const Job& job) {
    in_parallel(threads, count, [&] { return [&](int64_t i) { job(i); }; });
}

}  // namespace loom::base
