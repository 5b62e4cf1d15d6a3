#pragma once
// Memory of a device for one run.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/driver/device.h"

namespace loom::gpu {

/// What is to be 0 at first, what is to be all ones, and what is written before it is read, in one
/// piece each.
class Arena {
  public:
    /// Returns where `bytes` will lie, once allocate() has run. Valid as long as the arena.
    DeviceAddress* reserve(uint64_t bytes, uint8_t fill) {
        return reserve(bytes, fill == 0 ? zeros_ : ones_);
    }
    DeviceAddress* reserve_unfilled(uint64_t bytes) { return reserve(bytes, others_); }
    void allocate(Device& device) {
        memory_ = DeviceMemory(device,
                               std::max<uint64_t>(256, zeros_.bytes + ones_.bytes + others_.bytes));
        DeviceAddress begin = memory_.address();
        for (const Part* part : {&zeros_, &ones_, &others_}) {
            for (const auto& place : part->places) *place += begin;
            begin += part->bytes;
        }
    }
    void clear(Stream& stream) const {
        if (zeros_.bytes > 0) stream.fill(memory_.address(), 0, zeros_.bytes);
        if (ones_.bytes > 0) stream.fill(memory_.address() + zeros_.bytes, 0xff, ones_.bytes);
    }

  private:
    struct Part {
        uint64_t bytes = 0;
        std::vector<std::unique_ptr<DeviceAddress>> places;
    };
    static DeviceAddress* reserve(uint64_t bytes, Part& part) {
        const uint64_t at = part.bytes;
        part.bytes += (std::max<uint64_t>(bytes, 16) + 255) / 256 * 256;
        return part.places.emplace_back(std::make_unique<DeviceAddress>(at)).get();
    }

    Part zeros_;
    Part ones_;
    Part others_;
    DeviceMemory memory_;
};

}  // namespace loom::gpu
