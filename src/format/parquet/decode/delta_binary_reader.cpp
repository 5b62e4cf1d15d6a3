#include "format/parquet/decode/delta_binary_reader.h"

#include <algorithm>

#include "simd/bit_unpack.h"

namespace loom::parquet {

namespace {

uint64_t read_varint(base::ByteReader& in) {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const auto byte = in.read<uint8_t>("a number of a delta encoding");
        value |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return value;
    }
    base::corrupt("a number of more than 64 bits in a delta encoding");
}

uint64_t read_zigzag(base::ByteReader& in) {
    const uint64_t value = read_varint(in);
    return value >> 1 ^ (0 - (value & 1));
}

}  // namespace

template <typename T>
DeltaBinaryReader<T>::DeltaBinaryReader(base::ByteSpan bytes, base::MemoryBudget* budget)
    : in_(bytes), deltas_(budget) {
    if (bytes.empty()) return;
    const uint64_t block = read_varint(in_);
    const uint64_t miniblocks = read_varint(in_);
    const uint64_t total = read_varint(in_);
    value_ = static_cast<T>(read_zigzag(in_));
    if (miniblocks == 0 || block % miniblocks != 0 || block / miniblocks % 8 != 0 || block == 0 ||
        block / miniblocks > kMaxMiniblock || miniblocks > bytes.size() + 1)
        base::corrupt("delta blocks of {} values in {} parts", block, miniblocks);
    if (total > static_cast<uint64_t>(INT32_MAX))
        base::corrupt("a page of {} delta encoded values", total);
    block_values_ = static_cast<int64_t>(block);
    miniblocks_ = static_cast<int64_t>(miniblocks);
    per_miniblock_ = block_values_ / miniblocks_;
    total_ = static_cast<int64_t>(total);
    next_width_ = miniblocks_;  // no block is open
}

template <typename T>
void DeltaBinaryReader<T>::read_block_header() {
    min_delta_ = static_cast<T>(read_zigzag(in_));
    widths_ = in_.take(static_cast<uint64_t>(miniblocks_), "the bit widths of a delta block");
    next_width_ = 0;
}

template <typename T>
void DeltaBinaryReader<T>::next_miniblock() {
    if (next_width_ == miniblocks_) read_block_header();
    const int width = widths_[static_cast<size_t>(next_width_++)];
    if (width > static_cast<int>(8 * sizeof(T)))
        base::corrupt("deltas of {} bits in a column of {} bits", width, 8 * sizeof(T));
    // The last miniblock is padded; some writers leave the padding out.
    const int64_t left = total_ - taken_;
    int64_t count = std::min(per_miniblock_, left);
    const uint64_t whole = miniblock_bytes(width);
    const uint64_t needed = (static_cast<uint64_t>(count) * static_cast<uint64_t>(width) + 7) / 8;
    const base::ByteSpan packed =
        in_.take(in_.remaining() >= whole ? whole : needed, "a part of a delta block");
    deltas_.resize_discarding(static_cast<uint64_t>(count) * sizeof(T));
    simd::unpack(packed.data(), width, count, deltas_.template as<T>());
    delta_at_ = 0;
    delta_count_ = count;
}

template <typename T>
void DeltaBinaryReader<T>::decode(int64_t count, T* out) {
    if (count > remaining())
        base::corrupt("{} values where {} delta encoded ones are left", count, remaining());
    int64_t done = 0;
    if (count > 0 && taken_ == 0) {
        out[0] = value_;
        done = taken_ = 1;
    }
    while (done < count) {
        if (delta_at_ == delta_count_) next_miniblock();
        const int64_t part = std::min(count - done, delta_count_ - delta_at_);
        const T* deltas = deltas_.template as<T>() + delta_at_;
        T value = value_;
        for (int64_t i = 0; i < part; ++i) {
            value += deltas[i] + min_delta_;
            out[done + i] = value;
        }
        value_ = value;
        delta_at_ += part;
        taken_ += part;
        done += part;
    }
}

template <typename T>
void DeltaBinaryReader<T>::skip(int64_t count) {
    T unwanted[256];
    while (count > 0) {
        const int64_t part = std::min<int64_t>(count, 256);
        decode(part, unwanted);
        count -= part;
    }
}

template <typename T>
uint64_t DeltaBinaryReader<T>::encoded_bytes() const {
    base::ByteReader in = in_;
    for (int64_t left = total_ - 1; left > 0;) {
        read_varint(in);
        const base::ByteSpan widths =
            in.take(static_cast<uint64_t>(miniblocks_), "the bit widths of a delta block");
        for (int64_t i = 0; i < miniblocks_ && left > 0; ++i, left -= per_miniblock_)
            in.skip(
                std::min<uint64_t>(miniblock_bytes(widths[static_cast<size_t>(i)]), in.remaining()),
                "a part of a delta block");
    }
    return in.position();
}

template class DeltaBinaryReader<uint32_t>;
template class DeltaBinaryReader<uint64_t>;

}  // namespace loom::parquet
