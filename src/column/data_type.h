#pragma once
// Logical types of columns, close to Arrow's, independent of how a file stores them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::column {

/// What a value means. Dictionary, run-end and offset widths are encodings, not types.
enum class TypeId : uint8_t {
    kNull,  ///< every row is NULL
    kBool,  ///< bitmap
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kUInt8,
    kUInt16,
    kUInt32,
    kUInt64,
    kFloat16,  ///< IEEE half, 2 bytes
    kFloat32,
    kFloat64,
    kDecimal,               ///< unscaled little-endian integer of byte_width 4, 8, 16 or 32
    kDate32,                ///< int32 days since 1970-01-01
    kDate64,                ///< int64 milliseconds since 1970-01-01
    kTime,                  ///< byte_width 4 (s, ms) or 8 (us, ns) since midnight, in `unit`
    kTimestamp,             ///< int64 in `unit` since 1970-01-01; UTC instant if timezone is set
    kDuration,              ///< int64 in `unit`
    kIntervalMonths,        ///< int32 months
    kIntervalDayTime,       ///< int32 days, int32 milliseconds
    kIntervalMonthDayNano,  ///< int32 months, int32 days, int64 nanoseconds
    kUtf8,                  ///< BytesView of text; not yet validated as UTF-8
    kBinary,                ///< BytesView
    kFixedBinary,           ///< byte_width bytes
    kList,                  ///< offsets into children[0]
    kFixedList,             ///< list_size rows of children[0] per row
    kStruct,                ///< children row by row
    kMap,                   ///< offsets into children[0], a struct of key and value
    kSparseUnion,           ///< int8 child index per row, children row by row
    kDenseUnion             ///< int8 child index and offset per row
};

enum class TimeUnit : uint8_t { kSecond, kMilli, kMicro, kNano };

/// A meaning beyond the type that files state: Parquet logical types and Arrow extension types.
enum class Annotation : uint8_t {
    kNone,
    kUuid,
    kJson,
    kBson,
    kEnum,
    kGeometry,
    kGeography,
    kVariant
};

/// How an Arrow file lays a field out; other formats ignore it. Readers report it, writers obey it.
enum class Storage : uint8_t { kDefault, kLarge, kView, kRunEnd };

struct DataType;
using TypePtr = std::shared_ptr<const DataType>;

struct KeyValue {
    std::string key;
    std::string value;
    bool operator==(const KeyValue&) const = default;
};

/// A named column or a member of a nested type.
struct Field {
    std::string name;
    TypePtr type;
    bool nullable = true;
    Storage storage = Storage::kDefault;
    /// Dictionary encoding in an Arrow file: index width in bytes (1, 2, 4, 8), 0 for none.
    uint8_t dictionary_index_width = 0;
    std::vector<KeyValue> metadata;

    /// Returns the value of metadata `key`, or nullptr.
    const std::string* find_metadata(std::string_view key) const;
};

/// A type with its parameters. Only the members that its TypeId names have meaning.
struct DataType {
    TypeId id = TypeId::kNull;
    Annotation annotation = Annotation::kNone;
    TimeUnit unit = TimeUnit::kMicro;
    uint8_t byte_width8 = 0;         ///< kDecimal, kTime; see byte_width()
    int32_t fixed_width = 0;         ///< kFixedBinary: bytes a value, may be 0
    int32_t precision = 0;           ///< kDecimal: 1 to 76
    int32_t scale = 0;               ///< kDecimal: may be negative
    int32_t list_size = 0;           ///< kFixedList
    std::string timezone;            ///< kTimestamp: empty for a local time without zone
    std::vector<Field> children;     ///< nested types
    std::vector<int8_t> type_codes;  ///< unions: the file's code of each child
};

/// Returns the bytes a value takes in ColumnView::values for fixed-width types, 0 for kBool, kNull,
/// kUtf8, kBinary (BytesView) and nested types.
int32_t byte_width(const DataType& type) noexcept;

bool is_nested(TypeId id) noexcept;
inline bool is_bytes(TypeId id) noexcept {
    return id == TypeId::kUtf8 || id == TypeId::kBinary;
}
bool is_integer(TypeId id) noexcept;
bool is_signed_integer(TypeId id) noexcept;

/// Compares types with all parameters and child types; names of list and map members, metadata,
/// nullability and storage are not compared. Struct member names are.
bool equal(const DataType& a, const DataType& b) noexcept;

/// Prints a type for people, e.g. `decimal(12,2)`, `timestamp[us, UTC]`, `list<int32>`.
std::string to_string(const DataType& type);

TypePtr make_type(TypeId id);
TypePtr make_decimal(int precision, int scale,
                     int width_bytes = 0);  ///< 0: the narrowest that fits
TypePtr make_time(TimeUnit unit);
TypePtr make_timestamp(TimeUnit unit, std::string timezone = {});
TypePtr make_duration(TimeUnit unit);
TypePtr make_fixed_binary(int32_t width);
TypePtr make_list(Field element);
TypePtr make_fixed_list(Field element, int32_t list_size);
TypePtr make_struct(std::vector<Field> members);
TypePtr make_map(Field key, Field value);
TypePtr with_annotation(const DataType& type, Annotation annotation);

/// Returns the index of the struct's member called exactly `name`, else of the first that is so
/// called but for the case of ASCII letters, else -1.
int find_child(const DataType& type, std::string_view name) noexcept;

/// The columns of a table or file.
struct Schema {
    std::vector<Field> fields;
    std::vector<KeyValue> metadata;

    /// Returns the index of the first field called exactly `name`, or -1.
    int find(std::string_view name) const noexcept;
};

}  // namespace loom::column
