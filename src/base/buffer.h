#pragma once
// Owned, aligned, budgeted memory with slack for vector loads and stores.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"

namespace loom::base {

/// Bytes that may be read or written past the end of any Buffer, so that kernels can work in whole
/// vectors. Contents there are unspecified but initialised.
inline constexpr size_t kBufferSlack = 128;

/// Counts bytes against a limit. Thread safe. A limit of 0 means none. What a budget with a parent
/// takes counts there too; the parent must outlive it.
class MemoryBudget {
  public:
    explicit MemoryBudget(uint64_t limit = 0, MemoryBudget* parent = nullptr) noexcept
        : limit_(limit), parent_(parent) {}
    MemoryBudget(const MemoryBudget&) = delete;
    MemoryBudget& operator=(const MemoryBudget&) = delete;

    /// Takes `bytes`, or raises kMemory and takes nothing.
    void take(uint64_t bytes);
    void give_back(uint64_t bytes) noexcept {
        used_.fetch_sub(bytes, std::memory_order_relaxed);
        if (parent_ != nullptr) parent_->give_back(bytes);
    }

    uint64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
    uint64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
    uint64_t limit() const noexcept { return limit_; }

  private:
    uint64_t limit_;
    MemoryBudget* parent_;
    std::atomic<uint64_t> used_{0};
    std::atomic<uint64_t> peak_{0};
};

/// A 64-byte aligned block that only grows; move-only. Not zeroed on growth, apart from the slack.
class Buffer {
  public:
    Buffer() noexcept = default;
    explicit Buffer(MemoryBudget* budget) noexcept : budget_(budget) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { release(); }

    /// Makes room for `bytes` (plus slack) and sets size(); old contents are kept up to the old
    /// size.
    void resize(uint64_t bytes);
    /// As resize, but old contents need not survive. Use this for scratch space.
    void resize_discarding(uint64_t bytes);
    /// Frees the memory.
    void release() noexcept;

    uint8_t* data() noexcept { return data_; }
    const uint8_t* data() const noexcept { return data_; }
    template <typename T>
    T* as() noexcept {
        return reinterpret_cast<T*>(data_);
    }
    template <typename T>
    const T* as() const noexcept {
        return reinterpret_cast<const T*>(data_);
    }
    size_t size() const noexcept { return size_; }
    std::span<const uint8_t> span() const noexcept { return {data_, size_}; }

  private:
    void swap(Buffer& other) noexcept;
    void allocate(uint64_t bytes, bool keep);

    MemoryBudget* budget_ = nullptr;
    uint8_t* data_ = nullptr;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

}  // namespace loom::base
