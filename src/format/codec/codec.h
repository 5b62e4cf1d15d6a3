#pragma once
// Compression of whole blocks of known size, as Parquet pages and Arrow bodies need it.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "base/bytes.h"

namespace loom::codec {

enum class Codec : uint8_t {
    kNone,
    kSnappy,
    kGzip,  ///< gzip or zlib wrapping, several members allowed
    kBrotli,
    kZstd,
    kLz4Raw,     ///< LZ4 block
    kLz4Hadoop,  ///< Parquet's old LZ4: Hadoop framing, or a bare LZ4 block, or an LZ4 frame
    kLz4Frame    ///< Arrow IPC
};

/// Bytes that must be readable behind `in` and writable behind `out` of decompress(), whatever they
/// hold. base::Buffer has them.
inline constexpr size_t kDecompressSlack = 64;
static_assert(kDecompressSlack <= base::kBufferSlack);

/// Decompresses `in` to exactly out.size() bytes. Raises kCorrupt if the data are damaged or give
/// any other length; never writes past out.size() + kDecompressSlack.
void decompress(Codec codec, base::ByteSpan in, std::span<uint8_t> out);

/// Compresses `in` into `out` (resized to fit). `level` 0 means the codec's default.
void compress(Codec codec, base::ByteSpan in, int level, base::Buffer& out);

/// Returns e.g. "snappy"; "uncompressed" for kNone.
std::string_view name(Codec codec) noexcept;

/// Parses what name() gives, and "none", "lz4". Raises kBadOption.
Codec parse_codec(std::string_view text);

}  // namespace loom::codec
