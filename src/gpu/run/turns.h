#pragma once
// How many runs a device has at once.

#include <condition_variable>
#include <mutex>

namespace loom::gpu {

/// Lets so many runs at a device at once; others wait. May be used by several threads.
class Turns {
  public:
    explicit Turns(int count) : free_(count) {}

    /// One of them, for as long as it lives. Without turns there is nothing to wait for.
    class Hold {
      public:
        explicit Hold(Turns* turns) : turns_(turns) {
            if (turns_ != nullptr) turns_->enter();
        }
        ~Hold() {
            if (turns_ != nullptr) turns_->leave();
        }
        Hold(const Hold&) = delete;
        Hold& operator=(const Hold&) = delete;

      private:
        Turns* turns_;
    };

    /// Runs that are at the device or wait for it.
    int busy() const {
        const std::scoped_lock lock(mutex_);
        return busy_;
    }
    /// Whether the next one would have to wait.
    bool is_full() const {
        const std::scoped_lock lock(mutex_);
        return free_ == 0;
    }

  private:
    void enter() {
        std::unique_lock lock(mutex_);
        ++busy_;
        changed_.wait(lock, [&] { return free_ > 0; });
        --free_;
    }
    void leave() {
        {
            const std::scoped_lock lock(mutex_);
            ++free_;
            --busy_;
        }
        changed_.notify_one();
    }

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int free_;
    int busy_ = 0;
};

}  // namespace loom::gpu
