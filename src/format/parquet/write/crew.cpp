#include "format/parquet/write/crew.h"

namespace loom::parquet::write {

Crew::Crew(int threads) {
    for (int worker = 1; worker < threads; ++worker)
        threads_.emplace_back([this, worker] { serve(worker); });
}

Crew::~Crew() {
    {
        std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Crew::run(size_t count, const std::function<void(size_t, int)>& job) {
    if (threads_.empty() || count <= 1) {
        for (size_t i = 0; i < count; ++i) job(i, 0);
        return;
    }
    {
        std::lock_guard lock(mutex_);
        job_ = &job;
        next_ = 0;
        count_ = count;
        failure_ = nullptr;
        busy_ = size();
        ++round_;
    }
    wake_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
}

void Crew::serve(int worker) {
    uint64_t seen = 0;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_) return;
            seen = round_;
        }
        work(worker);
    }
}

void Crew::work(int worker) {
    std::unique_lock lock(mutex_);
    while (next_ < count_) {
        const size_t index = next_++;
        lock.unlock();
        std::exception_ptr failure;
        try {
            (*job_)(index, worker);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (failure) {
            if (!failure_) failure_ = failure;
            next_ = count_;
        }
    }
    if (--busy_ == 0) done_.notify_one();
}

}  // namespace loom::parquet::write
