#pragma once
// The structs of Parquet's metadata, as the file states them (parquet.thrift). Numbers that index
// or size something are checked where they are used.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "format/codec/codec.h"
#include "format/parquet/thrift/compact_reader.h"

namespace loom::parquet {

enum class PhysicalType : uint8_t {
    kBoolean = 0,
    kInt32 = 1,
    kInt64 = 2,
    kInt96 = 3,
    kFloat = 4,
    kDouble = 5,
    kByteArray = 6,
    kFixedLenByteArray = 7
};

enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

enum class ConvertedType : int8_t {
    kNone = -1,
    kUtf8 = 0,
    kMap = 1,
    kMapKeyValue = 2,
    kList = 3,
    kEnum = 4,
    kDecimal = 5,
    kDate = 6,
    kTimeMillis = 7,
    kTimeMicros = 8,
    kTimestampMillis = 9,
    kTimestampMicros = 10,
    kUint8 = 11,
    kUint16 = 12,
    kUint32 = 13,
    kUint64 = 14,
    kInt8 = 15,
    kInt16 = 16,
    kInt32 = 17,
    kInt64 = 18,
    kJson = 19,
    kBson = 20,
    kInterval = 21
};

/// The branches of the LogicalType union. kUnknownFuture: one that this reader does not know.
enum class LogicalKind : uint8_t {
    kNone = 0,
    kString = 1,
    kMap = 2,
    kList = 3,
    kEnum = 4,
    kDecimal = 5,
    kDate = 6,
    kTime = 7,
    kTimestamp = 8,
    kInteger = 10,
    kNull = 11,
    kJson = 12,
    kBson = 13,
    kUuid = 14,
    kFloat16 = 15,
    kVariant = 16,
    kGeometry = 17,
    kGeography = 18,
    kUnknownFuture = 255
};

struct LogicalType {
    LogicalKind kind = LogicalKind::kNone;
    int32_t scale = 0;             ///< kDecimal
    int32_t precision = 0;         ///< kDecimal
    int32_t bit_width = 0;         ///< kInteger
    bool is_signed = true;         ///< kInteger
    bool adjusted_to_utc = false;  ///< kTime, kTimestamp
    int unit = 0;                  ///< kTime, kTimestamp: 1 ms, 2 us, 3 ns
};

struct SchemaElement {
    std::optional<int32_t> physical;
    int32_t type_length = 0;
    Repetition repetition = Repetition::kRequired;
    std::string name;
    int32_t child_count = 0;
    ConvertedType converted = ConvertedType::kNone;
    std::optional<int32_t> scale;
    std::optional<int32_t> precision;
    LogicalType logical;
};

enum class PageType : uint8_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3, kOther = 255 };

enum class PageEncoding : uint8_t {
    kPlain = 0,
    kPlainDictionary = 2,
    kRle = 3,
    kBitPacked = 4,
    kDeltaBinaryPacked = 5,
    kDeltaLengthByteArray = 6,
    kDeltaByteArray = 7,
    kRleDictionary = 8,
    kByteStreamSplit = 9,
    kOther = 255
};

inline bool is_dictionary(PageEncoding encoding) noexcept {
    return encoding == PageEncoding::kPlainDictionary || encoding == PageEncoding::kRleDictionary;
}
/// Returns the name that the format's specification gives.
std::string_view name(PageEncoding encoding) noexcept;
std::string_view name(PhysicalType type) noexcept;

/// Bounds as the file states them; spans point into the metadata they were read from.
struct RawStatistics {
    std::optional<base::ByteSpan> max;  ///< deprecated, signed byte order
    std::optional<base::ByteSpan> min;
    std::optional<base::ByteSpan> max_value;
    std::optional<base::ByteSpan> min_value;
    int64_t null_count = -1;
    int64_t distinct_count = -1;
    int64_t nan_count = -1;
    std::optional<bool> max_exact;
    std::optional<bool> min_exact;
};

struct EncodingCount {
    PageType page = PageType::kOther;
    PageEncoding encoding = PageEncoding::kOther;
    int64_t count = 0;
};

/// ColumnChunk and ColumnMetaData together. Spans point into the footer.
struct ColumnChunk {
    bool has_file_path = false;
    bool encrypted = false;
    bool has_metadata = false;
    int32_t physical = -1;
    std::vector<PageEncoding> encodings;
    int32_t codec = 0;
    int64_t value_count = 0;
    int64_t uncompressed_size = 0;
    int64_t compressed_size = 0;
    int64_t data_page_offset = 0;
    int64_t dictionary_page_offset = 0;  ///< 0: not stated
    RawStatistics statistics;
    std::vector<EncodingCount> encoding_counts;
    int64_t bloom_filter_offset = 0;
    int64_t bloom_filter_length = 0;
    int64_t offset_index_offset = 0;
    int32_t offset_index_length = 0;
    int64_t column_index_offset = 0;
    int32_t column_index_length = 0;
};

struct PageHeader {
    PageType type = PageType::kOther;
    int32_t uncompressed_size = 0;
    int32_t compressed_size = 0;
    std::optional<int32_t> crc;
    int32_t value_count = 0;  ///< data: slots (values, NULLs and empty lists); dictionary: entries
    int32_t null_count = -1;  ///< v2 only
    int32_t row_count = -1;   ///< v2 only
    PageEncoding encoding = PageEncoding::kOther;
    PageEncoding definition_encoding = PageEncoding::kRle;
    PageEncoding repetition_encoding = PageEncoding::kRle;
    int32_t definition_bytes = 0;  ///< v2 only
    int32_t repetition_bytes = 0;  ///< v2 only
    bool is_compressed = true;     ///< v2 only

    bool is_data() const noexcept { return type == PageType::kData || type == PageType::kDataV2; }
};

struct PageLocation {
    int64_t offset = 0;
    int32_t compressed_size = 0;
    int64_t first_row = 0;
};

/// Bounds per page; vectors have one entry a page, spans point into the bytes read.
struct ColumnIndex {
    std::vector<uint8_t> null_pages;
    std::vector<base::ByteSpan> min_values;
    std::vector<base::ByteSpan> max_values;
    std::vector<int64_t> null_counts;  ///< may be empty
    std::vector<int64_t> nan_counts;   ///< may be empty
};

struct RowOrder {
    int32_t leaf = 0;
    bool descending = false;
    bool nulls_first = false;
};

SchemaElement read_schema_element(thrift::CompactReader& in);
ColumnChunk read_column_chunk(thrift::CompactReader& in);
RowOrder read_row_order(thrift::CompactReader& in);
PageHeader read_page_header(thrift::CompactReader& in);
ColumnIndex read_column_index(thrift::CompactReader& in);
std::vector<PageLocation> read_offset_index(thrift::CompactReader& in);

/// Returns the codec that ColumnMetaData's number stands for. Raises kUnsupported.
codec::Codec codec_of(int32_t number);
/// As codec_of, as text that names every number.
std::string codec_name(int32_t number);

}  // namespace loom::parquet
