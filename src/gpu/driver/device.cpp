#include "gpu/driver/device.h"

#include <fmt/core.h>

namespace loom::gpu {

namespace {

constexpr uint32_t kWarpThreads = 32;
constexpr uint32_t kMaxBlocks = 0x7fffffff;

[[noreturn]] void refuse(std::string message) {
    throw DeviceError(DeviceError::Kind::kRefused, std::move(message));
}

}  // namespace

void check_launch(const DeviceFacts& facts, const Grid& grid, uint64_t parameter_bytes) {
    if (grid.blocks == 0 || grid.blocks > kMaxBlocks)
        refuse(fmt::format("a grid of {} blocks", grid.blocks));
    if (grid.threads == 0 || grid.threads > kMaxBlockThreads)
        refuse(fmt::format("a block of {} threads", grid.threads));
    // A warp with lanes missing would never complete what all lanes must come to.
    if (grid.threads % kWarpThreads != 0)
        refuse(fmt::format("a block of {} threads has a partial warp", grid.threads));
    if (grid.shared_bytes > facts.shared_bytes)
        refuse(fmt::format("a block that asks for {} bytes of shared memory, of {}",
                           grid.shared_bytes, facts.shared_bytes));
    if (parameter_bytes > kMaxParameterBytes)
        refuse(fmt::format("{} bytes of parameters", parameter_bytes));
}

}  // namespace loom::gpu
