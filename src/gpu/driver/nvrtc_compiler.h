#pragma once
// Compiles kernels for devices of CUDA, by NVRTC; no device is needed for that.

#include <memory>
#include <string>

#include "gpu/driver/compiler.h"

namespace loom::gpu {

/// Returns a compiler for architectures `sm_80`, `sm_90` and so on, whose images are cubins;
/// nullptr and why, if there is no NVRTC. `driver_version` is that of the devices (DeviceFacts), 0
/// if there are none: an NVRTC of the same major version or an earlier one is preferred.
std::unique_ptr<Compiler> make_nvrtc_compiler(std::string* reason, int driver_version = 0);

}  // namespace loom::gpu
