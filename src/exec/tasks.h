#pragma once
// Work that the end of a pipeline hands to the query's workers.

#include <cstdint>
#include <functional>
#include <span>

#include "exec/vector.h"

namespace loom::exec {

/// Looks whether the query shall end, and throws if so.
using Poll = std::function<void()>;

/// Calls the poll of the calling thread, if it works for a query: for what lies too deep to be
/// handed one, and takes long now and then.
void poll_thread();

/// Makes `poll` the calling thread's while it lives.
class ThreadPoll {
  public:
    explicit ThreadPoll(const Poll& poll) noexcept;
    ~ThreadPoll();
    ThreadPoll(const ThreadPoll&) = delete;
    ThreadPoll& operator=(const ThreadPoll&) = delete;

  private:
    const Poll* before_;
};

/// Gets the host's answer, on the host's thread; the vector dies with the call.
using TakeAnswer = std::function<void(const Vector& answer)>;
/// Has the host compute its expression `expression` (plan::ExprKind::kHost) for `rows` rows of
/// plain or constant arguments, and waits.
using HostCall = std::function<void(int expression, std::span<const Vector> args, int64_t rows,
                                    const TakeAnswer& take)>;

/// Asks the host of the query that the calling thread works for. Raises what Host::evaluate() does.
void ask_host(int expression, std::span<const Vector> args, int64_t rows, const TakeAnswer& take);

/// Makes `call` the way to the host of the calling thread while it lives.
class ThreadHost {
  public:
    explicit ThreadHost(const HostCall& call) noexcept;
    ~ThreadHost();
    ThreadHost(const ThreadHost&) = delete;
    ThreadHost& operator=(const ThreadHost&) = delete;

  private:
    const HostCall* before_;
};

/// The query's workers, as a sink sees them when it finishes.
class Tasks {
  public:
    using Work = std::function<void(int64_t task, int worker)>;

    virtual ~Tasks() = default;
    virtual int workers() const = 0;
    /// Runs work(task, worker) once for each task in [0, count), several at once and in any order,
    /// and waits for all. The first exception ends the others and is rethrown. Not for a task, nor
    /// while several workers run a pipeline; the only worker of a pipeline may call it.
    virtual void run(int64_t count, const Work& work) = 0;
    /// What worker `worker` calls at least every few milliseconds; it throws if the query shall
    /// end. Worker 0's is also for the thread that calls run().
    virtual const Poll& poll(int worker) const = 0;
};

}  // namespace loom::exec
