#pragma once
// Memory that plays a device's: aligned as a device aligns it, and never clear.

#include <cstdint>
#include <memory>

namespace loom::gpu {

/// Bytes of host memory, aligned to 256. Under AddressSanitizer exactly as many as asked for, so
/// that reads past their end are found; else whole multiples of 256, as a device has them.
class HostBytes {
  public:
    HostBytes() = default;
    /// Raises std::bad_alloc. No bytes are no memory.
    explicit HostBytes(uint64_t bytes);

    uint8_t* data() const noexcept { return data_.get(); }
    uint64_t size() const noexcept { return size_; }
    /// Fills them with 0xA5, so that nobody relies on zeros.
    void spoil() noexcept { spoil(data(), size_); }
    static void spoil(uint8_t* bytes, uint64_t count) noexcept;

  private:
    struct Free {
        void operator()(uint8_t* memory) const noexcept;
    };
    std::unique_ptr<uint8_t, Free> data_;
    uint64_t size_ = 0;
};

}  // namespace loom::gpu
