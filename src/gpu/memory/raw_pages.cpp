#include "gpu/memory/raw_pages.h"

#include "gpu/memory/raw_conversion.h"

namespace loom::gpu {

namespace {

using format::EncodedPage;
using format::PagedColumn;

constexpr const char* kText = R"(#include "gpu/runtime/pages.h"
namespace loom::gpu {
LOOM_KERNEL(page_blocks, PageParameters, 256, 1) {
    LOOM_NO_UNROLL for (uint32_t i = block_index() * (block_threads() / kWarp) + warp_index();
                        i < p.block_count; i += grid_blocks() * (block_threads() / kWarp))
        if (!decompress_block(p.blocks[i], lane_index()) && lane_index() == 0) raw_flag(p.faults);
}
LOOM_KERNEL(page_rows, PageParameters, 256, 1) {
    LOOM_NO_UNROLL for (uint32_t i = block_index() * (block_threads() / kWarp) + warp_index();
                        i < p.page_count; i += grid_blocks() * (block_threads() / kWarp))
        if (!decode_rows(p, p.pages[i], lane_index()) && lane_index() == 0) raw_flag(p.faults);
}
}  // namespace loom::gpu
)";

PageValues kind_of(PagedColumn::Values values) {
    switch (values) {
        case PagedColumn::Values::kBits:
            return PageValues::kBits;
        case PagedColumn::Values::kInt32:
            return PageValues::kInt32;
        case PagedColumn::Values::kInt64:
            return PageValues::kInt64;
        case PagedColumn::Values::kFixed:
            return PageValues::kFixed;
        case PagedColumn::Values::kBytes:
            break;
    }
    return PageValues::kCodes;
}

PageEncoding encoding_of(EncodedPage::Encoding encoding) {
    switch (encoding) {
        case EncodedPage::Encoding::kPlain:
            return PageEncoding::kPlain;
        case EncodedPage::Encoding::kCodes:
            return PageEncoding::kCodes;
        case EncodedPage::Encoding::kRuns:
            return PageEncoding::kRuns;
        case EncodedPage::Encoding::kDelta:
            return PageEncoding::kDelta;
        case EncodedPage::Encoding::kSplit:
            break;
    }
    return PageEncoding::kSplit;
}

// Whether there are values that the engine has not.
bool has_bounds(const PageConversion& conversion) {
    return conversion.fits != 0 || conversion.piece.low != INT64_MIN ||
           conversion.piece.high != INT64_MAX;
}

}  // namespace

const char* page_kernels_text() {
    return kText;
}

std::optional<PageConversion> page_conversion(const PagedColumn& paged,
                                              const column::DataType& file, plan::Type type) {
    PageConversion conversion;
    conversion.kind = kind_of(paged.values);
    conversion.nullable = paged.nullable;
    conversion.width = static_cast<uint32_t>(paged.width);
    // What the pages become, as a file of plain values would hold it.
    format::RawColumn raw;
    switch (conversion.kind) {
        case PageValues::kBits:
            raw.shape = format::RawColumn::Shape::kBits;
            break;
        case PageValues::kCodes:
            raw.shape = format::RawColumn::Shape::kCodes;
            raw.width = 4;
            break;
        default:
            raw.width = column::byte_width(file);
    }
    const auto piece = raw_conversion(raw, file, type);
    if (!piece) return std::nullopt;
    conversion.piece = *piece;
    conversion.to_width = static_cast<uint32_t>(raw.width);
    if (conversion.kind == PageValues::kBits) {
        conversion.piece.kind = RawKind::kUInt8;
        conversion.to_width = 1;
    } else if (raw.width == 16) {
        // Of which the low half counts.
        conversion.piece.kind = RawKind::kInt64;
        conversion.to_width = 8;
    } else if (paged.step == PagedColumn::Step::kNumber) {
        conversion.fits = conversion.to_width;
    }
    return conversion;
}

bool kernels_decompress(codec::Codec codec) {
    return codec == codec::Codec::kNone || codec == codec::Codec::kSnappy ||
           codec == codec::Codec::kLz4Raw;
}

PageRoom page_room(const PagedColumn& paged, const PageConversion& conversion, uint64_t rows) {
    PageRoom room;
    if (kernels_decompress(paged.codec)) room.packed = aligned(paged.bytes.length);
    if (paged.codec != codec::Codec::kNone) room.plain = aligned(paged.page_bytes);
    room.values = aligned(rows * conversion.to_width);
    if (conversion.nullable) room.valid = aligned((rows + 31) / 32 * sizeof(uint32_t));
    return room;
}

std::vector<EncodedPage> send_decompressed(io::File& file, const PagedColumn& paged,
                                           format::PageWalk& walk, DeviceAddress to,
                                           UploadRing& ring) {
    base::Buffer bytes;
    bytes.resize_discarding(paged.bytes.length);
    file.read_at(paged.bytes.offset, {bytes.data(), bytes.size()});
    walk.take(bytes.span());
    const std::span<const EncodedPage> found = walk.finish();
    std::vector<EncodedPage> pages(found.begin(), found.end());
    Upload upload(ring, to);
    base::Buffer large;
    uint64_t offset = 0;
    for (EncodedPage& page : pages) {
        const base::ByteSpan body =
            bytes.span().subspan(static_cast<size_t>(page.offset), page.bytes);
        if (page.plain_bytes > paged.page_bytes - offset)
            base::corrupt("pages take more than {} bytes", paged.page_bytes);
        if (!page.compressed) {
            upload.put(body);
        } else {
            upload.put(body.first(page.level_bytes));
            const uint64_t plain = page.plain_bytes - page.level_bytes;
            const bool fits = plain <= UploadRing::kChunkBytes;
            if (!fits) large.resize_discarding(plain);
            uint8_t* const values = fits ? upload.room(plain) : large.data();
            if (plain > 0)
                codec::decompress(paged.codec, body.subspan(page.level_bytes), {values, plain});
            if (fits)
                upload.filled(plain);
            else
                upload.put(large.span());
        }
        page.offset = offset;
        page.bytes = page.plain_bytes;
        page.compressed = false;
        offset += page.plain_bytes;
    }
    upload.flush();
    return pages;
}

bool add_pages(std::span<const EncodedPage> pages, const PagedColumn& paged,
               const PageConversion& conversion, const PagePlaces& places, uint32_t piece,
               PageWork& work) {
    const DeviceAddress base = kernels_decompress(paged.codec) ? places.packed : places.plain;
    uint64_t plain = 0;  // bytes taken
    uint32_t row = 0;
    EncodedRows dictionary;
    for (const EncodedPage& page : pages) {
        const auto* packed = pointer<const uint8_t>(base + page.offset);
        const uint8_t* body = packed + page.level_bytes;
        const uint32_t body_bytes = page.plain_bytes - page.level_bytes;
        const bool is_dictionary = page.kind == EncodedPage::Kind::kDictionary;
        // The host makes the entries of texts.
        if (is_dictionary && conversion.kind == PageValues::kCodes) continue;
        if (page.compressed) {
            if (body_bytes > paged.page_bytes - plain) return false;
            auto* const to = pointer<uint8_t>(places.plain + plain);
            plain += body_bytes;
            if (body_bytes > 0)
                work.blocks.push_back(
                    {body, to, page.bytes - page.level_bytes, body_bytes,
                     paged.codec == codec::Codec::kSnappy ? PageCodec::kSnappy : PageCodec::kLz4});
            body = to;
        }
        EncodedRows rows;
        rows.body = body;
        rows.body_bytes = body_bytes;
        rows.rows = page.count;
        rows.piece = piece;
        rows.kind = conversion.kind;
        rows.encoding = encoding_of(page.encoding);
        rows.width = conversion.width;
        rows.to_width = conversion.to_width;
        rows.fits = conversion.fits;
        if (is_dictionary) {
            dictionary = rows;
            // Also those that no row has.
            if (has_bounds(conversion) && rows.rows > 0) work.pages.push_back(rows);
            continue;
        }
        if (conversion.kind == PageValues::kCodes && rows.encoding != PageEncoding::kCodes)
            return false;
        rows.entries = dictionary.body;
        rows.entry_count = conversion.kind == PageValues::kCodes ? UINT32_MAX : dictionary.rows;
        rows.values = pointer<uint8_t>(places.values);
        rows.first = row;
        row += page.count;
        if (conversion.nullable) {
            rows.valid = pointer<uint32_t>(places.valid);
            if (page.kind == EncodedPage::Kind::kDataV2) {
                rows.levels = packed;
                rows.level_bytes = page.level_bytes;
            }
        }
        work.pages.push_back(rows);
    }
    return true;
}

}  // namespace loom::gpu
