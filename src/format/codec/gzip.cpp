// Gzip and zlib by libdeflate.

#include <libdeflate.h>

#include <algorithm>
#include <memory>

#include "format/codec/implementations.h"

namespace loom::codec {

namespace {

struct FreeDecompressor {
    void operator()(libdeflate_decompressor* d) const noexcept { libdeflate_free_decompressor(d); }
};
struct FreeCompressor {
    void operator()(libdeflate_compressor* c) const noexcept { libdeflate_free_compressor(c); }
};

libdeflate_decompressor* thread_decompressor() {
    thread_local std::unique_ptr<libdeflate_decompressor, FreeDecompressor> cached;
    if (!cached) cached.reset(libdeflate_alloc_decompressor());
    if (!cached) base::raise(base::ErrorKind::kMemory, "out of memory for a gzip decompressor");
    return cached.get();
}

bool is_gzip(base::ByteSpan in) {
    return in.size() >= 2 && in[0] == 0x1f && in[1] == 0x8b;
}

bool all_zero(base::ByteSpan bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

}  // namespace

void decompress_gzip(base::ByteSpan in, std::span<uint8_t> out) {
    libdeflate_decompressor* decompressor = thread_decompressor();
    size_t produced = 0;
    do {
        size_t used = 0;
        size_t written = 0;
        auto* member = is_gzip(in) ? libdeflate_gzip_decompress_ex : libdeflate_zlib_decompress_ex;
        const libdeflate_result result =
            member(decompressor, in.data(), in.size(), out.data() + produced, out.size() - produced,
                   &used, &written);
        if (result != LIBDEFLATE_SUCCESS)
            base::corrupt("gzip data are damaged or do not give {} bytes", out.size());
        in = in.subspan(used);
        produced += written;
    } while (!in.empty() && !all_zero(in));  // some writers pad the last member with zeros
    if (produced != out.size())
        base::corrupt("gzip data give {} bytes instead of {}", produced, out.size());
}

void compress_gzip(base::ByteSpan in, int level, base::Buffer& out) {
    check_level("gzip", level, 12);
    std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(
        libdeflate_alloc_compressor(level == 0 ? 6 : level));
    if (!compressor) base::raise(base::ErrorKind::kMemory, "out of memory for a gzip compressor");
    out.resize_discarding(libdeflate_gzip_compress_bound(compressor.get(), in.size()));
    const size_t written =
        libdeflate_gzip_compress(compressor.get(), in.data(), in.size(), out.data(), out.size());
    if (written == 0) base::raise(base::ErrorKind::kBug, "gzip compression failed");
    out.resize(written);
}

}  // namespace loom::codec
