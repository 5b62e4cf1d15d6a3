#include "exec/crew.h"

#include <chrono>

#include <pthread.h>
#include <signal.h>

namespace loom::exec {

Crew::~Crew() {
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::start() {
    // Signals belong to the host's thread: what is blocked here is blocked in the new threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        for (int worker = 1; worker < size_; ++worker)
            threads_.emplace_back([this, worker] { loop(worker); });
    } catch (const std::exception&) {
        // The system has no thread left to give: the query runs with those it got.
        size_ = static_cast<int>(threads_.size()) + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Crew::remember(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    if (error_ == nullptr) error_ = std::move(error);
    stop_.request_stop();
}

void Crew::loop(int worker) {
    uint64_t seen = 0;
    for (;;) {
        const Work* work;
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return quit_ || (round_ != seen && worker < wanted_); });
            if (quit_) return;
            seen = round_;
            work = work_;
        }
        try {
            (*work)(worker);
        } catch (...) {
            remember(std::current_exception());
        }
        {
            const std::lock_guard lock(mutex_);
            --running_;
        }
        done_.notify_one();
    }
}

void Crew::run(int workers, Host& host, const Work& work) {
    if (workers > 1 && threads_.empty() && size_ > 1) start();
    if (workers > size_) workers = size_;
    stop_.reset();
    if (workers > 1) {
        {
            const std::lock_guard lock(mutex_);
            error_ = nullptr;
            work_ = &work;
            wanted_ = workers;
            running_ = workers - 1;
            ++round_;
        }
        wake_.notify_all();
    } else {
        error_ = nullptr;
        running_ = 0;
    }
    try {
        work(0);
    } catch (...) {
        remember(std::current_exception());
    }
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
        if (done_.wait_for(lock, std::chrono::milliseconds(5), [&] { return running_ == 0; }))
            break;
        lock.unlock();
        try {
            host.check_interrupts();
        } catch (...) {
            remember(std::current_exception());
        }
        lock.lock();
    }
    if (error_ != nullptr) {
        std::exception_ptr error = std::move(error_);
        error_ = nullptr;
        lock.unlock();
        std::rethrow_exception(error);
    }
}

}  // namespace loom::exec
