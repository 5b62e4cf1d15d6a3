#pragma once
// Memory mappings of files that survive truncation.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace loom::io {

/// A read-only shared mapping of a file. If somebody truncates the file, touching a lost page would
/// raise SIGBUS and kill the process; a handler installed with the first mapping puts a page of
/// zeros there instead and marks the region as damaged. Signals that belong to no region go to the
/// handler that was there before. Works in any thread. At most kMaxRegions exist at once.
class MappedRegion {
  public:
    static constexpr int kMaxRegions = 4096;

    MappedRegion() noexcept = default;
    MappedRegion(const MappedRegion&) = delete;
    MappedRegion& operator=(const MappedRegion&) = delete;
    ~MappedRegion() { unmap(); }

    /// Maps `size` bytes of `descriptor`. Returns false if the system refuses or no slot is free.
    bool map(int descriptor, size_t size) noexcept;
    void unmap() noexcept;

    const uint8_t* data() const noexcept { return data_; }
    size_t size() const noexcept { return size_; }
    /// Returns whether a lost page was touched since the mapping was made.
    bool damaged() const noexcept;

  private:
    const uint8_t* data_ = nullptr;
    size_t size_ = 0;
    int slot_ = -1;
};

}  // namespace loom::io
