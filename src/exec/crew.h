#pragma once
// The threads of one query: started once, asleep between pipelines.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop_token.h"
#include "exec/query.h"

namespace loom::exec {

/// Runs work on several threads at once. The caller of run() is worker 0; the others block all
/// signals and never call the host.
class Crew {
  public:
    /// What a worker does; it gets its number.
    using Work = std::function<void(int worker)>;

    explicit Crew(int workers) : size_(workers < 1 ? 1 : workers) {}
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    int size() const noexcept { return size_; }
    /// Runs `work` on workers 0 to workers - 1 and waits for all of them. If one throws, stop() is
    /// set, the others are waited for, and the first exception is rethrown. While worker 0 waits it
    /// calls host.check_interrupts(); what that throws counts as an exception of worker 0.
    void run(int workers, Host& host, const Work& work);

    base::StopToken& stop() noexcept { return stop_; }

  private:
    void start();
    void loop(int worker);
    void remember(std::exception_ptr error) noexcept;

    int size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    const Work* work_ = nullptr;
    uint64_t round_ = 0;
    int wanted_ = 0;   ///< workers of this round
    int running_ = 0;  ///< threads that have not finished this round
    bool quit_ = false;
    std::exception_ptr error_;
    base::StopToken stop_;
};

}  // namespace loom::exec
