#pragma once
// The types that the engine computes with. They are PostgreSQL's, in PostgreSQL's own units; what a
// file calls the same thing is column::DataType, and scans turn one into the other.

#include <cstdint>
#include <string>

namespace loom::plan {

/// A SQL type. Values are held as physical() says.
enum class TypeId : uint8_t {
    kBool,
    kInt2,
    kInt4,
    kInt8,
    kFloat4,
    kFloat8,
    kNumeric,      ///< unscaled integer of the type's scale, or Decimal
    kDate,         ///< days since 2000-01-01; the extremes of int32 are the infinities
    kTime,         ///< microseconds since midnight
    kTimestamp,    ///< microseconds since 2000-01-01; the extremes of int64 are the infinities
    kTimestampTz,  ///< as kTimestamp, UTC
    kInterval,     ///< Interval
    kText,         ///< text and varchar; valid UTF-8, compared by bytes
    kBpchar,       ///< char(n), with its trailing blanks
    kBytea,
    kUuid,  ///< 16 bytes
    /// A value of another type of PostgreSQL's, which the engine hands on and never looks into: an
    /// array or composite, say. Type::oid says of which, Type::scale is its pg_type.typlen: -1 for
    /// the bytes behind a varlena's header, else so many bytes.
    kOpaque,
    kOpaqueWord  ///< likewise of a type that is passed by value: the datum
};

struct Type {
    TypeId id = TypeId::kInt4;
    uint8_t precision = 0;  ///< kNumeric: digits in all, 1 to kMaxPrecision; 0: Decimal
    int16_t scale = 0;      ///< kNumeric: digits after the point, 0 to precision; see kOpaque
    uint32_t oid = 0;       ///< kOpaque, kOpaqueWord: of pg_type

    bool operator==(const Type&) const = default;
};

/// Digits that a numeric of the engine can have. What needs more is computed by PostgreSQL.
inline constexpr int kMaxPrecision = 38;
/// Digits that fit 64 bits.
inline constexpr int kMaxPrecision64 = 18;

/// Digits behind the point that a Decimal can have; PostgreSQL chooses no more for a quotient.
inline constexpr int kMaxDecimalScale = 1000;

/// How a value lies in memory.
enum class Physical : uint8_t {
    kBool,     ///< one byte, 0 or 1
    kInt16,    ///< int2
    kInt32,    ///< int4, date
    kInt64,    ///< int8, time, timestamps, numeric of up to 18 digits, kOpaqueWord
    kInt128,   ///< numeric of 19 to 38 digits
    kDecimal,  ///< Decimal: numeric whose display scale differs from value to value
    kFloat32,  ///< float4
    kFloat64,  ///< float8
    kBytes,    ///< column::BytesView: text, bpchar, bytea, kOpaque
    kInterval,
    kUuid
};

/// PostgreSQL's interval: three parts that are not normalised.
struct Interval {
    int64_t microseconds = 0;
    int32_t days = 0;
    int32_t months = 0;
};

/// A numeric with a scale of its own: quotients, averages, choices between values of different
/// scales, columns without a modifier. At most kMaxPrecision digits, at most kMaxDecimalScale of
/// them behind the point.
struct Decimal {
    __int128 unscaled = 0;
    int64_t scale = 0;
};

struct Uuid {
    uint8_t bytes[16] = {};
};

constexpr Type make_type(TypeId id) {
    return {id, 0, 0, 0};
}
constexpr Type make_numeric(int precision, int scale) {
    return {TypeId::kNumeric, static_cast<uint8_t>(precision), static_cast<int16_t>(scale), 0};
}

/// numeric whose values have scales of their own.
constexpr Type make_decimal() {
    return {TypeId::kNumeric, 0, 0, 0};
}
constexpr bool is_decimal(Type type) {
    return type.id == TypeId::kNumeric && type.precision == 0;
}

/// A type that the engine only hands on; `length` is its pg_type.typlen, -1 for a varlena.
constexpr Type make_opaque(uint32_t oid, int16_t length, bool by_value) {
    return {by_value ? TypeId::kOpaqueWord : TypeId::kOpaque, 0, length, oid};
}
constexpr bool is_opaque(Type type) {
    return type.id == TypeId::kOpaque || type.id == TypeId::kOpaqueWord;
}
/// The value is what lies behind the header of a varlena.
constexpr bool is_opaque_varlena(Type type) {
    return type.id == TypeId::kOpaque && type.scale == -1;
}

Physical physical(Type type) noexcept;
/// Returns the bytes that one value takes (16 for kBytes: the view; 32 for kDecimal).
int width(Physical physical) noexcept;
inline bool is_text(TypeId id) noexcept {
    return id == TypeId::kText || id == TypeId::kBpchar;
}

/// Prints a type as PostgreSQL names it, e.g. `numeric(12,2)`.
std::string to_string(Type type);

}  // namespace loom::plan
