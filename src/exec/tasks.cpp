#include "exec/tasks.h"

#include <utility>

namespace loom::exec {

namespace {

thread_local const Poll* t_poll = nullptr;

}  // namespace

void poll_thread() {
    if (t_poll != nullptr) (*t_poll)();
}

ThreadPoll::ThreadPoll(const Poll& poll) noexcept : before_(std::exchange(t_poll, &poll)) {}

ThreadPoll::~ThreadPoll() {
    t_poll = before_;
}

}  // namespace loom::exec
