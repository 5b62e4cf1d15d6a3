#include "exec/sort/order_words.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "exec/key.h"

namespace loom::exec {

using plan::Physical;

namespace {

constexpr uint64_t kSign = uint64_t{1} << 63;

uint64_t word_of(int64_t value) {
    return static_cast<uint64_t>(value) ^ kSign;
}

// NaN is above everything else; -0 equals 0.
uint64_t word_of(double value) {
    if (std::isnan(value)) return UINT64_MAX - 1;
    if (value == 0) value = 0;
    const auto bits = std::bit_cast<uint64_t>(value);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

uint64_t word_of(__int128 value) {
    return word_of(static_cast<int64_t>(std::clamp<__int128>(value, INT64_MIN, INT64_MAX)));
}

// The part before the point, rounded down.
uint64_t word_of(const plan::Decimal& value) {
    __int128 whole = value.unscaled;
    bool rest = false;
    for (int64_t digit = 0; digit < value.scale && whole != 0; ++digit) {
        rest = rest || whole % 10 != 0;
        whole /= 10;
    }
    if (rest && value.unscaled < 0) --whole;
    return word_of(whole);
}

uint64_t word_of_bytes(const uint8_t* data, int64_t size) {
    uint64_t word = 0;
    if (size > 0) std::memcpy(&word, data, static_cast<size_t>(std::min<int64_t>(size, 8)));
    return __builtin_bswap64(word);
}

template <typename T, typename As>
void fill(const Vector& vector, int64_t count, uint64_t* words) {
    const T* values = vector.as<T>();
    for (int64_t i = 0; i < count; ++i) words[i] = word_of(static_cast<As>(values[i]));
}

}  // namespace

bool words_are_prefixes(Physical physical) noexcept {
    return physical == Physical::kBytes || physical == Physical::kUuid ||
           physical == Physical::kDecimal;
}

void order_words(const Vector& vector, int64_t count, uint64_t* words, int64_t skip) noexcept {
    switch (plan::physical(vector.type)) {
        case Physical::kBool:
            return fill<uint8_t, int64_t>(vector, count, words);
        case Physical::kInt16:
            return fill<int16_t, int64_t>(vector, count, words);
        case Physical::kInt32:
            return fill<int32_t, int64_t>(vector, count, words);
        case Physical::kInt64:
            return fill<int64_t, int64_t>(vector, count, words);
        case Physical::kInt128:
            return fill<__int128, __int128>(vector, count, words);
        case Physical::kFloat32:
            return fill<float, double>(vector, count, words);
        case Physical::kFloat64:
            return fill<double, double>(vector, count, words);
        case Physical::kDecimal:
            for (int64_t i = 0; i < count; ++i)
                words[i] = vector.is_null(i) ? 0 : word_of(vector.as<plan::Decimal>()[i]);
            return;
        case Physical::kInterval:
            for (int64_t i = 0; i < count; ++i)
                words[i] = word_of(interval_span(vector.as<plan::Interval>()[i]));
            return;
        case Physical::kUuid:
            for (int64_t i = 0; i < count; ++i)
                words[i] = word_of_bytes(vector.as<uint8_t>() + i * 16, 8);
            return;
        case Physical::kBytes:
            for (int64_t i = 0; i < count; ++i) {
                if (vector.is_null(i)) {
                    words[i] = 0;
                    continue;
                }
                auto bytes = vector.as<column::BytesView>()[i];
                if (vector.type.id == plan::TypeId::kBpchar) bytes = without_blanks(bytes);
                // Without its blanks a value may be shorter than the bytes that all begin with.
                words[i] =
                    bytes.size > skip ? word_of_bytes(bytes.data + skip, bytes.size - skip) : 0;
            }
            return;
    }
}

}  // namespace loom::exec
