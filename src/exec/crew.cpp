#include "exec/crew.h"

#include <algorithm>
#include <chrono>

#include <pthread.h>
#include <signal.h>

namespace loom::exec {

namespace {

// How long threads sleep between two looks at whether the query shall end.
constexpr std::chrono::milliseconds kPatience{5};

}  // namespace

Crew::~Crew() {
    end();
}

void Crew::end() {
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    stop_.request_stop();
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
}

void Crew::ask(int worker, const std::function<void()>& work) {
    if (worker == 0) return work();
    base::check_stop(&stop_);
    Question question{&work};
    std::unique_lock lock(mutex_);
    questions_.push_back(&question);
    asking_.store(static_cast<int>(questions_.size()), std::memory_order_relaxed);
    done_.notify_one();
    while (!answered_.wait_for(lock, kPatience, [&] { return question.answered; })) {
        if (!stop_.stop_requested()) continue;
        const auto found = std::find(questions_.begin(), questions_.end(), &question);
        // What is being answered must stay, unless the caller of run() left in the midst of it.
        if (found == questions_.end() && !quit_) continue;
        if (found != questions_.end()) questions_.erase(found);
        asking_.store(static_cast<int>(questions_.size()), std::memory_order_relaxed);
        lock.unlock();
        base::check_stop(&stop_);
        return;
    }
    if (question.error != nullptr) std::rethrow_exception(question.error);
}

void Crew::answer() noexcept {
    if (asking_.load(std::memory_order_relaxed) == 0) return;
    std::unique_lock lock(mutex_);
    while (!questions_.empty() && !stop_.stop_requested()) {
        Question& question = *questions_.front();
        questions_.pop_front();
        asking_.store(static_cast<int>(questions_.size()), std::memory_order_relaxed);
        lock.unlock();
        std::exception_ptr error;
        try {
            (*question.work)();
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        question.error = std::move(error);
        question.answered = true;
        answered_.notify_all();
    }
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
        done_.wait_for(lock, kPatience, [&] {
            return running_ == 0 || (!questions_.empty() && !stop_.stop_requested());
        });
        if (running_ == 0) break;
        lock.unlock();
        answer();
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
