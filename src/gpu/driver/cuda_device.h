#pragma once
// Devices of CUDA, by the driver's interface alone.

#include <memory>
#include <string>
#include <vector>

#include "gpu/driver/cuda_library.h"
#include "gpu/driver/device.h"

namespace loom::gpu {

/// Returns what is known of each device, without starting work on any; if that is none, the reason.
std::vector<DeviceFacts> cuda_devices(std::string* reason);

/// Returns the device of that place in cuda_devices(). Raises DeviceError (kAbsent) if there is
/// none. What the driver needs for a context is taken from the device's memory: some hundred MB.
std::unique_ptr<Device> open_cuda_device(int ordinal);
/// The same by a driver that is given, for tests.
std::unique_ptr<Device> open_cuda_device(const CudaDriver& driver, int ordinal);

}  // namespace loom::gpu
