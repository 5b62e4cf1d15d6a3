#pragma once
// One value outside a column: bounds in statistics, constants in conditions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace loom::column {

using Int128 = __int128;

/// A value in the domain of a column's DataType:
///  kInt    booleans (0, 1), all integers, dates, times, timestamps, durations, decimals
///  (unscaled);
///          in the type's own unit and scale
///  kFloat  float16, float32, float64
///  kBytes  utf8, binary, fixed binary
struct Scalar {
    enum class Kind : uint8_t { kNone, kInt, kFloat, kBytes };

    Kind kind = Kind::kNone;
    Int128 integer = 0;
    double number = 0;
    std::string bytes;

    static Scalar of_int(Int128 value) {
        Scalar s;
        s.kind = Kind::kInt;
        s.integer = value;
        return s;
    }
    static Scalar of_float(double value) {
        Scalar s;
        s.kind = Kind::kFloat;
        s.number = value;
        return s;
    }
    static Scalar of_bytes(std::string value) {
        Scalar s;
        s.kind = Kind::kBytes;
        s.bytes = std::move(value);
        return s;
    }
    bool known() const noexcept { return kind != Kind::kNone; }
};

/// Orders two scalars of one kind: negative, 0 or positive. Bytes as unsigned bytes; floats as
/// PostgreSQL does: -0 equals 0, NaN equals NaN and is larger than everything else.
int compare(const Scalar& a, const Scalar& b) noexcept;

/// Prints a 128-bit integer in decimal.
std::string to_string(Int128 value);

/// Parses a decimal integer that fits 128 bits; nothing but an optional sign and digits.
std::optional<Int128> parse_int128(std::string_view text) noexcept;

}  // namespace loom::column
