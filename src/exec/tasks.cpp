#include "exec/tasks.h"

#include <utility>

#include "base/error.h"

namespace loom::exec {

namespace {

thread_local const Poll* t_poll = nullptr;
thread_local const HostCall* t_host = nullptr;

}  // namespace

void poll_thread() {
    if (t_poll != nullptr) (*t_poll)();
}

ThreadPoll::ThreadPoll(const Poll& poll) noexcept : before_(std::exchange(t_poll, &poll)) {}

ThreadPoll::~ThreadPoll() {
    t_poll = before_;
}

void ask_host(int expression, std::span<const Vector> args, int64_t rows, const TakeAnswer& take) {
    if (t_host == nullptr) throw base::Error(base::ErrorKind::kBug, "there is no host to ask");
    (*t_host)(expression, args, rows, take);
}

ThreadHost::ThreadHost(const HostCall& call) noexcept : before_(std::exchange(t_host, &call)) {}

ThreadHost::~ThreadHost() {
    t_host = before_;
}

}  // namespace loom::exec
