#pragma once
// Spans of bytes, unaligned little-endian loads, and a reader that checks every step.

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace loom::base {

static_assert(std::endian::native == std::endian::little, "pg_loom runs on little-endian hosts");

using ByteSpan = std::span<const uint8_t>;

/// Loads a T from unaligned memory.
template <typename T>
requires std::is_trivially_copyable_v<T>
inline T load(const void* p) noexcept {
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
}

/// Stores a T into unaligned memory.
template <typename T>
requires std::is_trivially_copyable_v<T>
inline void store(void* p, T value) noexcept {
    std::memcpy(p, &value, sizeof(T));
}

inline std::string_view as_text(ByteSpan bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
inline ByteSpan as_bytes(std::string_view text) noexcept {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

/// Returns `text` with bytes outside printable ASCII as \xNN, cut after 80 characters; for messages
/// about text that may be damaged.
std::string printable(std::string_view text);

/// Returns bytes[offset, offset + length) or raises kCorrupt, naming `what`.
inline ByteSpan checked_slice(ByteSpan bytes, uint64_t offset, uint64_t length,
                              std::string_view what) {
    if (offset > bytes.size() || length > bytes.size() - offset)
        corrupt("{} of {} bytes at offset {} lies outside its {} bytes", what, length, offset,
                bytes.size());
    return bytes.subspan(offset, length);
}

/// Reads forward through untrusted bytes. Each step raises kCorrupt instead of passing the end.
class ByteReader {
  public:
    explicit ByteReader(ByteSpan bytes) noexcept : bytes_(bytes) {}

    size_t position() const noexcept { return position_; }
    size_t remaining() const noexcept { return bytes_.size() - position_; }
    bool at_end() const noexcept { return position_ == bytes_.size(); }
    const uint8_t* cursor() const noexcept { return bytes_.data() + position_; }

    template <typename T>
    T read(std::string_view what) {
        return load<T>(take(sizeof(T), what).data());
    }
    ByteSpan take(uint64_t length, std::string_view what) {
        if (length > remaining())
            corrupt("{} needs {} bytes, {} are left", what, length, remaining());
        ByteSpan slice = bytes_.subspan(position_, length);
        position_ += length;
        return slice;
    }
    void skip(uint64_t length, std::string_view what) { take(length, what); }

  private:
    ByteSpan bytes_;
    size_t position_ = 0;
};

/// Adds two sizes from a file; raises kCorrupt on overflow.
template <std::integral T>
inline T checked_add(T a, T b, std::string_view what) {
    T sum;
    if (__builtin_add_overflow(a, b, &sum)) corrupt("{} overflows", what);
    return sum;
}

/// Multiplies two sizes from a file; raises kCorrupt on overflow.
template <std::integral T>
inline T checked_multiply(T a, T b, std::string_view what) {
    T product;
    if (__builtin_mul_overflow(a, b, &product)) corrupt("{} overflows", what);
    return product;
}

}  // namespace loom::base
