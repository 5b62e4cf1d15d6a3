#pragma once
// What a leaf column stores, what it means, and how one becomes the other.

#include <string>

#include "column/data_type.h"
#include "format/parquet/schema/metadata.h"

namespace loom::parquet {

/// The step from decoded physical values to values of the column's type.
enum class Conversion : uint8_t {
    kNone,            ///< the physical value is the value
    kBool,            ///< bytes 0 and 1 to a bitmap
    kNarrowInt,       ///< INT32 to 1 or 2 bytes
    kIntToDecimal,    ///< INT32 or INT64 to a decimal of another width
    kBytesToDecimal,  ///< big-endian bytes (fixed or not) to a decimal
    kInt96,           ///< nanoseconds of a Julian day to microseconds since 1970
    kInterval,        ///< three little-endian uint32: months, days, milliseconds
    kAllNull,         ///< the column's type says that no value is there
    kRefused          ///< see LeafType::refusal
};

/// A leaf's storage and meaning.
struct LeafType {
    PhysicalType physical = PhysicalType::kInt32;
    int32_t type_length = 0;  ///< kFixedLenByteArray: bytes a value
    column::TypePtr type;
    Conversion conversion = Conversion::kNone;
    std::string refusal;           ///< kRefused: why the column can't be read
    bool has_signed_order = true;  ///< integers compare as signed numbers

    /// Bytes of a decoded physical value: BOOLEAN 1, BYTE_ARRAY a BytesView, others as stored.
    int32_t physical_width() const noexcept;
    /// Bytes of a slot in ColumnView::values; 0 for bitmaps (and for fixed binaries of no bytes).
    int32_t logical_width() const noexcept;
};

/// Works out the type of a leaf. An annotation that does not suit the physical type, or that is not
/// known, is ignored. Raises kCorrupt for an impossible physical type.
LeafType make_leaf_type(const SchemaElement& element);

/// Returns the logical type of an element, taken from the old converted type where there is no new
/// one.
LogicalType effective_logical_type(const SchemaElement& element);

/// Prints physical and logical type as the format names them, e.g. `INT64 TIMESTAMP`.
std::string describe_type(const SchemaElement& element);

}  // namespace loom::parquet
