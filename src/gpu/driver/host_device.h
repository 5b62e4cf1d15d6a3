#pragma once
// A device that is the host's processor. It runs the same kernels (compiled by host_compiler.h),
// slowly, and checks what a device leaves unchecked: barriers that not all threads come to,
// launches beyond what a kernel was compiled for, copies beyond an allocation and, in builds with
// AddressSanitizer, every access of memory. Memory of the device and of blocks is filled with 0xA5.

#include <cstdint>
#include <memory>

#include "gpu/driver/device.h"

namespace loom::gpu {

struct HostDeviceOptions {
    uint64_t memory = 0;  ///< bytes that may be allocated; 0: as much as the machine has
    /// Shuffles the order of blocks, warps and lanes. 0: what LOOM_HOST_DEVICE_SEED says in the
    /// environment, or ascending order.
    uint64_t seed = 0;
};

/// Returns a device of architecture `host`. Work is done within the call that asks for it, by the
/// calling thread. Launches of one device wait for one another, since a block's static memory
/// (LOOM_SHARED) is there once for each image.
std::unique_ptr<Device> open_host_device(const HostDeviceOptions& options = {});

}  // namespace loom::gpu
