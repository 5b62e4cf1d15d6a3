#pragma once
// Numbers of the Parquet format (parquet.thrift) that the writer puts into files.

#include <cstdint>

namespace loom::parquet::write {

enum class PhysicalType : uint8_t {
    kBoolean = 0,
    kInt32 = 1,
    kInt64 = 2,
    kFloat = 4,
    kDouble = 5,
    kByteArray = 6,
    kFixed = 7
};

enum class Repetition : uint8_t { kRequired = 0, kOptional = 1, kRepeated = 2 };

enum class Encoding : uint8_t {
    kPlain = 0,
    kRle = 3,
    kDeltaBinaryPacked = 5,
    kDeltaLengthByteArray = 6,
    kDeltaByteArray = 7,
    kRleDictionary = 8,
    kByteStreamSplit = 9
};

enum class PageType : uint8_t { kData = 0, kDictionary = 2, kDataV2 = 3 };

/// How a leaf's values are ordered in statistics.
enum class Order : uint8_t {
    kNone,    ///< no order is defined: no bounds are written
    kSigned,  ///< booleans, signed integers, decimals in integers
    kUnsigned,
    kFloat,     ///< float16, float, double
    kBytes,     ///< unsigned bytes, shorter first
    kBigEndian  ///< decimals in fixed bytes: big-endian two's complement
};

/// Members of the LogicalType union.
enum class LogicalType : uint8_t {
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
    kUnknown = 11,
    kJson = 12,
    kBson = 13,
    kUuid = 14,
    kFloat16 = 15,
    kVariant = 16,
    kGeometry = 17,
    kGeography = 18
};

/// The older ConvertedType, still written for older readers; -1 for none.
enum ConvertedType : int8_t {
    kConvertedNone = -1,
    kConvertedUtf8 = 0,
    kConvertedMap = 1,
    kConvertedList = 3,
    kConvertedEnum = 4,
    kConvertedDecimal = 5,
    kConvertedDate = 6,
    kConvertedTimeMillis = 7,
    kConvertedTimeMicros = 8,
    kConvertedTimestampMillis = 9,
    kConvertedTimestampMicros = 10,
    kConvertedUint8 = 11,
    kConvertedInt8 = 15,
    kConvertedJson = 19,
    kConvertedInterval = 21
};

}  // namespace loom::parquet::write
