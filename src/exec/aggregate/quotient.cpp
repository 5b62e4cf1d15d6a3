#include "exec/aggregate/quotient.h"

#include <algorithm>

namespace loom::exec {

namespace {

using Wide = unsigned __int128;

// PostgreSQL computes in digits of base 10,000 and wants at least 16 significant decimal digits
// (numeric.h: NUMERIC_MIN_SIG_DIGITS; numeric.c: DEC_DIGITS).
constexpr int kMinSignificantDigits = 16;
constexpr int kDigitWidth = 4;

// The leading base-10,000 digit of a number and its place.
struct Leading {
    int weight = 0;
    int digit = 0;
};

Leading leading_digit(Wide magnitude, int scale) {
    if (magnitude == 0) return {};
    int digits = 0;
    for (Wide rest = magnitude; rest != 0; rest /= 10) ++digits;
    const int exponent = digits - 1 - scale;  // of the leading decimal digit
    Leading leading;
    leading.weight =
        exponent >= 0 ? exponent / kDigitWidth : -((-exponent + kDigitWidth - 1) / kDigitWidth);
    int shift = scale + leading.weight * kDigitWidth;  // decimal digits below the leading one
    Wide value = magnitude;
    for (; shift > 0; --shift) value /= 10;
    for (; shift < 0; ++shift) value *= 10;
    leading.digit = static_cast<int>(value);
    return leading;
}

}  // namespace

bool divide(__int128 sum, int scale, int64_t count, plan::Decimal* quotient) {
    const bool negative = sum < 0;
    const Wide magnitude = negative ? -static_cast<Wide>(sum) : static_cast<Wide>(sum);
    const auto divisor = static_cast<Wide>(count);
    const Leading above = leading_digit(magnitude, scale);
    const Leading below = leading_digit(divisor, 0);
    int weight = above.weight - below.weight;
    if (above.digit <= below.digit) --weight;
    const int result_scale = std::max({kMinSignificantDigits - weight * kDigitWidth, scale, 0});

    Wide value = magnitude / divisor;
    Wide rest = magnitude % divisor;
    for (int i = scale; i < result_scale; ++i) {
        rest *= 10;  // the divisor is below 2^63
        const Wide digit = rest / divisor;
        if (value > (static_cast<Wide>(-1) >> 1) / 10 - 1) return false;
        value = value * 10 + digit;
        rest %= divisor;
    }
    if (rest * 2 >= divisor) ++value;
    if (value > (static_cast<Wide>(-1) >> 1)) return false;
    quotient->unscaled = negative ? -static_cast<__int128>(value) : static_cast<__int128>(value);
    quotient->scale = result_scale;
    return true;
}

}  // namespace loom::exec
