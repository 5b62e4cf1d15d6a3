#pragma once
// What kernels have left in a device's memory, on its way to the host.

#include <cstdint>
#include <vector>

#include "gpu/driver/device_pool.h"
#include "gpu/run/arena.h"

namespace loom::gpu {

/// Copies through pinned memory, many at once. Used as a stream is, but that what was fetched
/// before is there at once.
class Results {
  public:
    explicit Results(DeviceLease& lease) : lease_(lease) {}

    /// Fetches places that are likely to be asked for, and waits for all that the stream does.
    /// Forgets those fetched before.
    void fetch(const std::vector<Arena::Range>& ranges);
    /// Copies to `to`, which is filled by the end of the next wait().
    void download(void* to, DeviceAddress from, uint64_t bytes);
    void wait();

  private:
    struct Fetched {
        Arena::Range range;
        const uint8_t* bytes = nullptr;
    };
    struct Wanted {
        void* to = nullptr;
        Arena::Range from;
    };
    struct Room {
        uint8_t* get(DeviceLease& lease, uint64_t bytes);
        uint8_t* memory = nullptr;
        uint64_t size = 0;
    };

    DeviceLease& lease_;
    std::vector<Fetched> fetched_;
    std::vector<Wanted> wanted_;
    Room fetched_room_;
    Room wanted_room_;
};

}  // namespace loom::gpu
