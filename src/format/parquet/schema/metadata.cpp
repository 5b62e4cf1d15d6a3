#include "format/parquet/schema/metadata.h"

#include <fmt/format.h>

namespace loom::parquet {

using thrift::CompactReader;
using thrift::read_list;
using thrift::read_struct;
using thrift::Type;

namespace {

// Reads an enum's number; -1 stands for anything that does not fit a byte.
bool get_enum(CompactReader& in, Type type, int& out) {
    int64_t value;
    if (!in.get(type, value)) return false;
    out = value >= 0 && value < 255 ? static_cast<int>(value) : -1;
    return true;
}

PageEncoding encoding_of(int number) noexcept {
    return number >= 0 && number <= 9 && number != 1 ? static_cast<PageEncoding>(number)
                                                     : PageEncoding::kOther;
}

bool get_encoding(CompactReader& in, Type type, PageEncoding& out) {
    int number;
    if (!get_enum(in, type, number)) return false;
    out = encoding_of(number);
    return true;
}

bool get_page_type(CompactReader& in, Type type, PageType& out) {
    int number;
    if (!get_enum(in, type, number)) return false;
    out = number >= 0 && number <= 3 ? static_cast<PageType>(number) : PageType::kOther;
    return true;
}

template <typename T>
bool get_optional(CompactReader& in, Type type, std::optional<T>& out) {
    T value;
    if (!in.get(type, value)) return false;
    out = value;
    return true;
}

bool get_time_unit(CompactReader& in, Type type, int& unit) {
    if (type != Type::kStruct) return false;
    read_struct(in, [&](int id, Type) {
        unit = id;
        return false;
    });
    return true;
}

void read_logical_branch(CompactReader& in, LogicalType& out) {
    read_struct(in, [&](int id, Type type) {
        switch (out.kind) {
            case LogicalKind::kDecimal:
                return id == 1 ? in.get(type, out.scale) : id == 2 && in.get(type, out.precision);
            case LogicalKind::kTime:
            case LogicalKind::kTimestamp:
                return id == 1 ? in.get(type, out.adjusted_to_utc)
                               : id == 2 && get_time_unit(in, type, out.unit);
            case LogicalKind::kInteger:
                return id == 1 ? in.get(type, out.bit_width)
                               : id == 2 && in.get(type, out.is_signed);
            default:
                return false;
        }
    });
}

bool get_logical_type(CompactReader& in, Type type, LogicalType& out) {
    if (type != Type::kStruct) return false;
    read_struct(in, [&](int id, Type branch) {
        const bool known = id >= 1 && id <= 18 && id != 9;
        out.kind = known ? static_cast<LogicalKind>(id) : LogicalKind::kUnknownFuture;
        if (branch != Type::kStruct) return false;
        read_logical_branch(in, out);
        return true;
    });
    return true;
}

bool get_statistics(CompactReader& in, Type type, RawStatistics& out) {
    if (type != Type::kStruct) return false;
    read_struct(in, [&](int id, Type t) {
        switch (id) {
            case 1:
                return get_optional(in, t, out.max);
            case 2:
                return get_optional(in, t, out.min);
            case 3:
                return in.get(t, out.null_count);
            case 4:
                return in.get(t, out.distinct_count);
            case 5:
                return get_optional(in, t, out.max_value);
            case 6:
                return get_optional(in, t, out.min_value);
            case 7:
                return get_optional(in, t, out.max_exact);
            case 8:
                return get_optional(in, t, out.min_exact);
            case 9:
                return in.get(t, out.nan_count);
            default:
                return false;
        }
    });
    return true;
}

EncodingCount read_encoding_count(CompactReader& in) {
    EncodingCount out;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return get_page_type(in, type, out.page);
            case 2:
                return get_encoding(in, type, out.encoding);
            case 3:
                return in.get(type, out.count);
            default:
                return false;
        }
    });
    return out;
}

void read_column_metadata(CompactReader& in, ColumnChunk& out) {
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, out.physical);
            case 2:
                return read_list(in, type, Type::kI32, [&](uint32_t) {
                    out.encodings.push_back(encoding_of(static_cast<int>(in.zigzag())));
                });
            case 4:
                return in.get(type, out.codec);
            case 5:
                return in.get(type, out.value_count);
            case 6:
                return in.get(type, out.uncompressed_size);
            case 7:
                return in.get(type, out.compressed_size);
            case 9:
                return in.get(type, out.data_page_offset);
            case 11:
                return in.get(type, out.dictionary_page_offset);
            case 12:
                return get_statistics(in, type, out.statistics);
            case 13:
                return read_list(in, type, Type::kStruct, [&](uint32_t) {
                    out.encoding_counts.push_back(read_encoding_count(in));
                });
            case 14:
                return in.get(type, out.bloom_filter_offset);
            case 15:
                return in.get(type, out.bloom_filter_length);
            default:
                return false;
        }
    });
}

void read_data_page_header(CompactReader& in, PageHeader& out) {
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, out.value_count);
            case 2:
                return get_encoding(in, type, out.encoding);
            case 3:
                return get_encoding(in, type, out.definition_encoding);
            case 4:
                return get_encoding(in, type, out.repetition_encoding);
            default:
                return false;
        }
    });
}

void read_data_page_header_v2(CompactReader& in, PageHeader& out) {
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, out.value_count);
            case 2:
                return in.get(type, out.null_count);
            case 3:
                return in.get(type, out.row_count);
            case 4:
                return get_encoding(in, type, out.encoding);
            case 5:
                return in.get(type, out.definition_bytes);
            case 6:
                return in.get(type, out.repetition_bytes);
            case 7:
                return in.get(type, out.is_compressed);
            default:
                return false;
        }
    });
}

void read_dictionary_page_header(CompactReader& in, PageHeader& out) {
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, out.value_count);
            case 2:
                return get_encoding(in, type, out.encoding);
            default:
                return false;
        }
    });
}

}  // namespace

SchemaElement read_schema_element(CompactReader& in) {
    SchemaElement out;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return get_optional(in, type, out.physical);
            case 2:
                return in.get(type, out.type_length);
            case 3: {
                int number;
                if (!get_enum(in, type, number)) return false;
                if (number < 0 || number > 2)
                    base::corrupt("a column has the repetition {}", number);
                out.repetition = static_cast<Repetition>(number);
                return true;
            }
            case 4:
                return in.get(type, out.name);
            case 5:
                return in.get(type, out.child_count);
            case 6: {
                int number;
                if (!get_enum(in, type, number)) return false;
                if (number >= 0 && number <= 21) out.converted = static_cast<ConvertedType>(number);
                return true;
            }
            case 7:
                return get_optional(in, type, out.scale);
            case 8:
                return get_optional(in, type, out.precision);
            case 10:
                return get_logical_type(in, type, out.logical);
            default:
                return false;
        }
    });
    return out;
}

ColumnChunk read_column_chunk(CompactReader& in) {
    ColumnChunk out;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1: {
                base::ByteSpan path;
                if (!in.get(type, path)) return false;
                out.has_file_path = !path.empty();
                return true;
            }
            case 3:
                if (type != Type::kStruct) return false;
                out.has_metadata = true;
                read_column_metadata(in, out);
                return true;
            case 4:
                return in.get(type, out.offset_index_offset);
            case 5:
                return in.get(type, out.offset_index_length);
            case 6:
                return in.get(type, out.column_index_offset);
            case 7:
                return in.get(type, out.column_index_length);
            case 8:
            case 9:
                out.encrypted = true;
                return false;
            default:
                return false;
        }
    });
    return out;
}

RowOrder read_row_order(CompactReader& in) {
    RowOrder out;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return in.get(type, out.leaf);
            case 2:
                return in.get(type, out.descending);
            case 3:
                return in.get(type, out.nulls_first);
            default:
                return false;
        }
    });
    return out;
}

PageHeader read_page_header(CompactReader& in) {
    PageHeader out;
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return get_page_type(in, type, out.type);
            case 2:
                return in.get(type, out.uncompressed_size);
            case 3:
                return in.get(type, out.compressed_size);
            case 4:
                return get_optional(in, type, out.crc);
            case 5:
                if (type != Type::kStruct) return false;
                read_data_page_header(in, out);
                return true;
            case 7:
                if (type != Type::kStruct) return false;
                read_dictionary_page_header(in, out);
                return true;
            case 8:
                if (type != Type::kStruct) return false;
                read_data_page_header_v2(in, out);
                return true;
            default:
                return false;
        }
    });
    return out;
}

ColumnIndex read_column_index(CompactReader& in) {
    ColumnIndex out;
    auto binaries = [&](Type type, std::vector<base::ByteSpan>& to) {
        return read_list(in, type, Type::kBinary, [&](uint32_t) { to.push_back(in.binary()); });
    };
    auto numbers = [&](Type type, std::vector<int64_t>& to) {
        return read_list(in, type, Type::kI64, [&](uint32_t) { to.push_back(in.zigzag()); });
    };
    read_struct(in, [&](int id, Type type) {
        switch (id) {
            case 1:
                return read_list(in, type, Type::kTrue, [&](uint32_t) {
                    out.null_pages.push_back(in.list_boolean() ? 1 : 0);
                });
            case 2:
                return binaries(type, out.min_values);
            case 3:
                return binaries(type, out.max_values);
            case 5:
                return numbers(type, out.null_counts);
            case 8:
                return numbers(type, out.nan_counts);
            default:
                return false;
        }
    });
    return out;
}

std::vector<PageLocation> read_offset_index(CompactReader& in) {
    std::vector<PageLocation> out;
    auto location = [&](uint32_t) {
        PageLocation& page = out.emplace_back();
        read_struct(in, [&](int id, Type type) {
            switch (id) {
                case 1:
                    return in.get(type, page.offset);
                case 2:
                    return in.get(type, page.compressed_size);
                case 3:
                    return in.get(type, page.first_row);
                default:
                    return false;
            }
        });
    };
    read_struct(in, [&](int id, Type type) {
        return id == 1 && read_list(in, type, Type::kStruct, location);
    });
    return out;
}

std::string_view name(PageEncoding encoding) noexcept {
    switch (encoding) {
        case PageEncoding::kPlain:
            return "PLAIN";
        case PageEncoding::kPlainDictionary:
            return "PLAIN_DICTIONARY";
        case PageEncoding::kRle:
            return "RLE";
        case PageEncoding::kBitPacked:
            return "BIT_PACKED";
        case PageEncoding::kDeltaBinaryPacked:
            return "DELTA_BINARY_PACKED";
        case PageEncoding::kDeltaLengthByteArray:
            return "DELTA_LENGTH_BYTE_ARRAY";
        case PageEncoding::kDeltaByteArray:
            return "DELTA_BYTE_ARRAY";
        case PageEncoding::kRleDictionary:
            return "RLE_DICTIONARY";
        case PageEncoding::kByteStreamSplit:
            return "BYTE_STREAM_SPLIT";
        case PageEncoding::kOther:
            break;
    }
    return "UNKNOWN";
}

std::string_view name(PhysicalType type) noexcept {
    static constexpr std::string_view kNames[] = {
        "BOOLEAN", "INT32",  "INT64",      "INT96",
        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
    return kNames[static_cast<int>(type)];
}

std::string codec_name(int32_t number) {
    static constexpr std::string_view kNames[] = {"uncompressed", "snappy", "gzip", "lzo",
                                                  "brotli",       "lz4",    "zstd", "lz4_raw"};
    if (number >= 0 && number < 8) return std::string(kNames[number]);
    return fmt::format("codec {}", number);
}

codec::Codec codec_of(int32_t number) {
    switch (number) {
        case 0:
            return codec::Codec::kNone;
        case 1:
            return codec::Codec::kSnappy;
        case 2:
            return codec::Codec::kGzip;
        case 4:
            return codec::Codec::kBrotli;
        case 5:
            return codec::Codec::kLz4Hadoop;
        case 6:
            return codec::Codec::kZstd;
        case 7:
            return codec::Codec::kLz4Raw;
        default:
            break;
    }
    base::raise(base::ErrorKind::kUnsupported, "compression with {} is not supported",
                codec_name(number));
}

}  // namespace loom::parquet
