#pragma once
// SQL errors of values. A function that can fail takes a Fault& and sets bits of it, without a
// branch where a loop shall be vectorised; its result is then meaningless.

#include "sql/definition.h"

namespace loom::sql {

/// One bit each. A definition sets bits and never looks at them: loops share one Fault among rows.
enum FaultBits : uint32_t {
    kNoFault = 0,
    kInt2Range = 1U << 0,
    kInt4Range = 1U << 1,
    kInt8Range = 1U << 2,
    kDivisionByZero = 1U << 3,
    kFloatOverflow = 1U << 4,
    kFloatUnderflow = 1U << 5,
    kDateRange = 1U << 6,
    kTimestampRange = 1U << 7,
    kIntervalRange = 1U << 8,
    kNumericField = 1U << 9,
    kSubstringLength = 1U << 10,
    kLikeEscape = 1U << 11,
    kSquareRoot = 1U << 12,
    kLogOfZero = 1U << 13,
    kLogOfNegative = 1U << 14,
    kZeroToNegative = 1U << 15,
    kComplexPower = 1U << 16,
    kInfiniteDates = 1U << 17,
    kDateForTimestamp = 1U << 18,
    // Not errors of SQL: the engine cannot represent the result.
    kNumericDigits = 1U << 28,
    kNotAscii = 1U << 29,
    kOther = 1U << 30
};

class Fault {
  public:
    LOOM_SQL constexpr void raise(FaultBits bit, bool when = true) { bits_ |= when ? bit : 0U; }
    /// Raises kInt8Range if `sign` is negative: kept apart, so that a loop over 64-bit integers has
    /// lanes of one width.
    LOOM_SQL constexpr void raise_int8_range(int64_t sign) { int8_range_ |= sign; }
    LOOM_SQL constexpr void raise(const Fault& other) {
        bits_ |= other.bits_;
        int8_range_ |= other.int8_range_;
    }

    LOOM_SQL constexpr uint32_t bits() const { return bits_ | (int8_range_ < 0 ? kInt8Range : 0U); }

  private:
    uint32_t bits_ = 0;
    int64_t int8_range_ = 0;
};

/// PostgreSQL's SQLSTATE and message of the lowest bit; null for what is not an error of SQL.
struct FaultText {
    const char* sqlstate;
    const char* message;
};

LOOM_SQL constexpr FaultText fault_text(uint32_t bits) {
    if (bits & kInt2Range) return {"22003", "smallint out of range"};
    if (bits & kInt4Range) return {"22003", "integer out of range"};
    if (bits & kInt8Range) return {"22003", "bigint out of range"};
    if (bits & kDivisionByZero) return {"22012", "division by zero"};
    if (bits & kFloatOverflow) return {"22003", "value out of range: overflow"};
    if (bits & kFloatUnderflow) return {"22003", "value out of range: underflow"};
    if (bits & kDateRange) return {"22008", "date out of range"};
    if (bits & kTimestampRange) return {"22008", "timestamp out of range"};
    if (bits & kIntervalRange) return {"22008", "interval out of range"};
    if (bits & kNumericField) return {"22003", "numeric field overflow"};
    if (bits & kSubstringLength) return {"22011", "negative substring length not allowed"};
    if (bits & kLikeEscape) return {"22025", "LIKE pattern must not end with escape character"};
    if (bits & kSquareRoot) return {"2201F", "cannot take square root of a negative number"};
    if (bits & kLogOfZero) return {"2201E", "cannot take logarithm of zero"};
    if (bits & kLogOfNegative) return {"2201E", "cannot take logarithm of a negative number"};
    if (bits & kZeroToNegative) return {"2201F", "zero raised to a negative power is undefined"};
    if (bits & kComplexPower)
        return {"2201F", "a negative number raised to a non-integer power yields a complex result"};
    if (bits & kInfiniteDates) return {"22008", "cannot subtract infinite dates"};
    if (bits & kDateForTimestamp) return {"22008", "date out of range for timestamp"};
    return {nullptr, nullptr};
}

}  // namespace loom::sql
