#pragma once
// A device that fails when a test says so.

#include <cstdint>
#include <memory>
#include <string_view>

#include "gpu/driver/device.h"

namespace loom::gpu {

/// Which calls fail, counted from 1 over all streams and modules of the device; 0: none.
struct FaultPlan {
    int64_t allocation = 0;  ///< of memory of the device or pinned memory: kMemory
    int64_t launch = 0;      ///< kRefused
    int64_t load = 0;        ///< of a module: kRefused
    int64_t call = 0;        ///< of any kind: kLost, and so every later one
    int64_t wait = 0;        ///< hangs: until release_hang(), or so long:
    int64_t hang_ms = 0;     ///< milliseconds; 0: without end
};

/// Returns the plan that a text like `allocation=3,launch=7` names. Raises base::Error (kBadOption)
/// for anything else. The empty text is the empty plan.
FaultPlan parse_fault_plan(std::string_view text);

/// Passes calls on to another device, but for those that fail.
class FaultyDevice : public Device {
  public:
    FaultyDevice(std::unique_ptr<Device> device, const FaultPlan& plan);
    ~FaultyDevice() override;

    const DeviceFacts& facts() const override;
    MemoryState memory() override;
    DeviceAddress allocate(uint64_t bytes) override;
    void release(DeviceAddress address) noexcept override;
    void spoil(DeviceAddress address, uint64_t bytes) override;
    void* pin(uint64_t bytes) override;
    void unpin(void* memory) noexcept override;
    std::unique_ptr<Stream> make_stream() override;
    std::unique_ptr<Module> load(base::ByteSpan image) override;

    /// Ends a wait that hangs, now or later. May be called by any thread.
    void release_hang();
    /// Whether a wait hangs now.
    bool hangs() const;

  private:
    class Script;
    class FaultyStream;
    class FaultyModule;

    std::unique_ptr<Device> device_;
    std::shared_ptr<Script> script_;
};

}  // namespace loom::gpu
