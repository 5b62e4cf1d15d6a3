#pragma once
// Memory of a device for one run.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "gpu/driver/device_pool.h"

namespace loom::gpu {

/// What is to be 0 at first, what is to be all ones, and what is written before it is read, in one
/// piece each.
class Arena {
  public:
    struct Range {
        DeviceAddress address = 0;
        uint64_t bytes = 0;
    };

    /// Returns where `bytes` will lie, once allocate() has run. Valid as long as the arena.
    DeviceAddress* reserve(uint64_t bytes, uint8_t fill) {
        return reserve(bytes, fill == 0 ? zeros_ : ones_);
    }
    DeviceAddress* reserve_unfilled(uint64_t bytes) { return reserve(bytes, others_); }
    /// The same for what is 0 at first and comes back to the host: small places lie side by side.
    DeviceAddress* reserve_result(uint64_t bytes) {
        if (bytes <= kSmallResult) return reserve(bytes, results_);
        DeviceAddress* const place = reserve(bytes, zeros_);
        large_.push_back(place);
        return place;
    }
    void allocate(DeviceLease& lease) {
        uint64_t bytes = 0;
        for (const Part* part : parts()) bytes += part->bytes;
        memory_ = lease.memory(std::max<uint64_t>(256, bytes)).address;
        DeviceAddress begin = memory_;
        for (const Part* part : parts()) {
            for (const auto& place : part->places) *place += begin;
            begin += part->bytes;
        }
    }
    DeviceAddress address() const noexcept { return memory_; }
    void clear(Stream& stream) const {
        const uint64_t zeros = results_.bytes + zeros_.bytes;
        if (zeros > 0) stream.fill(memory_, 0, zeros);
        if (ones_.bytes > 0) stream.fill(memory_ + zeros, 0xff, ones_.bytes);
    }
    /// Returns what is fetched before it is known how much of it counts: all small results, and
    /// the beginnings of the others.
    std::vector<Range> first_results() const {
        std::vector<Range> ranges;
        if (results_.bytes > 0) ranges.push_back({memory_, results_.bytes});
        for (const DeviceAddress* place : large_) ranges.push_back({*place, kBeginning});
        return ranges;
    }

  private:
    // A wait for the device takes about as long as copies of so many bytes.
    static constexpr uint64_t kSmallResult = uint64_t{128} << 10;
    static constexpr uint64_t kBeginning = uint64_t{32} << 10;

    struct Part {
        uint64_t bytes = 0;
        std::vector<std::unique_ptr<DeviceAddress>> places;
    };
    static DeviceAddress* reserve(uint64_t bytes, Part& part) {
        const uint64_t at = part.bytes;
        part.bytes += aligned(std::max<uint64_t>(bytes, 16));
        return part.places.emplace_back(std::make_unique<DeviceAddress>(at)).get();
    }
    std::vector<const Part*> parts() const { return {&results_, &zeros_, &ones_, &others_}; }

    Part results_;
    Part zeros_;
    Part ones_;
    Part others_;
    std::vector<const DeviceAddress*> large_;  // of `zeros_`
    DeviceAddress memory_ = 0;
};

}  // namespace loom::gpu
