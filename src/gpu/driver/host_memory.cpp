#include "gpu/driver/host_memory.h"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

#include "gpu/driver/sanitizers.h"

namespace loom::gpu {

namespace {

constexpr uint64_t kAlignment = 256;
constexpr int kSpoiled = 0xA5;

}  // namespace

HostBytes::HostBytes(uint64_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    if (bytes > std::numeric_limits<uint64_t>::max() - kAlignment) throw std::bad_alloc();
#if !LOOM_ADDRESS_SANITIZER
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
#endif
    void* memory = nullptr;
    if (posix_memalign(&memory, kAlignment, bytes) != 0) throw std::bad_alloc();
    data_.reset(static_cast<uint8_t*>(memory));
}

void HostBytes::spoil(uint8_t* bytes, uint64_t count) noexcept {
    if (count != 0) std::memset(bytes, kSpoiled, count);
}

void HostBytes::Free::operator()(uint8_t* memory) const noexcept {
    std::free(memory);
}

}  // namespace loom::gpu
