// Zstandard by the reference library; contexts are kept per thread, since making one costs as much
// as decompressing a small page.

#include <zstd.h>

#include <memory>

#include "format/codec/implementations.h"

namespace loom::codec {

namespace {

struct FreeDecompression {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
};
struct FreeCompression {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

}  // namespace

void decompress_zstd(base::ByteSpan in, std::span<uint8_t> out) {
    thread_local std::unique_ptr<ZSTD_DCtx, FreeDecompression> context;
    if (!context) context.reset(ZSTD_createDCtx());
    if (!context) base::raise(base::ErrorKind::kMemory, "out of memory for a zstd decompressor");
    const size_t written =
        ZSTD_decompressDCtx(context.get(), out.data(), out.size(), in.data(), in.size());
    if (ZSTD_isError(written))
        base::corrupt("zstd data are damaged: {}", ZSTD_getErrorName(written));
    if (written != out.size())
        base::corrupt("zstd data give {} bytes instead of {}", written, out.size());
}

void compress_zstd(base::ByteSpan in, int level, base::Buffer& out) {
    check_level("zstd", level, ZSTD_maxCLevel());
    thread_local std::unique_ptr<ZSTD_CCtx, FreeCompression> context;
    if (!context) context.reset(ZSTD_createCCtx());
    if (!context) base::raise(base::ErrorKind::kMemory, "out of memory for a zstd compressor");
    out.resize_discarding(ZSTD_compressBound(in.size()));
    const size_t written = ZSTD_compressCCtx(context.get(), out.data(), out.size(), in.data(),
                                             in.size(), level == 0 ? 3 : level);
    if (ZSTD_isError(written))
        base::raise(base::ErrorKind::kBug, "zstd compression failed: {}",
                    ZSTD_getErrorName(written));
    out.resize(written);
}

}  // namespace loom::codec
