#pragma once
// How Parquet files are written.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "column/data_type.h"
#include "format/codec/codec.h"

namespace loom::parquet {

/// Encoding of values outside a dictionary.
enum class ValueEncoding : uint8_t {
    kPlain,
    kRle,  ///< booleans
    kDeltaBinaryPacked,
    kDeltaLengthByteArray,
    kDeltaByteArray,
    kByteStreamSplit
};

/// Choices for one column (all its leaves) or one leaf.
struct ColumnOptions {
    std::optional<codec::Codec> codec;  ///< instead of WriterOptions::codec
    std::optional<int> level;
    std::optional<bool> dictionary;
    /// Used where there is no dictionary; setting it turns the dictionary off unless `dictionary`
    /// says otherwise. Raises kBadOption for a type that does not allow it.
    std::optional<ValueEncoding> encoding;
    bool bloom_filter = false;
    double bloom_false_positives = 0.01;
};

enum class Direction : uint8_t { kAscending, kDescending };
enum class Nulls : uint8_t { kFirst, kLast };

/// States an order that the caller's rows have; the writer does not sort.
struct SortingColumn {
    std::string column;  ///< dotted path of a leaf
    Direction direction = Direction::kAscending;
    Nulls nulls = Nulls::kLast;
};

struct WriterOptions {
    int64_t row_group_rows = 122'880;
    codec::Codec codec = codec::Codec::kSnappy;
    int level = 0;  ///< 0: the codec's default
    /// Pages end at whichever comes first. A multiple of 4,096 rows keeps batches within pages.
    int64_t page_rows = 20'480;
    int64_t page_bytes = 1 << 20;
    int page_version = 1;  ///< 1 or 2
    bool page_index = true;
    bool checksums = false;  ///< CRC-32 in page headers
    bool dictionary = true;
    int64_t dictionary_bytes = 1 << 20;  ///< larger dictionaries are given up
    /// Keys are names of top-level columns or dotted paths of leaves; the path wins.
    std::map<std::string, ColumnOptions> columns;
    std::vector<SortingColumn> sorting;
    std::vector<column::KeyValue> metadata;  ///< besides the schema's own
    std::string created_by = "pg_loom version 1.0";
    int threads = 1;  ///< that encode columns side by side, the caller's included
};

}  // namespace loom::parquet
