#pragma once
// The threads of one query: started once, asleep between pipelines.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
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

    /// Has the caller of run() do `work` at its next answer(), and waits; for what only the host's
    /// thread may do. Called by worker `worker` within run(). Raises what `work` raises.
    void ask(int worker, const std::function<void()>& work);
    /// Does what workers asked for. Called by the caller of run(), every few milliseconds.
    void answer() noexcept;

    /// Ends the threads for good, also while run() is on the stack of the calling thread and will
    /// not be returned to.
    void end();

    base::StopToken& stop() noexcept { return stop_; }

  private:
    struct Question {
        const std::function<void()>* work;
        bool answered = false;
        std::exception_ptr error;
    };

    void start();
    void loop(int worker);
    void remember(std::exception_ptr error) noexcept;

    int size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;  ///< a thread has finished, or asks
    std::condition_variable answered_;
    std::deque<Question*> questions_;
    std::atomic<int> asking_{0};  ///< size of `questions_`
    const Work* work_ = nullptr;
    uint64_t round_ = 0;
    int wanted_ = 0;   ///< workers of this round
    int running_ = 0;  ///< threads that have not finished this round
    bool quit_ = false;
    std::exception_ptr error_;
    base::StopToken stop_;
};

}  // namespace loom::exec
