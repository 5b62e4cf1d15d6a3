#pragma once
// Runs independent jobs on several threads.

#include <cstdint>
#include <functional>

namespace loom::datagen {

/// Calls job(0) .. job(count - 1) on at most `threads` threads and returns when all are done.
/// Throws the first exception of a job; jobs not begun by then are left out.
void parallel_for(int threads, int64_t count, const std::function<void(int64_t)>& job);

}  // namespace loom::datagen
