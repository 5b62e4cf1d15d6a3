#include "format/arrow/source.h"

#include <cstring>

namespace loom::arrow {

namespace {
bool aligned(const uint8_t* data, size_t alignment) {
    return (reinterpret_cast<uintptr_t>(data) & (alignment - 1)) == 0;
}
}  // namespace

Bytes no_bytes() noexcept {
    alignas(64) static constexpr uint8_t kZeros[base::kBufferSlack] = {};
    Bytes bytes;
    bytes.data = kZeros;
    return bytes;
}

Bytes copy_bytes(base::ByteSpan from, base::MemoryBudget* budget) {
    Bytes bytes;
    bytes.owned = base::Buffer(budget);
    bytes.owned.resize_discarding(from.size());
    if (!from.empty()) std::memcpy(bytes.owned.data(), from.data(), from.size());
    bytes.data = bytes.owned.data();
    bytes.size = from.size();
    return bytes;
}

Source::Source(std::shared_ptr<io::File> file, base::MemoryBudget* budget)
    : file_(std::move(file)), budget_(budget), map_(file_->map()) {}

base::ByteSpan Source::mapped(uint64_t offset, uint64_t length) const {
    if (offset > size() || length > size() - offset)
        base::corrupt("{} bytes at offset {} lie outside the file's {} bytes", length, offset,
                      size());
    if (map_.size() < offset || map_.size() - offset < length) return {};
    return map_.subspan(offset, length);
}

Bytes Source::read(uint64_t offset, uint64_t length) const {
    Bytes bytes;
    bytes.owned = base::Buffer(budget_);
    bytes.owned.resize_discarding(length);
    file_->read_at(offset, {bytes.owned.data(), static_cast<size_t>(length)});
    bytes.data = bytes.owned.data();
    bytes.size = length;
    return bytes;
}

Bytes Source::metadata(uint64_t offset, uint64_t length) const {
    base::ByteSpan span = mapped(offset, length);
    if (span.data() == nullptr) return read(offset, length);
    if (!aligned(span.data(), 8)) return copy_bytes(span, budget_);
    Bytes bytes;
    bytes.data = span.data();
    bytes.size = span.size();
    return bytes;
}

Bytes Source::metadata_copy(uint64_t offset, uint64_t length) const {
    base::ByteSpan span = mapped(offset, length);
    return span.data() == nullptr ? read(offset, length) : copy_bytes(span, budget_);
}

Bytes Source::values(uint64_t offset, uint64_t length, size_t alignment) const {
    base::ByteSpan span = mapped(offset, length);
    if (span.data() == nullptr) return read(offset, length);
    file_->count_mapped(length);
    const bool slack = map_.size() - offset - length >= base::kBufferSlack;
    if (!slack || !aligned(span.data(), alignment)) return copy_bytes(span, budget_);
    Bytes bytes;
    bytes.data = span.data();
    bytes.size = span.size();
    return bytes;
}

Bytes Source::raw(uint64_t offset, uint64_t length) const {
    base::ByteSpan span = mapped(offset, length);
    if (span.data() == nullptr) return read(offset, length);
    file_->count_mapped(length);
    Bytes bytes;
    bytes.data = span.data();
    bytes.size = span.size();
    return bytes;
}

}  // namespace loom::arrow
