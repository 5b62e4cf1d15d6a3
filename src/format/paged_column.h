#pragma once
// Columns that lie in a file as pages of encoded values, for those who decode the pages themselves.

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "column/column_view.h"
#include "format/codec/codec.h"

namespace loom::format {

/// Bytes of a file.
struct FileRange {
    uint64_t offset = 0;
    uint64_t length = 0;
};

/// How one column of one row group lies in pages. Rows have a value or none; nothing is nested.
struct PagedColumn {
    /// What a page stores of a value.
    enum class Values : uint8_t {
        kBits,   ///< booleans
        kInt32,  ///< little-endian
        kInt64,  ///< little-endian
        kFixed,  ///< `width` bytes, at most 16, a big-endian number
        kBytes   ///< bytes of any length
    };
    /// How that becomes a value of the column's type.
    enum class Step : uint8_t {
        kSame,
        kLowBits,  ///< of an integer as many as the type has
        kNumber    ///< the same number; one that does not fit the type is kCorrupt
    };

    FileRange bytes;          ///< within the file as it was when it was opened
    uint64_t page_bytes = 0;  ///< those of all pages decompressed, as the file says; not checked
    codec::Codec codec = codec::Codec::kNone;
    Values values = Values::kBytes;
    Step step = Step::kSame;
    int width = 0;          ///< bytes a value takes in a page; 0 for kBits and kBytes
    bool nullable = false;  ///< pages have definition levels of one bit
};

/// A page. Its places are within the bytes of the column.
struct EncodedPage {
    enum class Kind : uint8_t {
        kDictionary,
        kData,   ///< levels (their length in 4 bytes before them) and values, compressed together
        kDataV2  ///< levels, then values, compressed alone
    };
    enum class Encoding : uint8_t {
        kPlain,
        kCodes,  ///< of the dictionary: the width in a byte, then hybrid runs
        kRuns,   ///< hybrid runs of one bit, their length in 4 bytes before them
        kDelta,  ///< DELTA_BINARY_PACKED
        kSplit   ///< BYTE_STREAM_SPLIT
    };
    Kind kind = Kind::kData;
    Encoding encoding = Encoding::kPlain;
    bool compressed = false;   ///< by the column's codec
    uint64_t offset = 0;       ///< behind the header
    uint32_t bytes = 0;        ///< of levels and values
    uint32_t level_bytes = 0;  ///< of kDataV2: the first of these
    uint32_t plain_bytes = 0;  ///< as many as `bytes` become
    uint32_t count = 0;        ///< rows, or entries of a dictionary
};

/// Finds the pages of a column as its bytes come by. For one thread. Raises kCorrupt or
/// kUnsupported for whatever is not as EncodedPage says; that a column is refused here does not
/// mean that it cannot be read, only that open_column() has to say so.
class PageWalk {
  public:
    virtual ~PageWalk() = default;

    /// Takes the next bytes of the column; base::kBufferSlack bytes behind them can be read.
    virtual void take(base::ByteSpan bytes) = 0;
    /// Returns the pages that have rows, and a dictionary in front of them, in their order, when
    /// all bytes have come by.
    virtual std::span<const EncodedPage> finish() = 0;
    /// Returns the dictionary, in the column's type, of a column of kBytes that has one. Lives as
    /// long as the walk.
    virtual const column::Dictionary& dictionary() = 0;
};

}  // namespace loom::format
