#pragma once
// Physical values of a leaf in a row: fixed width, or bytes with offsets.

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"
#include "column/column_view.h"

namespace loom::parquet::write {

/// Appends and hands out physical values. `width` 0 means variable length.
class ValueStore {
  public:
    explicit ValueStore(int32_t width) : width_(width) {}

    int32_t width() const noexcept { return width_; }
    int64_t size() const noexcept { return size_; }
    /// Returns the bytes of all values, without any length prefixes.
    int64_t byte_size() const noexcept { return static_cast<int64_t>(used_); }

    void clear() {
        used_ = 0;
        ends_.clear();
        size_ = 0;
    }
    /// Appends `count` values of width() bytes each.
    void append_fixed(const void* values, int64_t count) {
        if (count == 0) return;
        std::memcpy(grow(count * width_), values, count * width_);
        size_ += count;
    }
    void append_bytes(base::ByteSpan value) {
        uint8_t* to = grow(value.size());
        if (!value.empty()) std::memcpy(to, value.data(), value.size());
        if (width_ == 0) ends_.push_back(used_);
        ++size_;
    }
    void append_many(const column::BytesView* values, int64_t count);
    /// Appends entries[codes[i]] for each code; the widths must be equal.
    void append_decoded(const ValueStore& entries, std::span<const uint32_t> codes);

    const uint8_t* fixed(int64_t index) const noexcept { return bytes_.data() + index * width_; }
    base::ByteSpan bytes(int64_t index) const noexcept {
        if (width_ != 0) return {fixed(index), static_cast<size_t>(width_)};
        const uint64_t begin = start(index);
        return {bytes_.data() + begin, ends_[index] - begin};
    }
    /// Returns the bytes of values [begin, end).
    base::ByteSpan range(int64_t begin, int64_t end) const noexcept {
        const uint64_t from = start(begin);
        return {bytes_.data() + from, start(end) - from};
    }

  private:
    /// Makes room for `bytes` more and returns where they go.
    uint8_t* grow(size_t bytes) {
        if (used_ + bytes > bytes_.size())
            bytes_.resize(std::max<size_t>(used_ + bytes, 2 * used_));
        uint8_t* to = bytes_.data() + used_;
        used_ += bytes;
        return to;
    }
    uint64_t start(int64_t index) const noexcept {
        if (width_ != 0) return static_cast<uint64_t>(index) * width_;
        return index == 0 ? 0 : ends_[index - 1];
    }

    int32_t width_;
    int64_t size_ = 0;
    base::Buffer bytes_;  // used_ of them hold values
    size_t used_ = 0;
    std::vector<uint64_t> ends_;  // of variable-length values
};

}  // namespace loom::parquet::write
