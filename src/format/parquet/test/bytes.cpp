#include "format/parquet/test/bytes.h"

#include <cstring>

namespace loom::parquet::test {

Bytes::Bytes(std::initializer_list<int> bytes) {
    for (const int byte : bytes) put(byte);
}

Bytes& Bytes::put(int byte) {
    bytes_.push_back(static_cast<char>(byte));
    return *this;
}

Bytes& Bytes::text(std::string_view text) {
    bytes_.append(text);
    return *this;
}

Bytes& Bytes::varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) put(static_cast<int>(value & 0x7F) | 0x80);
    return put(static_cast<int>(value));
}

Bytes& Bytes::zigzag(int64_t value) {
    return varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

Bytes& Bytes::packed(const std::vector<uint64_t>& values, int width) {
    const size_t start = bytes_.size();
    const auto bits = static_cast<size_t>(width);
    bytes_.resize(start + (values.size() * bits + 7) / 8);
    for (size_t i = 0; i < values.size(); ++i)
        for (size_t b = 0; b < bits; ++b) {
            const size_t at = i * bits + b;
            if ((values[i] >> b & 1) != 0)
                bytes_[start + at / 8] = static_cast<char>(bytes_[start + at / 8] | 1 << at % 8);
        }
    return *this;
}

base::ByteSpan Bytes::span() {
    buffer_.resize_discarding(bytes_.size());
    if (!bytes_.empty()) std::memcpy(buffer_.data(), bytes_.data(), bytes_.size());
    return buffer_.span();
}

}  // namespace loom::parquet::test
