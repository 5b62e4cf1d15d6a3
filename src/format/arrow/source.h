#pragma once
// Where bytes of an Arrow file come from: the mapping if there is one, else positioned reads.

#include <memory>

#include "base/buffer.h"
#include "base/bytes.h"
#include "io/file.h"

namespace loom::arrow {

/// Bytes that are borrowed from a mapping or owned. Move-only; a borrower's file must outlive it.
struct Bytes {
    const uint8_t* data = nullptr;
    uint64_t size = 0;
    base::Buffer owned;

    base::ByteSpan span() const noexcept { return {data, size}; }
    template <typename T>
    const T* as() const noexcept {
        return reinterpret_cast<const T*>(data);
    }
};

/// Gives out ranges of one file. Thread safe.
class Source {
  public:
    Source(std::shared_ptr<io::File> file, base::MemoryBudget* budget);

    io::File& file() const noexcept { return *file_; }
    base::MemoryBudget* budget() const noexcept { return budget_; }
    uint64_t size() const noexcept { return file_->size(); }

    /// Returns the range for metadata: aligned to 8 bytes, not counted, without slack.
    Bytes metadata(uint64_t offset, uint64_t length) const;
    /// Returns an owned copy of the range, aligned, not counted if it comes from the mapping.
    Bytes metadata_copy(uint64_t offset, uint64_t length) const;
    /// Returns the range for values: aligned to `alignment` (a power of two, at most 64), counted
    /// as read, with base::kBufferSlack readable bytes behind it. Copies only where it must.
    Bytes values(uint64_t offset, uint64_t length, size_t alignment) const;
    /// Returns `length` bytes without any promise on alignment or slack; counted.
    Bytes raw(uint64_t offset, uint64_t length) const;
    /// Raises kChanged if a mapped page has vanished since the file was opened.
    void check() const { file_->check_mapping(); }

  private:
    base::ByteSpan mapped(uint64_t offset, uint64_t length) const;
    Bytes read(uint64_t offset, uint64_t length) const;

    std::shared_ptr<io::File> file_;
    base::MemoryBudget* budget_;
    base::ByteSpan map_;
};

/// Returns an empty block that reads as kBufferSlack zero bytes, for buffers that a file leaves
/// out.
Bytes no_bytes() noexcept;

/// Copies `bytes` into owned, aligned memory.
Bytes copy_bytes(base::ByteSpan bytes, base::MemoryBudget* budget);

}  // namespace loom::arrow
