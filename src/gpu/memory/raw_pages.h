#pragma once
// Pages of a file as kernels decode them: where they lie in device memory, and what becomes of
// them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "exec/query.h"
#include "format/paged_column.h"
#include "gpu/driver/device.h"
#include "gpu/memory/upload_ring.h"
#include "gpu/runtime/pages.h"

namespace loom::gpu {

/// How values of a file's pages become pieces.
struct PageConversion {
    RawPiece piece;  ///< without rows
    PageValues kind = PageValues::kInt32;
    uint32_t width = 0;     ///< as EncodedRows has it
    uint32_t to_width = 0;  ///< likewise
    uint32_t fits = 0;      ///< likewise
    bool nullable = false;
};

/// Returns what exec::Loader does with a file's column; nothing if kernels don't do that.
std::optional<PageConversion> page_conversion(const format::PagedColumn& paged,
                                              const column::DataType& file, plan::Type type);

/// Tells whether kernels decompress what a codec has made; else the host does.
bool kernels_decompress(codec::Codec codec);

/// Bytes of a row group's column in device memory, each a multiple of what aligns them.
struct PageRoom {
    uint64_t packed = 0;  ///< as in the file, if kernels decompress it
    uint64_t plain = 0;   ///< decompressed, or other than in the file
    uint64_t values = 0;
    uint64_t valid = 0;
    uint64_t sum() const noexcept { return packed + plain + values + valid; }
};
PageRoom page_room(const format::PagedColumn& paged, const PageConversion& conversion,
                   uint64_t rows);

/// Where these lie.
struct PagePlaces {
    DeviceAddress packed = 0;
    DeviceAddress plain = 0;
    DeviceAddress values = 0;
    DeviceAddress valid = 0;
};

/// What kernels have to do before pieces can be read.
struct PageWork {
    std::vector<PageBlock> blocks;
    std::vector<EncodedRows> pages;
};

/// Adds the pages of a row group, which become piece number `piece`. False if they are not for
/// kernels: texts without a dictionary, more bytes than there is room for. Places of pages that are
/// not compressed by what kernels decompress are counted from `plain`.
bool add_pages(std::span<const format::EncodedPage> pages, const format::PagedColumn& paged,
               const PageConversion& conversion, const PagePlaces& places, uint32_t piece,
               PageWork& work);

/// Reads a column's pages, decompresses them and sends them to `to`, where there is room for as
/// many bytes as the file says. Returns the pages as they are there, one behind the other and not
/// compressed. `walk` has not taken any bytes. Raises base::Error.
std::vector<format::EncodedPage> send_decompressed(io::File& file, const format::PagedColumn& paged,
                                                   format::PageWalk& walk, DeviceAddress to,
                                                   UploadRing& ring);

/// Returns the text of the kernels that decompress and decode.
const char* page_kernels_text();

}  // namespace loom::gpu
