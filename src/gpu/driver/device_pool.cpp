#include "gpu/driver/device_pool.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace loom::gpu {

namespace {

constexpr uint64_t kSmallest = uint64_t{1} << 16;

// Sizes of pieces that are lent again: powers of two, and seven between each two of them, so that
// at most an eighth of a piece is of no use.
uint64_t size_class(uint64_t bytes) {
    if (bytes <= kSmallest) return kSmallest;
    const uint64_t step = std::bit_floor(bytes - 1) / 8;
    return bytes > UINT64_MAX - step ? bytes : (bytes + step - 1) / step * step;
}

void* pinned_at(uint64_t place) {
    return reinterpret_cast<void*>(place);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

DevicePool::DevicePool(Device& device, const Options& options)
    : device_(device), options_(options) {}

DevicePool::~DevicePool() {
    give_back();
}

template <typename Make>
auto DevicePool::with_room(const Make& make) -> decltype(make()) {
    try {
        return make();
    } catch (const DeviceError& error) {
        if (error.kind() != DeviceError::Kind::kMemory) throw;
    }
    give_back();
    return make();
}

DeviceAddress DevicePool::allocate(uint64_t bytes) {
    return with_room([&] { return device_.allocate(bytes); });
}

void* DevicePool::pin(uint64_t bytes) {
    return with_room([&] { return device_.pin(bytes); });
}

std::unique_ptr<Stream> DevicePool::make_stream() {
    return with_room([&] { return device_.make_stream(); });
}

std::unique_ptr<Module> DevicePool::load(base::ByteSpan image) {
    return with_room([&] { return device_.load(image); });
}

uint64_t DevicePool::give_back() noexcept {
    Shelf memory;
    Shelf pinned;
    std::vector<std::unique_ptr<Stream>> streams;
    {
        const std::scoped_lock lock(mutex_);
        std::swap(memory, memory_);
        std::swap(pinned, pinned_);
        std::swap(streams, streams_);
    }
    release_all(memory.pieces, pinned.pieces);
    return memory.bytes;
}

void DevicePool::release_all(const Pieces& memory, const Pieces& pinned) noexcept {
    for (const Piece& piece : memory) device_.release(piece.place);
    for (const Piece& piece : pinned) device_.unpin(pinned_at(piece.place));
}

uint64_t DevicePool::idle_bytes() const {
    const std::scoped_lock lock(mutex_);
    return memory_.bytes;
}

// Takes a piece of that size off the shelf, as a list of its own; of none if there is none.
DevicePool::Pieces DevicePool::take(Shelf& shelf, uint64_t bytes) {
    Pieces taken;
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(shelf.pieces.rbegin(), shelf.pieces.rend(),
                                    [&](const Piece& piece) { return piece.bytes == bytes; });
    if (found == shelf.pieces.rend()) return taken;
    taken.splice(taken.begin(), shelf.pieces, std::prev(found.base()));
    shelf.bytes -= bytes;
    return taken;
}

// Puts pieces on the shelf and returns those that are too many: the oldest. With the mutex held.
DevicePool::Pieces DevicePool::put(Shelf& shelf, Pieces pieces, uint64_t most) {
    for (const Piece& piece : pieces) shelf.bytes += piece.bytes;
    shelf.pieces.splice(shelf.pieces.end(), pieces);
    Pieces too_many;
    while (shelf.bytes > most) {
        shelf.bytes -= shelf.pieces.front().bytes;
        too_many.splice(too_many.end(), shelf.pieces, shelf.pieces.begin());
    }
    return too_many;
}

// The list is made before what it is to hold, which so is never lost.
DevicePool::Pieces DevicePool::lend(uint64_t bytes) {
    Pieces lent = take(memory_, bytes);
    if (lent.empty()) {
        lent.push_back({0, bytes});
        lent.front().place = allocate(bytes);
    } else {
        device_.spoil(lent.front().place, bytes);
    }
    return lent;
}

DevicePool::Pieces DevicePool::lend_pinned(uint64_t bytes) {
    Pieces lent = take(pinned_, bytes);
    if (lent.empty()) {
        lent.push_back({0, bytes});
        lent.front().place = reinterpret_cast<uint64_t>(pin(bytes));
    }
    return lent;
}

std::unique_ptr<Stream> DevicePool::lend_stream() {
    {
        const std::scoped_lock lock(mutex_);
        if (!streams_.empty()) {
            std::unique_ptr<Stream> stream = std::move(streams_.back());
            streams_.pop_back();
            return stream;
        }
    }
    return make_stream();
}

void DevicePool::take_back(Pieces memory, Pieces pinned, std::unique_ptr<Stream> stream) noexcept {
    if (stream != nullptr) stream->forget_marks();
    {
        const std::scoped_lock lock(mutex_);
        memory = put(memory_, std::move(memory), options_.idle_bytes);
        pinned = put(pinned_, std::move(pinned), options_.pinned_bytes);
        if (stream != nullptr && streams_.size() < options_.streams)
            streams_.push_back(std::move(stream));
    }
    release_all(memory, pinned);
}

DeviceLease::DeviceLease(Device& device, DevicePool* pool)
    : device_(device),
      pool_(pool),
      stream_(pool != nullptr ? pool->lend_stream() : device.make_stream()) {}

DeviceLease::~DeviceLease() {
    bool finished = false;
    try {
        stream_->wait();
        finished = true;
    } catch (...) {
        // What has failed on it was said to those who asked, or nobody asks any more.
    }
    if (pool_ != nullptr && finished) {
        pool_->take_back(std::move(memory_), std::move(pinned_), std::move(stream_));
    } else {
        for (const auto& piece : memory_) device_.release(piece.place);
        for (const auto& piece : pinned_) device_.unpin(pinned_at(piece.place));
    }
}

DeviceLease::Memory DeviceLease::memory(uint64_t bytes) {
    if (pool_ != nullptr) {
        memory_.splice(memory_.begin(), pool_->lend(size_class(bytes)));
    } else {
        memory_.push_front({0, bytes});
        memory_.front().place = device_.allocate(bytes);
    }
    return {memory_.front().place, memory_.front().bytes};
}

uint8_t* DeviceLease::pinned(uint64_t bytes) {
    if (pool_ != nullptr) {
        pinned_.splice(pinned_.begin(), pool_->lend_pinned(size_class(bytes)));
    } else {
        pinned_.push_front({0, bytes});
        pinned_.front().place = reinterpret_cast<uint64_t>(device_.pin(bytes));
    }
    return static_cast<uint8_t*>(pinned_at(pinned_.front().place));
}

void DeviceLease::drop(DeviceAddress address) noexcept {
    const auto found = std::find_if(memory_.begin(), memory_.end(),
                                    [&](const auto& piece) { return piece.place == address; });
    if (found == memory_.end()) return;
    DevicePool::Pieces dropped;
    dropped.splice(dropped.begin(), memory_, found);
    if (pool_ != nullptr)
        pool_->take_back(std::move(dropped), {}, nullptr);
    else
        device_.release(address);
}

}  // namespace loom::gpu
