#pragma once
// One pair of functions per codec, called by codec.cpp only.
//
// decompress_x fills `out` exactly or raises kCorrupt; `in` and `out` have kDecompressSlack bytes
// behind them, and `out` is never empty. compress_x resizes `out` to what it wrote.

#include "base/buffer.h"
#include "base/bytes.h"

namespace loom::codec {

void decompress_snappy(base::ByteSpan in, std::span<uint8_t> out);
void compress_snappy(base::ByteSpan in, base::Buffer& out);

void decompress_gzip(base::ByteSpan in, std::span<uint8_t> out);
void compress_gzip(base::ByteSpan in, int level, base::Buffer& out);

void decompress_brotli(base::ByteSpan in, std::span<uint8_t> out);
void compress_brotli(base::ByteSpan in, int level, base::Buffer& out);

void decompress_zstd(base::ByteSpan in, std::span<uint8_t> out);
void compress_zstd(base::ByteSpan in, int level, base::Buffer& out);

void decompress_lz4_raw(base::ByteSpan in, std::span<uint8_t> out);
void compress_lz4_raw(base::ByteSpan in, int level, base::Buffer& out);
void decompress_lz4_hadoop(base::ByteSpan in, std::span<uint8_t> out);
void compress_lz4_hadoop(base::ByteSpan in, int level, base::Buffer& out);
void decompress_lz4_frame(base::ByteSpan in, std::span<uint8_t> out);
void compress_lz4_frame(base::ByteSpan in, int level, base::Buffer& out);

/// Raises kBadOption unless 0 <= level <= highest.
void check_level(std::string_view codec, int level, int highest);

}  // namespace loom::codec
