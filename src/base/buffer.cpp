#include "base/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <sys/mman.h>

namespace loom::base {

namespace {

// Blocks from this size on ask for huge pages, without which their first use can cost more than
// what is done with them: 64 MB took 240 ms in a virtual machine, and 6 with them.
constexpr uint64_t kHugeBlock = uint64_t{4} << 20;
constexpr uint64_t kHugePage = uint64_t{2} << 20;

uint8_t* allocate_block(uint64_t align, uint64_t bytes) {
    if (bytes < kHugeBlock) return static_cast<uint8_t*>(std::aligned_alloc(align, bytes));
    void* block = nullptr;
    if (posix_memalign(&block, kHugePage, bytes) != 0) return nullptr;
    madvise(block, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // a wish
    return static_cast<uint8_t*>(block);
}

}  // namespace

void MemoryBudget::take(uint64_t bytes) {
    if (parent_ != nullptr) parent_->take(bytes);
    uint64_t now = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (limit_ != 0 && now > limit_) {
        give_back(bytes);
        raise(ErrorKind::kMemory, "{} more bytes would pass the memory limit of {} bytes", bytes,
              limit_);
    }
    uint64_t peak = peak_.load(std::memory_order_relaxed);
    while (now > peak && !peak_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
    }
}

void Buffer::swap(Buffer& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
}

void Buffer::release() noexcept {
    if (data_ == nullptr) return;
    std::free(data_);
    if (budget_ != nullptr) budget_->give_back(capacity_);
    data_ = nullptr;
    size_ = capacity_ = 0;
}

void Buffer::allocate(uint64_t bytes, bool keep) {
    constexpr uint64_t kAlign = 64;
    if (bytes > (uint64_t{1} << 46)) raise(ErrorKind::kLimit, "a buffer of {} bytes", bytes);
    uint64_t capacity = (bytes + kBufferSlack + kAlign - 1) / kAlign * kAlign;
    // Growing step by step must stay linear overall; a first allocation is exact.
    if (capacity_ != 0 && keep) capacity = std::max<uint64_t>(capacity, capacity_ + capacity_ / 2);
    capacity = (capacity + kAlign - 1) / kAlign * kAlign;
    if (budget_ != nullptr) budget_->take(capacity);
    auto* fresh = allocate_block(kAlign, capacity);
    if (fresh == nullptr) {
        if (budget_ != nullptr) budget_->give_back(capacity);
        raise(ErrorKind::kMemory, "out of memory while allocating {} bytes", capacity);
    }
    if (keep && size_ != 0) std::memcpy(fresh, data_, size_);
    release();
    data_ = fresh;
    capacity_ = capacity;
}

void Buffer::resize(uint64_t bytes) {
    size_t old = size_;
    if (bytes + kBufferSlack > capacity_ || bytes > capacity_) {
        allocate(bytes, true);
        size_ = old;
    }
    size_ = bytes;
    std::memset(data_ + size_, 0, kBufferSlack);
}

void Buffer::resize_discarding(uint64_t bytes) {
    if (bytes + kBufferSlack > capacity_ || bytes > capacity_) allocate(bytes, false);
    size_ = bytes;
    std::memset(data_ + size_, 0, kBufferSlack);
}

}  // namespace loom::base
