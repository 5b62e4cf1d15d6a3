#pragma once
// The values of one data page, whatever their encoding.

#include <cstdint>
#include <memory>
#include <span>

#include "base/buffer.h"
#include "base/bytes.h"
#include "column/column_view.h"
#include "format/parquet/decode/hybrid_decoder.h"
#include "format/parquet/schema/leaf_type.h"

namespace loom::parquet {

/// Bytes that decoders may write behind the values they were asked for.
inline constexpr size_t kDecodeSlack = 64;
static_assert(kDecodeSlack <= base::kBufferSlack && simd::kUnpackSlack <= kDecodeSlack);

/// Decodes the values (NULLs have none) of a page front to back, as slots of width() bytes:
/// physical values (LeafType::physical_width), or, from a dictionary, values as the dictionary
/// holds them. Each call raises kCorrupt if the page's bytes end first. BytesViews point into the
/// page, the dictionary, or memory of the decoder.
class ValueDecoder {
  public:
    explicit ValueDecoder(int32_t width) noexcept : width_(width) {}
    virtual ~ValueDecoder() = default;

    int32_t width() const noexcept { return width_; }

    /// Decodes the next `count` values to `out`, which has kDecodeSlack writable bytes behind.
    virtual void decode(int64_t count, uint8_t* out) = 0;
    virtual void skip(int64_t count) = 0;
    /// Moves past `count` values, decoding only those that `selection` (ascending) names.
    virtual void gather(int64_t count, std::span<const uint16_t> selection, uint8_t* out);
    /// Returns the next `count` values where they lie in the page and moves past them, or returns
    /// nullptr and does nothing. The pointer need not be aligned.
    virtual const uint8_t* take_in_place(int64_t count) { return nullptr; }
    /// Lets go of memory behind BytesViews of all calls but the last.
    virtual void forget() {}

  private:
    int32_t width_;
    base::Buffer temporary_;
};

/// What make_value_decoder() needs to know.
struct DecoderInput {
    const LeafType* leaf = nullptr;
    PageEncoding encoding = PageEncoding::kPlain;
    base::ByteSpan bytes;                            ///< with base::kBufferSlack behind
    const column::ColumnView* dictionary = nullptr;  ///< for dictionary encodings
    base::MemoryBudget* budget = nullptr;
};

/// Makes the decoder of a page. Raises kCorrupt or kUnsupported if the encoding does not suit the
/// type or is not known.
std::unique_ptr<ValueDecoder> make_value_decoder(const DecoderInput& input);

// One factory per encoding; each lives in its own file.
std::unique_ptr<ValueDecoder> make_plain_decoder(const DecoderInput& input);
std::unique_ptr<ValueDecoder> make_boolean_rle_decoder(const DecoderInput& input);
std::unique_ptr<ValueDecoder> make_dictionary_decoder(const DecoderInput& input);
std::unique_ptr<ValueDecoder> make_delta_binary_decoder(const DecoderInput& input);
std::unique_ptr<ValueDecoder> make_delta_length_decoder(const DecoderInput& input);
std::unique_ptr<ValueDecoder> make_delta_byte_array_decoder(const DecoderInput& input);
std::unique_ptr<ValueDecoder> make_byte_stream_split_decoder(const DecoderInput& input);

/// Opens the codes of a dictionary page: a byte with their width, then hybrid runs. A page without
/// any byte holds no value.
HybridDecoder open_codes(base::ByteSpan bytes);

/// Copies slots of `width` bytes: to[i] = from[selection[i]].
void pick_slots(const uint8_t* from, int32_t width, std::span<const uint16_t> selection,
                uint8_t* to) noexcept;

}  // namespace loom::parquet
