#include "column/scalar.h"

#include <algorithm>
#include <cmath>

namespace loom::column {

namespace {
int compare_floats(double a, double b) noexcept {
    if (std::isnan(a)) return std::isnan(b) ? 0 : 1;
    if (std::isnan(b)) return -1;
    return a < b ? -1 : a > b ? 1 : 0;
}
}  // namespace

int compare(const Scalar& a, const Scalar& b) noexcept {
    switch (a.kind) {
        case Scalar::Kind::kInt:
            return a.integer < b.integer ? -1 : a.integer > b.integer ? 1 : 0;
        case Scalar::Kind::kFloat:
            return compare_floats(a.number, b.number);
        case Scalar::Kind::kBytes:
            return a.bytes.compare(b.bytes);
        case Scalar::Kind::kNone:
            return 0;
    }
    return 0;
}

std::string to_string(Int128 value) {
    if (value == 0) return "0";
    const bool negative = value < 0;
    auto magnitude = static_cast<unsigned __int128>(value);
    if (negative) magnitude = -magnitude;
    std::string digits;
    for (; magnitude != 0; magnitude /= 10)
        digits += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    if (negative) digits += '-';
    std::reverse(digits.begin(), digits.end());
    return digits;
}

std::optional<Int128> parse_int128(std::string_view text) noexcept {
    bool negative = false;
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        negative = text[0] == '-';
        text.remove_prefix(1);
    }
    if (text.empty()) return std::nullopt;
    Int128 value = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        if (__builtin_mul_overflow(value, Int128{10}, &value)) return std::nullopt;
        const Int128 digit = c - '0';
        if (negative ? __builtin_sub_overflow(value, digit, &value)
                     : __builtin_add_overflow(value, digit, &value))
            return std::nullopt;
    }
    return value;
}

}  // namespace loom::column
