#pragma once
// A few threads that share the columns of a row group.

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace loom::parquet::write {

/// Runs numbered jobs on `threads` threads, the caller's being one of them. One caller at a time.
class Crew {
  public:
    explicit Crew(int threads);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    int size() const noexcept { return static_cast<int>(threads_.size()) + 1; }
    /// Calls job(i, worker) for all i < count, worker < size(), and returns when all are done. The
    /// first exception of a job stops the remaining ones and is thrown here.
    void run(size_t count, const std::function<void(size_t index, int worker)>& job);

  private:
    void serve(int worker);
    void work(int worker);

    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    const std::function<void(size_t, int)>* job_ = nullptr;
    size_t next_ = 0;
    size_t count_ = 0;
    int busy_ = 0;
    uint64_t round_ = 0;
    bool stop_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace loom::parquet::write
