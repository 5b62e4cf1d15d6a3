#pragma once
// How a long computation learns that nobody waits for it any more.

#include <atomic>

#include "base/error.h"

namespace loom::base {

/// A flag that one thread (or a signal handler) sets and workers poll once a batch. A null pointer
/// to a StopToken means "never stopped".
class StopToken {
  public:
    void request_stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
    bool stop_requested() const noexcept { return stop_.load(std::memory_order_relaxed); }
    void reset() noexcept { stop_.store(false, std::memory_order_relaxed); }

  private:
    std::atomic<bool> stop_{false};
};

/// Raises kCancelled when `token` says stop.
inline void check_stop(const StopToken* token) {
    if (token != nullptr && token->stop_requested())
        throw Error(ErrorKind::kCancelled, "canceling statement due to user request");
}

}  // namespace loom::base
