#pragma once
// What runs of a device use again and again: memory, pinned memory, streams. A driver takes ten to
// a hundred microseconds to make each of them, and waits for the device to free memory.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "gpu/driver/device.h"

namespace loom::gpu {

/// A device, and what leases have given back, up to a bound. All of that goes back to the device
/// when anything finds no memory there, before that is an error. May be used by several threads.
class DevicePool : public Device {
  public:
    struct Options {
        uint64_t idle_bytes = uint64_t{1} << 28;    ///< of the device's memory that is kept
        uint64_t pinned_bytes = uint64_t{1} << 28;  ///< of pinned memory that is kept
        size_t streams = 16;                        ///< that are kept
    };

    /// The device must outlive it.
    explicit DevicePool(Device& device) : DevicePool(device, Options()) {}
    DevicePool(Device& device, const Options& options);
    DevicePool(const DevicePool&) = delete;
    DevicePool& operator=(const DevicePool&) = delete;
    /// All leases must be gone.
    ~DevicePool() override;

    const DeviceFacts& facts() const override { return device_.facts(); }
    MemoryState memory() override { return device_.memory(); }
    DeviceAddress allocate(uint64_t bytes) override;
    void release(DeviceAddress address) noexcept override { device_.release(address); }
    void spoil(DeviceAddress address, uint64_t bytes) override { device_.spoil(address, bytes); }
    void* pin(uint64_t bytes) override;
    void unpin(void* memory) noexcept override { device_.unpin(memory); }
    std::unique_ptr<Stream> make_stream() override;
    std::unique_ptr<Module> load(base::ByteSpan image) override;

    /// Gives back what nobody uses. Returns how much of the device's memory that was.
    uint64_t give_back() noexcept;
    /// Returns how much of the device's memory is kept that nobody uses.
    uint64_t idle_bytes() const;

  private:
    friend class DeviceLease;

    // A piece of memory of the device (an address) or of pinned memory.
    struct Piece {
        uint64_t place = 0;
        uint64_t bytes = 0;
    };
    // Pieces of one kind that nobody uses; the last that came back is the last.
    struct Shelf {
        std::list<Piece> pieces;
        uint64_t bytes = 0;
    };
    using Pieces = std::list<Piece>;

    template <typename Make>
    auto with_room(const Make& make) -> decltype(make());
    Pieces take(Shelf& shelf, uint64_t bytes);
    static Pieces put(Shelf& shelf, Pieces pieces, uint64_t most);
    Pieces lend(uint64_t bytes);
    Pieces lend_pinned(uint64_t bytes);
    std::unique_ptr<Stream> lend_stream();
    void take_back(Pieces memory, Pieces pinned, std::unique_ptr<Stream> stream) noexcept;
    void release_all(const Pieces& memory, const Pieces& pinned) noexcept;

    Device& device_;
    const Options options_;
    mutable std::mutex mutex_;
    Shelf memory_;
    Shelf pinned_;
    std::vector<std::unique_ptr<Stream>> streams_;
};

/// A stream, and memory for what it does, of a pool or for this lease alone. For one thread. At its
/// end it waits until the stream has finished: only then may others have the memory. What a stream
/// has used that cannot finish is not lent again.
class DeviceLease {
  public:
    /// `pool` is a pool of `device`, or null: nothing is kept then.
    DeviceLease(Device& device, DevicePool* pool);
    DeviceLease(const DeviceLease&) = delete;
    DeviceLease& operator=(const DeviceLease&) = delete;
    ~DeviceLease();

    struct Memory {
        DeviceAddress address = 0;
        uint64_t bytes = 0;  ///< that may be used: those asked for at least
    };

    Stream& stream() { return *stream_; }
    /// Returns memory that is the caller's as long as this is, or until drop(); not cleared.
    Memory memory(uint64_t bytes);
    /// Returns pinned memory that is the caller's as long as this is.
    uint8_t* pinned(uint64_t bytes);
    /// Gives memory back early. Nothing on the stream may still use it.
    void drop(DeviceAddress address) noexcept;

  private:
    Device& device_;
    DevicePool* pool_;
    std::unique_ptr<Stream> stream_;
    DevicePool::Pieces memory_;
    DevicePool::Pieces pinned_;
};

}  // namespace loom::gpu
