#pragma once
// Large blocks of memory on huge pages, shared by all threads of the process.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace loom::base {

/// Hands out blocks of whole pages. A fresh page of 4 KB costs a fault of a quarter of a
/// microsecond, on some virtual machines of more than ten; so memory is mapped in regions of huge
/// pages, and what was freed serves who comes next. Thread safe.
class PageHeap {
  public:
    /// For smaller blocks malloc() does.
    static constexpr uint64_t kMinBytes = 8192;

    /// Returns the heap of the process.
    static PageHeap& instance();

    PageHeap();
    ~PageHeap();
    PageHeap(const PageHeap&) = delete;
    PageHeap& operator=(const PageHeap&) = delete;

    /// Returns a 64-byte aligned block with unspecified contents, or null if the system has none.
    uint8_t* allocate(uint64_t bytes) noexcept;
    /// Takes back a block of `bytes`, as they were asked for.
    void free(uint8_t* block, uint64_t bytes) noexcept;
    /// Lets the system take unused memory when it needs some; until then it serves later blocks
    /// without faults. Unmaps what is unused beyond `keep` bytes.
    void trim(uint64_t keep) noexcept;

    uint64_t used_bytes() const noexcept;    ///< of blocks
    uint64_t mapped_bytes() const noexcept;  ///< of address space

  private:
    class Region;

    uint8_t* allocate_pages(uint64_t pages);
    uint8_t* allocate_large(uint64_t bytes);

    mutable std::mutex mutex_;
    std::map<const uint8_t*, std::unique_ptr<Region>> regions_;  ///< by where they begin
    std::multimap<uint64_t, uint8_t*> large_;                    ///< unused ones, by bytes
    uint64_t used_ = 0;
    uint64_t mapped_ = 0;
    uint64_t colour_ = 0;
};

}  // namespace loom::base
