#include "format/parquet/thrift/compact_reader.h"

#include <bit>
#include <limits>

namespace loom::parquet::thrift {

namespace {

// Each skip_* starts at `from` <= end (so loads of kSlack bytes are fine) and may return a position
// past the end, which the caller finds out before its next load.

// One branch a byte on purpose: the lengths of a field's values repeat from chunk to chunk, so that
// prediction runs ahead of the loads, which a computed length would wait for (half the time).
const uint8_t* skip_varint(const uint8_t* from) noexcept {
    for (int i = 0; i < 9; ++i)
        if (*from++ < 0x80) return from;
    return from + 1;
}

// Decodes a varint of at most 5 bytes that counts something; anything longer is beyond any buffer.
const uint8_t* read_count(const uint8_t* from, uint64_t& count) noexcept {
    count = *from & 0x7F;
    for (int shift = 7; *from++ >= 0x80; shift += 7) {
        if (shift > 28) {
            count = std::numeric_limits<uint64_t>::max();
            return from;
        }
        count |= static_cast<uint64_t>(*from & 0x7F) << shift;
    }
    return from;
}

const uint8_t* skip_binary(const uint8_t* from, const uint8_t* end) noexcept {
    uint64_t size;
    from = read_count(from, size);
    if (from > end || size > static_cast<uint64_t>(end - from)) return nullptr;
    return from + size;
}

const uint8_t* skip_value(Type type, const uint8_t* from, const uint8_t* end, int depth) noexcept;

const uint8_t* skip_list(const uint8_t* from, const uint8_t* end, int depth) noexcept {
    const uint8_t header = *from++;
    const auto element = static_cast<Type>(header & 15);
    uint64_t size = header >> 4;
    if (size == 15) from = read_count(from, size);
    if (from > end || size > static_cast<uint64_t>(end - from)) return nullptr;
    if (element <= Type::kByte) return from + size;  // booleans take a byte in a list
    for (uint64_t i = 0; i < size; ++i) {
        from = skip_value(element, from, end, depth);
        if (from == nullptr || from > end) return nullptr;
    }
    return from;
}

const uint8_t* skip_map(const uint8_t* from, const uint8_t* end, int depth) noexcept {
    uint64_t size;
    from = read_count(from, size);
    if (size == 0) return from;
    if (from >= end || size > static_cast<uint64_t>(end - from)) return nullptr;
    const uint8_t types = *from++;
    for (uint64_t i = 0; i < size * 2; ++i) {
        auto type = static_cast<Type>((i & 1) == 0 ? types >> 4 : types & 15);
        if (type <= Type::kFalse) type = Type::kByte;
        from = skip_value(type, from, end, depth);
        if (from == nullptr || from > end) return nullptr;
    }
    return from;
}

const uint8_t* skip_value(Type type, const uint8_t* from, const uint8_t* end, int depth) noexcept {
    switch (type) {
        case Type::kTrue:
        case Type::kFalse: return from;
        case Type::kByte: return from + 1;
        case Type::kI16:
        case Type::kI32:
        case Type::kI64: return skip_varint(from);
        case Type::kDouble: return from + 8;
        case Type::kBinary: return skip_binary(from, end);
        case Type::kList:
        case Type::kSet: return depth >= kMaxDepth ? nullptr : skip_list(from, end, depth + 1);
        case Type::kMap: return depth >= kMaxDepth ? nullptr : skip_map(from, end, depth + 1);
        case Type::kStruct: return skip_struct(from, end, depth + 1);
        case Type::kStop: break;
    }
    return nullptr;
}

}  // namespace

const uint8_t* skip_struct(const uint8_t* from, const uint8_t* end, int depth) noexcept {
    if (depth > kMaxDepth) return nullptr;
    while (from < end) {
        const uint8_t header = *from++;
        if (header == 0) return from;
        if ((header & 0xF0) == 0) from = skip_varint(from);
        const auto type = static_cast<Type>(header & 15);
        if (type >= Type::kI16 && type <= Type::kI64) [[likely]] {
            from = skip_varint(from);
            continue;
        }
        if (from > end) return nullptr;
        from = skip_value(type, from, end, depth);
        if (from == nullptr) return nullptr;
    }
    return nullptr;
}

bool CompactReader::next_field(int& id, Type& type) {
    if (cursor_ >= end_) base::corrupt("metadata end within a struct");
    const uint8_t header = *cursor_++;
    if (header == 0) return false;
    type = static_cast<Type>(header & 15);
    if ((header & 0xF0) != 0) {
        id += header >> 4;
    } else {
        const int64_t value = zigzag();
        if (value < std::numeric_limits<int16_t>::min() ||
            value > std::numeric_limits<int16_t>::max())
            base::corrupt("metadata have a field number {}", value);
        id = static_cast<int>(value);
    }
    return true;
}

uint64_t CompactReader::varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (cursor_ >= end_) base::corrupt("metadata end within a number");
        const uint8_t byte = *cursor_++;
        value |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    base::corrupt("metadata have a number of more than 64 bits");
}

ListHeader CompactReader::list() {
    if (cursor_ >= end_) base::corrupt("metadata end before a list");
    const uint8_t header = *cursor_++;
    const uint64_t size = (header >> 4) == 15 ? varint() : header >> 4;
    if (size > remaining())
        base::corrupt("metadata list of {} elements in {} bytes", size, remaining());
    return {static_cast<Type>(header & 15), static_cast<uint32_t>(size)};
}

base::ByteSpan CompactReader::binary() {
    const uint64_t size = varint();
    if (size > remaining())
        base::corrupt("metadata text of {} bytes in {} bytes", size, remaining());
    base::ByteSpan bytes(cursor_, size);
    cursor_ += size;
    return bytes;
}

bool CompactReader::list_boolean() {
    if (cursor_ >= end_) base::corrupt("metadata end within a list");
    return *cursor_++ == 1;
}

void CompactReader::advance(size_t bytes) {
    if (bytes > remaining()) base::corrupt("metadata end too early");
    cursor_ += bytes;
}

void CompactReader::skip(Type type) {
    if (type <= Type::kFalse && type != Type::kStop) return;
    if (cursor_ >= end_) base::corrupt("metadata end before a value");
    const uint8_t* next = skip_value(type, cursor_, end_, depth_);
    if (next == nullptr || next > end_) base::corrupt("metadata end within a value");
    cursor_ = next;
}

bool CompactReader::get(Type type, bool& out) noexcept {
    if (type != Type::kTrue && type != Type::kFalse) return false;
    out = type == Type::kTrue;
    return true;
}

bool CompactReader::get(Type type, int32_t& out) {
    int64_t value;
    if (!get(type, value)) return false;
    if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max())
        base::corrupt("metadata have {} where a 32-bit number belongs", value);
    out = static_cast<int32_t>(value);
    return true;
}

bool CompactReader::get(Type type, int64_t& out) {
    if (type == Type::kByte) {
        if (cursor_ >= end_) base::corrupt("metadata end within a number");
        out = static_cast<int8_t>(*cursor_++);
        return true;
    }
    if (type < Type::kI16 || type > Type::kI64) return false;
    out = zigzag();
    return true;
}

bool CompactReader::get(Type type, std::string& out) {
    base::ByteSpan bytes;
    if (!get(type, bytes)) return false;
    out = base::as_text(bytes);
    return true;
}

bool CompactReader::get(Type type, base::ByteSpan& out) {
    if (type != Type::kBinary) return false;
    out = binary();
    return true;
}

}  // namespace loom::parquet::thrift
