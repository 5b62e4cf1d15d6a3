#include "format/parquet/decode/hybrid_decoder.h"

#include <algorithm>
#include <limits>

#include "base/bitmap.h"
#include "simd/bit_unpack_kernels.h"

namespace loom::parquet {

namespace {

// Writes `count` copies in vectors of 16 bytes: up to 15 bytes behind, within the outputs' slack.
template <typename T>
void fill_run(T* out, int64_t count, T value) noexcept {
    typedef T Vector __attribute__((vector_size(16)));
    const Vector copies = Vector{} + value;
    for (int64_t i = 0; i < count; i += 16 / sizeof(T)) base::store(out + i, copies);
}

void unpack_with(const simd::UnpackKernels& kernels, const uint8_t* from, int width, int64_t count,
                 uint8_t* out) noexcept {
    kernels.u8(from, width, count, out);
}
void unpack_with(const simd::UnpackKernels& kernels, const uint8_t* from, int width, int64_t count,
                 uint16_t* out) noexcept {
    kernels.u16(from, width, count, out);
}
void unpack_with(const simd::UnpackKernels& kernels, const uint8_t* from, int width, int64_t count,
                 uint32_t* out) noexcept {
    kernels.u32(from, width, count, out);
}

}  // namespace

HybridDecoder::HybridDecoder(base::ByteSpan bytes, int width)
    : cursor_(bytes.data()),
      end_(bytes.data() + bytes.size()),
      width_(width),
      kernels_(&simd::unpack_kernels(simd::best_instruction_set())) {
    if (width < 0 || width > 32) base::corrupt("run-length data of {} bits a value", width);
    if (width == 0) left_ = std::numeric_limits<int64_t>::max();
}

void HybridDecoder::next_run() {
    while (left_ == 0) {
        uint64_t header = 0;
        for (int shift = 0;; shift += 7) {
            if (cursor_ >= end_) base::corrupt("run-length data end too early");
            const uint8_t byte = *cursor_++;
            header |= static_cast<uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80) break;
            if (shift >= 56) base::corrupt("a run length of more than 63 bits");
        }
        const auto length = static_cast<int64_t>(header >> 1);
        const int64_t bytes = end_ - cursor_;
        if ((header & 1) != 0) {
            // `length` groups of eight values take `width_` bytes each.
            packed_ = cursor_;
            position_ = 0;
            const bool whole = length <= bytes / width_;
            left_ = whole ? length * 8 : bytes * 8 / width_;
            cursor_ = whole ? cursor_ + length * width_ : end_;
            if (left_ == 0 && length != 0) base::corrupt("run-length data end too early");
        } else {
            const int value_bytes = (width_ + 7) / 8;
            if (bytes < value_bytes) base::corrupt("run-length data end too early");
            packed_ = nullptr;
            left_ = length;
            // At least 4 bytes are readable: kBufferSlack.
            value_ = base::load<uint32_t>(cursor_) &
                     static_cast<uint32_t>(simd::low_bits(8 * value_bytes));
            cursor_ += value_bytes;
        }
    }
}

uint32_t HybridDecoder::packed_value(int64_t index) const noexcept {
    // The load starts within the run; 7 + 32 bits lie within its 8 bytes.
    const uint64_t bit = static_cast<uint64_t>(index) * static_cast<uint64_t>(width_);
    const uint64_t word = base::load<uint64_t>(packed_ + (bit >> 3)) >> (bit & 7);
    return static_cast<uint32_t>(word & simd::low_bits(width_));
}

template <typename T>
void HybridDecoder::unpack_part(int64_t count, T* out) {
    // Groups of eight values start on a byte; a batch may begin within a group.
    int64_t done = 0;
    for (; done < count && ((position_ + done) & 7) != 0; ++done)
        out[done] = static_cast<T>(packed_value(position_ + done));
    if (done < count)
        unpack_with(*kernels_, packed_ + (position_ + done) / 8 * width_, width_, count - done,
                    out + done);
}

template <typename T>
void HybridDecoder::decode(int64_t count, T* out) {
    while (count > 0) {
        need_run();
        const int64_t part = std::min(count, left_);
        if (packed_ == nullptr)
            fill_run(out, part, static_cast<T>(value_));
        else
            unpack_part(part, out);
        position_ += part;
        left_ -= part;
        count -= part;
        out += part;
    }
}

template <typename T>
void HybridDecoder::gather(int64_t count, std::span<const uint16_t> selection, T* out) {
    int64_t start = 0;  // of the current run, relative to the batch
    size_t next = 0;
    while (next < selection.size()) {
        need_run();
        const int64_t run_end = start + std::min(left_, count - start);
        if (packed_ == nullptr) {
            for (; next < selection.size() && selection[next] < run_end; ++next)
                *out++ = static_cast<T>(value_);
        } else {
            const int64_t shift = position_ - start;
            for (; next < selection.size() && selection[next] < run_end; ++next)
                *out++ = static_cast<T>(packed_value(selection[next] + shift));
        }
        position_ += run_end - start;
        left_ -= run_end - start;
        start = run_end;
    }
    skip(count - start);
}

void HybridDecoder::skip(int64_t count) {
    while (count > 0) {
        need_run();
        const int64_t part = std::min(count, left_);
        position_ += part;
        left_ -= part;
        count -= part;
    }
}

int64_t HybridDecoder::decode_bits(int64_t count, uint8_t* bits, int64_t offset) {
    const int64_t first = offset;
    for (int64_t todo = count; todo > 0;) {
        need_run();
        const int64_t part = std::min(todo, left_);
        if (packed_ == nullptr)
            base::fill_bits(bits, offset, part, (value_ & 1) != 0);
        else
            base::copy_bits(packed_, position_, part, bits, offset);
        position_ += part;
        left_ -= part;
        offset += part;
        todo -= part;
    }
    return base::count_bits(bits, first, count);
}

bool HybridDecoder::starts_with_run(uint32_t value, int64_t count) {
    if (count == 0) return true;
    need_run();
    return packed_ == nullptr && value_ == value && left_ >= count;
}

int64_t HybridDecoder::peek_run(uint32_t& value) {
    need_run();
    if (packed_ != nullptr) return 0;
    value = value_;
    return left_;
}

template void HybridDecoder::decode(int64_t, uint8_t*);
template void HybridDecoder::decode(int64_t, uint16_t*);
template void HybridDecoder::decode(int64_t, uint32_t*);
template void HybridDecoder::gather(int64_t, std::span<const uint16_t>, uint8_t*);
template void HybridDecoder::gather(int64_t, std::span<const uint16_t>, uint16_t*);
template void HybridDecoder::gather(int64_t, std::span<const uint16_t>, uint32_t*);

}  // namespace loom::parquet
