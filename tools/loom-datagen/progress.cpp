#include "progress.h"

#include <unistd.h>

#include <fmt/core.h>

namespace loom::datagen {

using namespace std::chrono_literals;

namespace {

bool on_terminal() {
    static const bool terminal = isatty(STDERR_FILENO) == 1;
    return terminal;
}

}  // namespace

void Progress::begin(std::string what) {
    std::lock_guard lock(mutex_);
    what_ = std::move(what);
    rows_ = 0;
    start_ = Clock::now();
    next_print_ = start_ + 2s;
    printed_ = false;
}

void Progress::advance(int64_t rows) {
    std::lock_guard lock(mutex_);
    rows_ += rows;
    const auto now = Clock::now();
    if (now >= next_print_) print(now);
}

void Progress::print(Clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(rows_) / seconds / 1e6;
    fmt::print(stderr, "{}{}: {} rows, {:.1f} million rows/s{}", on_terminal() ? "\r" : "", what_,
               rows_, rate, on_terminal() ? "\033[K" : "\n");
    printed_ = true;
    next_print_ = now + (on_terminal() ? 500ms : 10'000ms);
}

int64_t Progress::end() {
    std::lock_guard lock(mutex_);
    if (printed_ && on_terminal()) fmt::print(stderr, "\r\033[K");
    return rows_;
}

}  // namespace loom::datagen
