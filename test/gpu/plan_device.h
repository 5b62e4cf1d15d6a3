#pragma once
// The device that tests of plans run on: the host's processor, or a GPU if LOOM_GPU_DEVICE=cuda.

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "gpu/driver/compiler.h"
#include "gpu/driver/cuda_device.h"
#include "gpu/driver/device.h"
#include "gpu/driver/host_compiler.h"
#include "gpu/driver/host_device.h"
#include "gpu/driver/nvrtc_compiler.h"

namespace loom::gpu {

struct PlanDevice {
    std::unique_ptr<Device> device;
    std::unique_ptr<Compiler> compiler;  ///< null: there is none, and `reason` says why
    std::string reason;
};

inline PlanDevice open_plan_device() {
    PlanDevice opened;
    const char* wanted = std::getenv("LOOM_GPU_DEVICE");
    if (wanted != nullptr && std::string_view(wanted) == "cuda") {
        opened.device = open_cuda_device(0);
        opened.compiler =
            make_nvrtc_compiler(&opened.reason, opened.device->facts().driver_version);
    } else {
        opened.device = open_host_device();
        opened.compiler = make_host_compiler(&opened.reason);
    }
    return opened;
}

}  // namespace loom::gpu
