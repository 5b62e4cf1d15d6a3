#pragma once
// Tells on stderr how far a long job is.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace loom::datagen {

/// Prints rows and rate once a job takes more than two seconds: in place on a terminal, else a line
/// every ten seconds. Thread safe.
class Progress {
  public:
    void begin(std::string what);
    void advance(int64_t rows);
    /// Clears the line; returns the rows in all.
    int64_t end();

  private:
    using Clock = std::chrono::steady_clock;
    void print(Clock::time_point now);

    std::mutex mutex_;
    std::string what_;
    int64_t rows_ = 0;
    Clock::time_point start_;
    Clock::time_point next_print_;
    bool printed_ = false;
};

}  // namespace loom::datagen
