#include "parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace loom::datagen {

void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& job) {
    std::atomic<int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    auto work = [&] {
        for (int64_t i = next++; i < count; i = next++) {
            try {
                job(i);
            } catch (...) {
                std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
        }
    };
    {
        std::vector<std::jthread> crew;
        for (int64_t i = 1; i < std::min<int64_t>(threads, count); ++i) crew.emplace_back(work);
        work();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace loom::datagen
