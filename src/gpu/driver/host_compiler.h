#pragma once
// Compiles kernels for the device that is the host's processor (host_device.h).

#include <memory>
#include <string>

#include "gpu/driver/compiler.h"

namespace loom::gpu {

/// Returns a compiler for architecture `host`: the C++ compiler that LOOM_HOST_COMPILER names in
/// the environment, else `c++`. Returns nullptr and why, if that cannot be run. The folder of
/// temporary files ($TMPDIR, else /tmp) is used while compile() runs. In builds with
/// AddressSanitizer kernels are compiled with it.
std::unique_ptr<Compiler> make_host_compiler(std::string* reason);

}  // namespace loom::gpu
