#pragma once
// Values as keys of joins and groups: how two are compared, and words that are equal exactly where
// the values are.

#include <cstdint>
#include <cstring>

#include "exec/hash.h"
#include "exec/vector.h"
#include "sql/text_compare.h"

namespace loom::exec {

/// Returns the 64-bit word that stands for row `row` of a plain vector whose values take at most 8
/// bytes; equal words mean equal values.
inline uint64_t key_word(const Vector& vector, plan::Physical physical, int64_t row) noexcept {
    switch (physical) {
        case plan::Physical::kBool:
            return vector.as<uint8_t>()[row];
        case plan::Physical::kInt16:
            return static_cast<uint64_t>(int64_t{vector.as<int16_t>()[row]});
        case plan::Physical::kInt32:
            return static_cast<uint64_t>(int64_t{vector.as<int32_t>()[row]});
        case plan::Physical::kInt64:
            return static_cast<uint64_t>(vector.as<int64_t>()[row]);
        case plan::Physical::kFloat32:
            return float_key(vector.as<float>()[row]);
        case plan::Physical::kFloat64:
            return float_key(vector.as<double>()[row]);
        default:
            return 0;
    }
}

inline bool is_integer(plan::Physical physical) noexcept {
    return physical == plan::Physical::kInt16 || physical == plan::Physical::kInt32 ||
           physical == plan::Physical::kInt64;
}

/// Returns a decimal without trailing zeros: equal numbers become equal.
inline plan::Decimal normalised(plan::Decimal value) noexcept {
    if (value.unscaled == 0) return {};
    constexpr struct {
        int digits;
        int64_t factor;
    } kSteps[] = {{16, 10'000'000'000'000'000}, {8, 100'000'000}, {4, 10'000}, {2, 100}, {1, 10}};
    for (const auto& [digits, factor] : kSteps)
        while (value.scale >= digits && value.unscaled % factor == 0) {
            value.unscaled /= factor;
            value.scale -= digits;
        }
    return value;
}

/// Intervals are compared by their length with months of 30 days and days of 24 hours.
inline __int128 interval_span(const plan::Interval& value) noexcept {
    const __int128 days = static_cast<__int128>(value.months) * 30 + value.days;
    return days * 86'400'000'000 + value.microseconds;
}

/// Returns a value of char(n) as far as it counts.
inline column::BytesView without_blanks(column::BytesView bytes) noexcept {
    const sql::Bytes counting = sql::without_padding({bytes.data, bytes.size});
    return {counting.data, counting.size};
}

/// Orders two values of a type of bytes: below 0, 0, above 0.
inline int compare_texts(column::BytesView a, column::BytesView b, plan::Type type) noexcept {
    if (type.id == plan::TypeId::kBpchar) {
        a = without_blanks(a);
        b = without_blanks(b);
    }
    return a.text().compare(b.text());
}

/// Hashes row `row` of a plain vector. Values of char(n) are equal here if all of their bytes are,
/// which is so where they have one n.
inline uint64_t key_hash(const Vector& vector, plan::Physical physical, int64_t row) noexcept {
    switch (physical) {
        case plan::Physical::kBytes: {
            const auto& bytes = vector.as<column::BytesView>()[row];
            return hash_bytes(bytes.data, bytes.size);
        }
        case plan::Physical::kInt128:
        case plan::Physical::kUuid: {
            uint64_t words[2];
            std::memcpy(words, vector.as<uint8_t>() + row * 16, sizeof words);
            return combine(mix(words[0]), words[1]);
        }
        case plan::Physical::kInterval: {
            const __int128 span = interval_span(vector.as<plan::Interval>()[row]);
            return combine(mix(static_cast<uint64_t>(span)), static_cast<uint64_t>(span >> 64));
        }
        case plan::Physical::kDecimal: {
            const plan::Decimal value = normalised(vector.as<plan::Decimal>()[row]);
            const auto high = static_cast<uint64_t>(value.unscaled >> 64);
            return combine(combine(mix(static_cast<uint64_t>(value.unscaled)), high),
                           static_cast<uint64_t>(value.scale));
        }
        default:
            return mix(key_word(vector, physical, row));
    }
}

/// Compares bytes that are probably equal, and few.
inline bool bytes_equal(const uint8_t* a, const uint8_t* b, int64_t size) noexcept {
    if (size < 8) return short_word(a, size) == short_word(b, size);
    // A call costs more than it saves up to here.
    if (size > 256) return std::memcmp(a, b, static_cast<size_t>(size)) == 0;
    const auto differs = [&](int64_t at) {
        uint64_t x;
        uint64_t y;
        std::memcpy(&x, a + at, sizeof x);
        std::memcpy(&y, b + at, sizeof y);
        return x ^ y;
    };
    if (size < 16) return (differs(0) | differs(size - 8)) == 0;
    uint64_t low = differs(size - 16);  // these overlap those before
    uint64_t high = differs(size - 8);
    for (int64_t at = 0; at + 16 < size; at += 16) {
        low |= differs(at);
        high |= differs(at + 8);
    }
    return (low | high) == 0;
}

/// Compares two values of one physical type for equality.
inline bool key_equal(const Vector& a, int64_t a_row, const Vector& b, int64_t b_row,
                      plan::Physical physical) noexcept {
    switch (physical) {
        case plan::Physical::kBytes: {
            const auto& x = a.as<column::BytesView>()[a_row];
            const auto& y = b.as<column::BytesView>()[b_row];
            return x.size == y.size && bytes_equal(x.data, y.data, x.size);
        }
        case plan::Physical::kInt128:
        case plan::Physical::kUuid:
            return std::memcmp(a.as<uint8_t>() + a_row * 16, b.as<uint8_t>() + b_row * 16, 16) == 0;
        case plan::Physical::kInterval:
            return interval_span(a.as<plan::Interval>()[a_row]) ==
                   interval_span(b.as<plan::Interval>()[b_row]);
        case plan::Physical::kDecimal: {
            plan::Decimal x = a.as<plan::Decimal>()[a_row];
            plan::Decimal y = b.as<plan::Decimal>()[b_row];
            if (x.scale != y.scale) {
                x = normalised(x);
                y = normalised(y);
            }
            return x.unscaled == y.unscaled && x.scale == y.scale;
        }
        default:
            return key_word(a, physical, a_row) == key_word(b, physical, b_row);
    }
}

}  // namespace loom::exec
