#pragma once
// Small encoders for tests: bytes with slack, varints, bit packing.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/bytes.h"

namespace loom::parquet::test {

/// Builds bytes; span() has base::kBufferSlack behind it.
class Bytes {
  public:
    Bytes() = default;
    Bytes(std::initializer_list<int> bytes);
    Bytes(const Bytes& other) : bytes_(other.bytes_) {}
    Bytes& operator=(const Bytes&) = delete;

    Bytes& put(int byte);
    Bytes& text(std::string_view text);
    template <typename T>
    Bytes& raw(T value) {
        return text({reinterpret_cast<const char*>(&value), sizeof value});
    }
    Bytes& varint(uint64_t value);
    Bytes& zigzag(int64_t value);
    /// Packs values of `width` bits, least significant bit first, up to a whole byte.
    Bytes& packed(const std::vector<uint64_t>& values, int width);
    Bytes& append(const Bytes& other) { return text(other.bytes_); }

    size_t size() const noexcept { return bytes_.size(); }
    /// Returns a copy with slack, kept as long as this object.
    base::ByteSpan span();

  private:
    std::string bytes_;
    base::Buffer buffer_;
};

}  // namespace loom::parquet::test
