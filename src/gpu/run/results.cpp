#include "gpu/run/results.h"

#include <cstring>

namespace loom::gpu {

namespace {

// Larger results do not go through pinned memory: it is dear, and the host works at them for long.
constexpr uint64_t kMostPinned = uint64_t{64} << 20;

}  // namespace

// Returns pinned memory; the same as before, if that is large enough.
uint8_t* Results::Room::get(DeviceLease& lease, uint64_t bytes) {
    if (size < bytes) {
        memory = lease.pinned(bytes);
        size = bytes;
    }
    return memory;
}

void Results::fetch(const std::vector<Arena::Range>& ranges) {
    fetched_.clear();
    uint64_t sum = 0;
    for (const Arena::Range& range : ranges) sum += range.bytes;
    uint8_t* const begin = fetched_room_.get(lease_, sum);
    uint8_t* to = begin;
    for (const Arena::Range& range : ranges) {
        lease_.stream().download(to, range.address, range.bytes);
        fetched_.push_back({range, to});
        to += range.bytes;
    }
    lease_.stream().wait();
}

void Results::download(void* to, DeviceAddress from, uint64_t bytes) {
    if (bytes == 0) return;
    for (const Fetched& fetched : fetched_) {
        if (from < fetched.range.address || from - fetched.range.address > fetched.range.bytes)
            continue;
        const uint64_t at = from - fetched.range.address;
        if (bytes > fetched.range.bytes - at) continue;
        std::memcpy(to, fetched.bytes + at, bytes);
        return;
    }
    wanted_.push_back({to, {from, bytes}});
}

void Results::wait() {
    if (wanted_.empty()) return;
    uint64_t sum = 0;
    for (const Wanted& wanted : wanted_) sum += wanted.from.bytes;
    Stream& stream = lease_.stream();
    if (sum > kMostPinned) {
        for (const Wanted& wanted : wanted_)
            stream.download(wanted.to, wanted.from.address, wanted.from.bytes);
        stream.wait();
    } else {
        uint8_t* const begin = wanted_room_.get(lease_, sum);
        uint8_t* at = begin;
        for (const Wanted& wanted : wanted_) {
            stream.download(at, wanted.from.address, wanted.from.bytes);
            at += wanted.from.bytes;
        }
        stream.wait();
        at = begin;
        for (const Wanted& wanted : wanted_) {
            std::memcpy(wanted.to, at, wanted.from.bytes);
            at += wanted.from.bytes;
        }
    }
    wanted_.clear();
}

}  // namespace loom::gpu
