// DELTA_BYTE_ARRAY (Encodings.md): how many leading bytes each value shares with the one before it,
// delta encoded, then the rest of each value as DELTA_LENGTH_BYTE_ARRAY. Byte arrays and fixed
// ones.

#include <algorithm>
#include <cstring>
#include <vector>

#include "format/parquet/decode/delta_length_reader.h"
#include "format/parquet/decode/value_decoder.h"

namespace loom::parquet {

namespace {

using column::BytesView;

// A few bytes can stand for a long value each, as they only name its prefix; what one call may ask
// for is bounded so that a page can't be a bomb.
constexpr uint64_t kMaxCallBytes = uint64_t{1} << 30;

class DeltaByteArrayDecoder final : public ValueDecoder {
  public:
    DeltaByteArrayDecoder(const DecoderInput& input, int32_t width)
        : ValueDecoder(width),
          fixed_(input.leaf->physical == PhysicalType::kFixedLenByteArray),
          budget_(input.budget),
          prefixes_(input.bytes, input.budget),
          suffixes_(input.bytes.subspan(prefixes_.encoded_bytes()), input.budget) {}

    void decode(int64_t count, uint8_t* out) override {
        if (fixed_)
            decode_fixed(count, out);
        else
            decode_views(count, reinterpret_cast<BytesView*>(out));
    }

    void skip(int64_t count) override {
        std::vector<uint8_t> unwanted;
        while (count > 0) {
            const int64_t part = std::min<int64_t>(count, 256);
            unwanted.resize(static_cast<size_t>(part * width()) + kDecodeSlack);
            decode(part, unwanted.data());
            forget();
            count -= part;
        }
    }

    void forget() override {
        if (heaps_.size() > 1) heaps_.erase(heaps_.begin(), heaps_.end() - 1);
    }

  private:
    // Reads prefix lengths and suffixes of `count` values and returns the bytes they take together.
    uint64_t read_parts(int64_t count) {
        lengths_.resize(static_cast<size_t>(count));
        suffix_views_.resize(static_cast<size_t>(count));
        prefixes_.decode(count, lengths_.data());
        suffixes_.decode(count, suffix_views_.data());
        auto before = static_cast<uint64_t>(previous_.size);
        uint64_t total = 0;
        for (size_t i = 0; i < lengths_.size(); ++i) {
            if (lengths_[i] > before)
                base::corrupt("a value shares {} bytes with one of {} bytes", lengths_[i], before);
            before = lengths_[i] + static_cast<uint64_t>(suffix_views_[i].size);
            total += before;
        }
        if (total > kMaxCallBytes)
            base::raise(base::ErrorKind::kLimit, "{} prefix-coded values of {} bytes", count,
                        total);
        return total;
    }

    // Writes value i behind its predecessor, which must not move meanwhile.
    BytesView write_value(size_t i, uint8_t* to) {
        const auto prefix = static_cast<size_t>(lengths_[i]);
        const auto suffix = static_cast<size_t>(suffix_views_[i].size);
        if (prefix != 0) std::memcpy(to, previous_.data, prefix);
        if (suffix != 0) std::memcpy(to + prefix, suffix_views_[i].data, suffix);
        previous_ = {to, static_cast<int64_t>(prefix + suffix)};
        return previous_;
    }

    void decode_views(int64_t count, BytesView* out) {
        if (count == 0) return;
        const uint64_t total = read_parts(count);
        base::Buffer& heap = heaps_.emplace_back(budget_);
        heap.resize_discarding(total);
        uint8_t* to = heap.data();
        for (size_t i = 0; i < lengths_.size(); ++i) {
            out[i] = write_value(i, to);
            to += out[i].size;
        }
    }

    // The previous value is kept apart: the caller's memory is not ours to point into.
    void decode_fixed(int64_t count, uint8_t* out) {
        if (count == 0) return;
        read_parts(count);
        for (size_t i = 0; i < lengths_.size(); ++i, out += width()) {
            const uint64_t size = lengths_[i] + static_cast<uint64_t>(suffix_views_[i].size);
            if (size != static_cast<uint64_t>(width()))
                base::corrupt("a value of {} bytes in a column of {} bytes", size, width());
            write_value(i, out);
        }
        last_.assign(out - width(), out);
        previous_.data = last_.data();
    }

    bool fixed_;
    base::MemoryBudget* budget_;
    DeltaBinaryReader<uint32_t> prefixes_;
    DeltaLengthReader suffixes_;
    BytesView previous_;
    std::vector<uint32_t> lengths_;
    std::vector<BytesView> suffix_views_;
    std::vector<base::Buffer> heaps_;
    std::vector<uint8_t> last_;
};

}  // namespace

std::unique_ptr<ValueDecoder> make_delta_byte_array_decoder(const DecoderInput& input) {
    const PhysicalType physical = input.leaf->physical;
    if (physical != PhysicalType::kByteArray && physical != PhysicalType::kFixedLenByteArray)
        base::corrupt("values of type {} with the encoding DELTA_BYTE_ARRAY", name(physical));
    return std::make_unique<DeltaByteArrayDecoder>(input, input.leaf->physical_width());
}

}  // namespace loom::parquet
