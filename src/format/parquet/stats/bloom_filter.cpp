#include "format/parquet/stats/bloom_filter.h"

#include <algorithm>
#include <cmath>

#include "format/parquet/stats/xxhash64.h"

namespace loom::parquet {

using column::Scalar;
using thrift::CompactReader;
using thrift::Type;

namespace {

constexpr uint64_t kBlockBytes = 32;
constexpr uint64_t kHeaderBytes = 256;  // headers take about 20
constexpr int64_t kMaxFilterBytes = 1 << 30;

struct FilterHeader {
    int32_t bytes = 0;
    int algorithm = 0;    // 1: split block
    int hash = 0;         // 1: xxHash
    int compression = 0;  // 1: none
    uint64_t header_bytes = 0;
};

// Reads a union of empty structs: which branch it is.
bool get_branch(CompactReader& in, Type type, int& branch) {
    if (type != Type::kStruct) return false;
    read_struct(in, [&](int id, Type) {
        branch = id;
        return false;
    });
    return true;
}

FilterHeader read_header(base::ByteSpan bytes) {
    FilterHeader header;
    CompactReader in(bytes);
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, header.bytes);
            case 2:
                return get_branch(in, type, header.algorithm);
            case 3:
                return get_branch(in, type, header.hash);
            case 4:
                return get_branch(in, type, header.compression);
            default:
                return false;
        }
    });
    header.header_bytes = in.position();
    return header;
}

template <typename T>
std::string plain(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string plain_integer(const LeafType& leaf, column::Int128 value) {
    return leaf.physical == PhysicalType::kInt64 ? plain(static_cast<int64_t>(value))
                                                 : plain(static_cast<int32_t>(value));
}

bool fits_physical(const LeafType& leaf, column::Int128 value) noexcept {
    const int bits = leaf.physical == PhysicalType::kInt64 ? 64 : 32;
    const column::Int128 low = leaf.has_signed_order ? -(column::Int128{1} << (bits - 1)) : 0;
    return value >= low && value < low + (column::Int128{1} << bits);
}

// A decimal in fixed bytes, big-endian; empty if it does not fit.
std::string plain_fixed_decimal(const LeafType& leaf, column::Int128 value) {
    std::string bytes(static_cast<size_t>(leaf.type_length), value < 0 ? '\xFF' : '\0');
    column::Int128 rest = value;
    for (size_t i = bytes.size(); i > 0; --i, rest >>= 8)
        bytes[i - 1] = static_cast<char>(static_cast<uint8_t>(rest));
    const bool negative = !bytes.empty() && static_cast<uint8_t>(bytes[0]) >= 0x80;
    return rest == (value < 0 ? -1 : 0) && negative == (value < 0) ? bytes : std::string();
}

// Appends the plain encodings that `value` may have in the column; none if that is not known.
std::vector<std::string> plain_forms(const LeafType& leaf, const Scalar& value) {
    const bool integer = value.kind == Scalar::Kind::kInt;
    switch (leaf.physical) {
        case PhysicalType::kInt32:
        case PhysicalType::kInt64:
            if (!integer || !fits_physical(leaf, value.integer)) return {};
            return {plain_integer(leaf, value.integer)};
        case PhysicalType::kFloat:
            if (value.kind != Scalar::Kind::kFloat || std::isnan(value.number)) return {};
            if (value.number == 0) return {plain(0.0F), plain(-0.0F)};
            if (static_cast<double>(static_cast<float>(value.number)) != value.number) return {};
            return {plain(static_cast<float>(value.number))};
        case PhysicalType::kDouble:
            if (value.kind != Scalar::Kind::kFloat || std::isnan(value.number)) return {};
            if (value.number == 0) return {plain(0.0), plain(-0.0)};
            return {plain(value.number)};
        case PhysicalType::kByteArray:
            if (leaf.conversion != Conversion::kNone || value.kind != Scalar::Kind::kBytes)
                return {};
            return {value.bytes};
        case PhysicalType::kFixedLenByteArray:
            if (leaf.conversion == Conversion::kBytesToDecimal && integer) {
                std::string bytes = plain_fixed_decimal(leaf, value.integer);
                if (bytes.empty()) return {};
                return {std::move(bytes)};
            }
            if (leaf.conversion != Conversion::kNone || value.kind != Scalar::Kind::kBytes ||
                value.bytes.size() != static_cast<size_t>(leaf.type_length))
                return {};
            return {value.bytes};
        default:
            break;
    }
    return {};
}

// Returns where the blocks of a usable filter begin and how many there are (0: none).
uint64_t find_blocks(const FileState& file, const ColumnChunk& chunk, uint64_t& begin) {
    const uint64_t end = file.footer.data_end();
    if (chunk.bloom_filter_offset <= 0 || static_cast<uint64_t>(chunk.bloom_filter_offset) >= end)
        return 0;
    const auto offset = static_cast<uint64_t>(chunk.bloom_filter_offset);
    base::Buffer buffer(file.options.budget);
    buffer.resize_discarding(std::min(kHeaderBytes, end - offset));
    file.file->read_at(offset, {buffer.data(), buffer.size()});
    FilterHeader header;
    try {
        header = read_header(buffer.span());
    } catch (const base::Error& error) {
        if (error.kind() != base::ErrorKind::kCorrupt) throw;
        return 0;
    }
    if (header.algorithm != 1 || header.hash != 1 || header.compression != 1 || header.bytes <= 0 ||
        header.bytes > kMaxFilterBytes || header.bytes % kBlockBytes != 0)
        return 0;
    begin = offset + header.header_bytes;
    const auto bytes = static_cast<uint64_t>(header.bytes);
    if (begin > end || bytes > end - begin) return 0;
    if (chunk.bloom_filter_length > 0 &&
        static_cast<uint64_t>(chunk.bloom_filter_length) != header.header_bytes + bytes)
        return 0;
    return bytes / kBlockBytes;
}

}  // namespace

bool block_may_contain(const uint8_t* block, uint64_t hash) noexcept {
    static constexpr uint32_t kSalt[8] = {0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU,
                                          0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};
    const auto key = static_cast<uint32_t>(hash);
    for (size_t i = 0; i < 8; ++i) {
        const uint32_t bit = key * kSalt[i] >> 27;
        if ((base::load<uint32_t>(block + 4 * i) >> bit & 1) == 0) return false;
    }
    return true;
}

bool bloom_filter_may_contain(const FileState& file, int64_t row_group, int leaf_index,
                              const Scalar& value) {
    const Leaf& leaf = file.footer.schema().leaves[static_cast<size_t>(leaf_index)];
    const ColumnChunk chunk = file.footer.chunk(row_group, leaf_index);
    if (chunk.bloom_filter_offset <= 0 || chunk.encrypted) return true;
    const std::vector<std::string> forms = plain_forms(leaf.type, value);
    if (forms.empty()) return true;
    uint64_t begin = 0;
    const uint64_t blocks = find_blocks(file, chunk, begin);
    if (blocks == 0) return true;
    return std::any_of(forms.begin(), forms.end(), [&](const std::string& form) {
        const uint64_t hash = xxhash64(base::as_bytes(form));
        const uint64_t block = ((hash >> 32) * blocks) >> 32;
        uint8_t bytes[kBlockBytes];
        file.file->read_at(begin + block * kBlockBytes, bytes);
        return block_may_contain(bytes, hash);
    });
}

}  // namespace loom::parquet
