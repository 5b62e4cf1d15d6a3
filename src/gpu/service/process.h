#pragma once
// What those who start loom-gpud, and those who look for it, have to know of it.

#include <string>

namespace loom::gpu {

/// Its exit statuses besides 0 (told to end), 1 (a failure) and 2 (wrong usage).
inline constexpr int kDeviceLost =
    3;  ///< the device answers no more: another process may begin anew
inline constexpr int kDeviceAbsent = 4;  ///< the host has no device: starting again is of no use

/// Returns the file beside its socket in which a process that could not begin says why.
inline std::string problem_path(const std::string& socket) {
    return socket + ".problem";
}

}  // namespace loom::gpu
