// LZ4 in its three wrappings: bare block, Hadoop's framing, LZ4 frame.

#include <lz4.h>
#include <lz4frame.h>
#include <lz4hc.h>

#include <bit>
#include <limits>
#include <memory>

#include "format/codec/implementations.h"

namespace loom::codec {

namespace {

constexpr uint32_t kFrameMagic = 0x184d2204;
constexpr size_t kLargestBlock = std::numeric_limits<int>::max();

char* chars(uint8_t* bytes) {
    return reinterpret_cast<char*>(bytes);
}
const char* chars(const uint8_t* bytes) {
    return reinterpret_cast<const char*>(bytes);
}

/// Returns the bytes that one block gave, or a negative number.
int decompress_block(base::ByteSpan in, std::span<uint8_t> out) {
    if (in.size() > kLargestBlock || out.size() > kLargestBlock) return -1;
    return LZ4_decompress_safe(chars(in.data()), chars(out.data()), static_cast<int>(in.size()),
                               static_cast<int>(out.size()));
}

uint32_t read_big_endian(base::ByteSpan in) {
    return __builtin_bswap32(base::load<uint32_t>(in.data()));
}

/// Decompresses one Hadoop block: its length, then length-prefixed LZ4 blocks until it is full.
/// Moves both spans on. False if the bytes don't fit that scheme.
bool decompress_hadoop_block(base::ByteSpan& in, std::span<uint8_t>& out) {
    if (in.size() < 4) return false;
    size_t expected = read_big_endian(in);
    in = in.subspan(4);
    if (expected > out.size()) return false;
    while (expected != 0) {
        if (in.size() < 4) return false;
        const size_t compressed = read_big_endian(in);
        in = in.subspan(4);
        if (compressed > in.size()) return false;
        const int written = decompress_block(in.first(compressed), out.first(expected));
        if (written <= 0) return false;
        in = in.subspan(compressed);
        out = out.subspan(written);
        expected -= written;
    }
    return true;
}

bool try_hadoop(base::ByteSpan in, std::span<uint8_t> out) {
    while (!in.empty())
        if (!decompress_hadoop_block(in, out)) return false;
    return out.empty();
}

int compress_block(base::ByteSpan in, int level, std::span<uint8_t> out) {
    check_level("lz4", level, LZ4HC_CLEVEL_MAX);
    const int source = static_cast<int>(in.size());
    const int capacity = static_cast<int>(out.size());
    const int written =
        level == 0 ? LZ4_compress_default(chars(in.data()), chars(out.data()), source, capacity)
                   : LZ4_compress_HC(chars(in.data()), chars(out.data()), source, capacity, level);
    if (written <= 0) base::raise(base::ErrorKind::kBug, "lz4 compression failed");
    return written;
}

int block_bound(base::ByteSpan in) {
    if (in.size() > LZ4_MAX_INPUT_SIZE)
        base::raise(base::ErrorKind::kLimit, "{} bytes are too many for one lz4 block", in.size());
    return LZ4_compressBound(static_cast<int>(in.size()));
}

struct FreeFrameContext {
    void operator()(LZ4F_dctx* context) const noexcept { LZ4F_freeDecompressionContext(context); }
};

}  // namespace

void decompress_lz4_raw(base::ByteSpan in, std::span<uint8_t> out) {
    const int written = decompress_block(in, out);
    if (written < 0 || static_cast<size_t>(written) != out.size())
        base::corrupt("lz4 block is damaged or does not give {} bytes", out.size());
}

void compress_lz4_raw(base::ByteSpan in, int level, base::Buffer& out) {
    out.resize_discarding(block_bound(in));
    out.resize(compress_block(in, level, {out.data(), out.size()}));
}

// Writers disagree on what Parquet's LZ4 means: parquet-mr writes Hadoop's framing, old parquet-cpp
// a bare block, some others a frame. A bare block can hardly pass as Hadoop's: its lengths must
// match.
void decompress_lz4_hadoop(base::ByteSpan in, std::span<uint8_t> out) {
    if (try_hadoop(in, out)) return;
    if (in.size() >= 4 && base::load<uint32_t>(in.data()) == kFrameMagic)
        return decompress_lz4_frame(in, out);
    decompress_lz4_raw(in, out);
}

void compress_lz4_hadoop(base::ByteSpan in, int level, base::Buffer& out) {
    if (in.empty()) {  // a block of length 0 has no inner block
        out.resize_discarding(4);
        return base::store(out.data(), uint32_t{0});
    }
    constexpr size_t kHeader = 8;
    out.resize_discarding(kHeader + block_bound(in));
    const int written = compress_block(in, level, {out.data() + kHeader, out.size() - kHeader});
    base::store(out.data(), __builtin_bswap32(static_cast<uint32_t>(in.size())));
    base::store(out.data() + 4, __builtin_bswap32(static_cast<uint32_t>(written)));
    out.resize(kHeader + written);
}

void decompress_lz4_frame(base::ByteSpan in, std::span<uint8_t> out) {
    thread_local std::unique_ptr<LZ4F_dctx, FreeFrameContext> context;
    if (!context) {
        LZ4F_dctx* fresh = nullptr;
        if (LZ4F_isError(LZ4F_createDecompressionContext(&fresh, LZ4F_VERSION)))
            base::raise(base::ErrorKind::kMemory, "out of memory for an lz4 decompressor");
        context.reset(fresh);
    }
    LZ4F_resetDecompressionContext(context.get());
    size_t produced = 0;
    size_t wanted = 1;
    LZ4F_decompressOptions_t options{};
    options.stableDst = 1;
    while (!in.empty()) {
        size_t written = out.size() - produced;
        size_t used = in.size();
        wanted = LZ4F_decompress(context.get(), out.data() + produced, &written, in.data(), &used,
                                 &options);
        if (LZ4F_isError(wanted))
            base::corrupt("lz4 frame is damaged: {}", LZ4F_getErrorName(wanted));
        in = in.subspan(used);
        produced += written;
        if (used == 0 && written == 0) break;  // the output is full, the frame is not
    }
    if (!in.empty() || wanted != 0 || produced != out.size())
        base::corrupt("lz4 frame is cut off or does not give {} bytes", out.size());
}

void compress_lz4_frame(base::ByteSpan in, int level, base::Buffer& out) {
    check_level("lz4", level, LZ4F_compressionLevel_max());
    LZ4F_preferences_t preferences{};
    preferences.compressionLevel = level;
    preferences.frameInfo.contentSize = in.size();
    preferences.frameInfo.blockSizeID = in.size() > 256 * 1024 ? LZ4F_max4MB : LZ4F_max256KB;
    preferences.frameInfo.blockMode = LZ4F_blockIndependent;
    out.resize_discarding(LZ4F_compressFrameBound(in.size(), &preferences));
    const size_t written =
        LZ4F_compressFrame(out.data(), out.size(), in.data(), in.size(), &preferences);
    if (LZ4F_isError(written))
        base::raise(base::ErrorKind::kBug, "lz4 compression failed: {}",
                    LZ4F_getErrorName(written));
    out.resize(written);
}

}  // namespace loom::codec
