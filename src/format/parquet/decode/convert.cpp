#include "format/parquet/decode/convert.h"

#include <algorithm>
#include <cstring>

#include "base/bitmap.h"
#include "base/bytes.h"
#include "column/column_view.h"

namespace loom::parquet {

using base::load;
using base::store;
using column::BytesView;

namespace {

// INT32 to a narrower integer. What a value beyond the annotation's range means is undefined; the
// low bits are taken, as other readers do.
template <typename T>
void narrow(const uint8_t* from, int64_t count, uint8_t* to) {
    for (int64_t i = 0; i < count; ++i)
        store(to + i * static_cast<int64_t>(sizeof(T)),
              static_cast<T>(load<uint32_t>(from + i * 4)));
}

void narrow_integers(const LeafType& leaf, const uint8_t* from, int64_t count, uint8_t* to) {
    switch (leaf.type->id) {
        case column::TypeId::kInt8:
            return narrow<int8_t>(from, count, to);
        case column::TypeId::kUInt8:
            return narrow<uint8_t>(from, count, to);
        case column::TypeId::kInt16:
            return narrow<int16_t>(from, count, to);
        default:
            return narrow<uint16_t>(from, count, to);
    }
}

template <typename From, typename To>
void resize_integers(const uint8_t* from, int64_t count, uint8_t* to) {
    bool wrong = false;
    for (int64_t i = 0; i < count; ++i) {
        const auto value = load<From>(from + i * sizeof(From));
        const auto resized = static_cast<To>(value);
        wrong |= static_cast<From>(resized) != value;
        store(to + i * sizeof(To), resized);
    }
    if (wrong) base::corrupt("a decimal has more digits than the column's type");
}

template <typename From>
void integers_to_decimals(const LeafType& leaf, const uint8_t* from, int64_t count, uint8_t* to) {
    switch (leaf.logical_width()) {
        case 4:
            return resize_integers<From, int32_t>(from, count, to);
        case 8:
            return resize_integers<From, int64_t>(from, count, to);
        case 16:
            return resize_integers<From, __int128>(from, count, to);
        default:
            break;
    }
    for (int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<__int128>(load<From>(from + i * sizeof(From)));
        store(to + i * 32, value);
        store(to + i * 32 + 16, value >> 127);
    }
}

// Values of 1 to 16 bytes into 4, 8 or 16: the usual decimals. Loads whole words, up to 15 bytes
// behind the value (within the slack), and shifts what does not belong to it out.
template <typename To>
void fixed_to_decimals(const uint8_t* from, int64_t size, int64_t count, uint8_t* to) {
    for (int64_t i = 0; i < count; ++i, from += size, to += sizeof(To)) {
        const uint64_t high = __builtin_bswap64(load<uint64_t>(from));
        if constexpr (sizeof(To) == 16) {
            const uint64_t low = __builtin_bswap64(load<uint64_t>(from + 8));
            const auto bits = static_cast<unsigned __int128>(high) << 64 | low;
            store(to, static_cast<__int128>(bits) >> (128 - 8 * size));
        } else {
            store(to, static_cast<To>(static_cast<int64_t>(high) >> (64 - 8 * size)));
        }
    }
}

[[noreturn]] void raise_too_wide(int64_t size, const LeafType& leaf) {
    base::corrupt("a decimal of {} bytes does not fit {}", size, column::to_string(*leaf.type));
}

void fixed_bytes_to_decimals(const LeafType& leaf, const uint8_t* from, int64_t count,
                             uint8_t* to) {
    const int64_t size = leaf.type_length;
    const int width = leaf.logical_width();
    if (size >= 1 && size <= width && width <= 16) {
        if (width == 4) return fixed_to_decimals<int32_t>(from, size, count, to);
        if (width == 8) return fixed_to_decimals<int64_t>(from, size, count, to);
        return fixed_to_decimals<__int128>(from, size, count, to);
    }
    for (int64_t i = 0; i < count; ++i)
        if (!read_big_endian(from + i * size, size, width, to + i * width))
            raise_too_wide(size, leaf);
}

void bytes_to_decimals(const LeafType& leaf, const uint8_t* from, int64_t count, uint8_t* to) {
    const int width = leaf.logical_width();
    for (int64_t i = 0; i < count; ++i) {
        const auto value = load<BytesView>(from + i * static_cast<int64_t>(sizeof(BytesView)));
        if (!read_big_endian(value.data, value.size, width, to + i * width))
            raise_too_wide(value.size, leaf);
    }
}

// INT96: nanoseconds of the day (int64, negative in some old files), then the Julian day (uint32).
// Combined in microseconds and rounded down, as all nanoseconds are.
int64_t int96_to_micros(const uint8_t* from) {
    constexpr int64_t kJulianDayOf1970 = 2'440'588;
    constexpr int64_t kMicrosPerDay = 86'400'000'000;
    const auto nanos = load<int64_t>(from);
    const auto day = static_cast<int64_t>(load<uint32_t>(from + 8)) - kJulianDayOf1970;
    const int64_t micros = nanos / 1000 - (nanos % 1000 < 0 ? 1 : 0);
    int64_t result;
    if (__builtin_mul_overflow(day, kMicrosPerDay, &result) ||
        __builtin_add_overflow(result, micros, &result))
        base::raise(base::ErrorKind::kDatetimeRange, "timestamp out of range");
    return result;
}

void int96_to_timestamps(const uint8_t* from, int64_t count, uint8_t* to) {
    for (int64_t i = 0; i < count; ++i) store(to + i * 8, int96_to_micros(from + i * 12));
}

void to_intervals(const uint8_t* from, int64_t count, uint8_t* to) {
    for (int64_t i = 0; i < count; ++i, from += 12, to += 16) {
        const auto months = load<uint32_t>(from);
        const auto days = load<uint32_t>(from + 4);
        if (months > INT32_MAX || days > INT32_MAX)
            base::raise(base::ErrorKind::kDatetimeRange, "interval out of range");
        store(to, months);
        store(to + 4, days);
        store(to + 8, static_cast<int64_t>(load<uint32_t>(from + 8)) * 1'000'000);
    }
}

}  // namespace

bool read_big_endian(const uint8_t* from, int64_t size, int width, uint8_t* to) noexcept {
    const uint8_t sign = size > 0 && from[0] >= 0x80 ? 0xFF : 0;
    for (; size > width; --size)
        if (*from++ != sign) return false;
    if (size == width && size > 0 && (from[0] >= 0x80 ? 0xFF : 0) != sign) return false;
    for (int64_t i = 0; i < size; ++i) to[i] = from[size - 1 - i];
    std::memset(to + size, sign, static_cast<size_t>(width - size));
    return true;
}

void convert_values(const LeafType& leaf, const uint8_t* from, int64_t count, uint8_t* to) {
    switch (leaf.conversion) {
        case Conversion::kNarrowInt:
            return narrow_integers(leaf, from, count, to);
        case Conversion::kIntToDecimal:
            return leaf.physical == PhysicalType::kInt32
                       ? integers_to_decimals<int32_t>(leaf, from, count, to)
                       : integers_to_decimals<int64_t>(leaf, from, count, to);
        case Conversion::kBytesToDecimal:
            return leaf.physical == PhysicalType::kByteArray
                       ? bytes_to_decimals(leaf, from, count, to)
                       : fixed_bytes_to_decimals(leaf, from, count, to);
        case Conversion::kInt96:
            return int96_to_timestamps(from, count, to);
        case Conversion::kInterval:
            return to_intervals(from, count, to);
        case Conversion::kRefused:
            base::raise(base::ErrorKind::kUnsupported, "{}", leaf.refusal);
        case Conversion::kNone:
        case Conversion::kBool:
        case Conversion::kAllNull:
            break;
    }
    base::raise(base::ErrorKind::kBug, "a conversion without a kernel");
}

void pack_booleans(const uint8_t* from, int64_t count, uint8_t* bits, int64_t offset) noexcept {
    int64_t i = 0;
    for (; i < count && ((offset + i) & 7) != 0; ++i) base::put_bit(bits, offset + i, from[i] != 0);
    for (; i + 8 <= count; i += 8) {
        // Multiplication moves bit 0 of byte k to bit 56 + k; all partial sums are distinct bits.
        const uint64_t bytes = load<uint64_t>(from + i) & 0x0101010101010101U;
        bits[(offset + i) >> 3] = static_cast<uint8_t>(bytes * 0x0102040810204080U >> 56);
    }
    for (; i < count; ++i) base::put_bit(bits, offset + i, from[i] != 0);
}

}  // namespace loom::parquet
