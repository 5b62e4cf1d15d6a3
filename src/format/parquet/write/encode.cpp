#include "format/parquet/write/encode.h"

#include <algorithm>
#include <vector>

#include "format/parquet/write/rle.h"

namespace loom::parquet::write {

namespace {

void append_raw(base::ByteSpan bytes, std::string& out) {
    out.append(base::as_text(bytes));
}

void append_plain(const Leaf& leaf, const ValueStore& values, int64_t begin, int64_t end,
                  std::string& out) {
    if (leaf.physical == PhysicalType::kBoolean)
        return append_packed(values.fixed(begin), end - begin, 1, out);
    if (leaf.width != 0) return append_raw(values.range(begin, end), out);
    size_t at = out.size();
    out.resize(at + values.range(begin, end).size() + 4 * (end - begin));
    for (int64_t i = begin; i < end; ++i) {
        const base::ByteSpan value = values.bytes(i);
        base::store(out.data() + at, static_cast<uint32_t>(value.size()));
        if (!value.empty()) std::memcpy(out.data() + at + 4, value.data(), value.size());
        at += 4 + value.size();
    }
}

void append_delta_lengths(const ValueStore& values, int64_t begin, int64_t end, std::string& out) {
    std::vector<int32_t> lengths;
    lengths.reserve(end - begin);
    for (int64_t i = begin; i < end; ++i)
        lengths.push_back(static_cast<int32_t>(values.bytes(i).size()));
    append_deltas(lengths.data(), end - begin, out);
    append_raw(values.range(begin, end), out);
}

// DELTA_BYTE_ARRAY: how many bytes each value shares with the one before, then the rest of each.
void append_delta_strings(const ValueStore& values, int64_t begin, int64_t end, std::string& out) {
    std::vector<int32_t> prefixes;
    ValueStore suffixes(0);
    base::ByteSpan last;
    for (int64_t i = begin; i < end; ++i) {
        const base::ByteSpan value = values.bytes(i);
        const size_t limit = std::min(last.size(), value.size());
        const size_t shared =
            std::mismatch(value.begin(), value.begin() + limit, last.begin()).first - value.begin();
        prefixes.push_back(static_cast<int32_t>(shared));
        suffixes.append_bytes(value.subspan(shared));
        last = value;
    }
    append_deltas(prefixes.data(), end - begin, out);
    append_delta_lengths(suffixes, 0, suffixes.size(), out);
}

void append_split(const ValueStore& values, int64_t begin, int64_t end, std::string& out) {
    const int64_t count = end - begin;
    const int32_t width = values.width();
    const size_t old = out.size();
    out.resize(old + count * width);
    const uint8_t* from = values.fixed(begin);
    for (int32_t byte = 0; byte < width; ++byte) {
        char* stream = out.data() + old + byte * count;
        for (int64_t i = 0; i < count; ++i) stream[i] = static_cast<char>(from[i * width + byte]);
    }
}

void append_rle_booleans(const ValueStore& values, int64_t begin, int64_t end, std::string& out) {
    const size_t old = out.size();
    out.resize(old + 4);
    append_rle(std::span<const uint8_t>(values.range(begin, end)), 1, out);
    base::store(out.data() + old, static_cast<uint32_t>(out.size() - old - 4));
}

template <typename T>
void append_zigzag(T value, std::string& out) {
    const auto wide = static_cast<int64_t>(value);
    append_varint(static_cast<uint64_t>(wide) << 1 ^ static_cast<uint64_t>(wide >> 63), out);
}

constexpr int64_t kBlock = 128;
constexpr int64_t kMiniBlock = 32;

// Packs 32 values of up to 64 bits.
template <typename U>
void append_mini_block(const U* values, int bit_width, std::string& out) {
    unsigned __int128 bits = 0;
    int filled = 0;
    for (int64_t i = 0; i < kMiniBlock; ++i) {
        bits |= static_cast<unsigned __int128>(values[i]) << filled;
        filled += bit_width;
        for (; filled >= 8; filled -= 8, bits >>= 8) out.push_back(static_cast<char>(bits));
    }
}

// Writes a block of `count` deltas; `deltas` is overwritten.
template <typename T>
void append_block(std::make_unsigned_t<T>* deltas, int64_t count, std::string& out) {
    using U = std::make_unsigned_t<T>;
    T smallest = static_cast<T>(deltas[0]);
    for (int64_t i = 1; i < count; ++i) smallest = std::min(smallest, static_cast<T>(deltas[i]));
    for (int64_t i = 0; i < count; ++i) deltas[i] -= static_cast<U>(smallest);
    std::fill(deltas + count, deltas + kBlock, U{0});
    append_zigzag(smallest, out);
    int widths[kBlock / kMiniBlock];
    for (int64_t mini = 0; mini < kBlock / kMiniBlock; ++mini) {
        const U* values = deltas + mini * kMiniBlock;
        U all = 0;
        for (int64_t i = 0; i < kMiniBlock; ++i) all |= values[i];
        widths[mini] = static_cast<int>(std::bit_width(all));
        out.push_back(static_cast<char>(widths[mini]));
    }
    for (int64_t mini = 0; mini * kMiniBlock < count; ++mini)
        append_mini_block(deltas + mini * kMiniBlock, widths[mini], out);
}

}  // namespace

template <typename T>
void append_deltas(const T* values, int64_t count, std::string& out) {
    using U = std::make_unsigned_t<T>;
    append_varint(kBlock, out);
    append_varint(kBlock / kMiniBlock, out);
    append_varint(static_cast<uint64_t>(count), out);
    append_zigzag(count == 0 ? T{0} : values[0], out);
    U deltas[kBlock];
    for (int64_t at = 1; at < count; at += kBlock) {
        const int64_t block = std::min(kBlock, count - at);
        for (int64_t i = 0; i < block; ++i)
            deltas[i] = static_cast<U>(values[at + i]) - static_cast<U>(values[at + i - 1]);
        append_block<T>(deltas, block, out);
    }
}

template void append_deltas<int32_t>(const int32_t*, int64_t, std::string&);
template void append_deltas<int64_t>(const int64_t*, int64_t, std::string&);

bool allows(const Leaf& leaf, Encoding encoding) noexcept {
    switch (encoding) {
        case Encoding::kPlain:
            return true;
        case Encoding::kRle:
            return leaf.physical == PhysicalType::kBoolean;
        case Encoding::kDeltaBinaryPacked:
            return leaf.physical == PhysicalType::kInt32 || leaf.physical == PhysicalType::kInt64;
        case Encoding::kDeltaLengthByteArray:
            return leaf.physical == PhysicalType::kByteArray;
        case Encoding::kDeltaByteArray:
            return leaf.physical == PhysicalType::kByteArray ||
                   leaf.physical == PhysicalType::kFixed;
        case Encoding::kByteStreamSplit:
            return leaf.width != 0 && leaf.physical != PhysicalType::kBoolean;
        case Encoding::kRleDictionary:
            return leaf.physical != PhysicalType::kBoolean;
    }
    return false;
}

void append_values(const Leaf& leaf, Encoding encoding, const ValueStore& values, int64_t begin,
                   int64_t end, std::string& out) {
    switch (encoding) {
        case Encoding::kRle:
            return append_rle_booleans(values, begin, end, out);
        case Encoding::kDeltaBinaryPacked:
            if (leaf.width == 4)
                return append_deltas(reinterpret_cast<const int32_t*>(values.fixed(begin)),
                                     end - begin, out);
            return append_deltas(reinterpret_cast<const int64_t*>(values.fixed(begin)), end - begin,
                                 out);
        case Encoding::kDeltaLengthByteArray:
            return append_delta_lengths(values, begin, end, out);
        case Encoding::kDeltaByteArray:
            return append_delta_strings(values, begin, end, out);
        case Encoding::kByteStreamSplit:
            return append_split(values, begin, end, out);
        default:
            return append_plain(leaf, values, begin, end, out);
    }
}

}  // namespace loom::parquet::write
