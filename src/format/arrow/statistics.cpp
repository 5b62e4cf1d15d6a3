#include "format/arrow/statistics.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace loom::arrow {

using column::DataType;
using column::Int128;
using column::Scalar;
using column::TypeId;
using format::ColumnStatistics;

namespace {

enum class Side : uint8_t { kMin, kMax };

struct IntRange {
    Int128 lo;
    Int128 hi;
};

// The values that a column of this type can hold; a bound outside is not a bound of this column.
IntRange range_of(const DataType& type) {
    switch (type.id) {
        case TypeId::kBool:
            return {0, 1};
        case TypeId::kUInt8:
            return {0, UINT8_MAX};
        case TypeId::kUInt16:
            return {0, UINT16_MAX};
        case TypeId::kUInt32:
            return {0, UINT32_MAX};
        case TypeId::kUInt64:
            return {0, UINT64_MAX};
        case TypeId::kDecimal:
            return {std::numeric_limits<Int128>::min(), std::numeric_limits<Int128>::max()};
        default:
            break;
    }
    const int bits = column::byte_width(type) * 8;
    const Int128 half = Int128{1} << (bits - 1);
    return {-half, half - 1};
}

bool is_int_like(TypeId id) {
    switch (id) {
        case TypeId::kBool:
        case TypeId::kDate32:
        case TypeId::kDate64:
        case TypeId::kTime:
        case TypeId::kTimestamp:
        case TypeId::kDuration:
            return true;
        default:
            return column::is_integer(id);
    }
}

Scalar parse_integer(std::string_view text, const DataType& type) {
    if (type.id == TypeId::kBool) {
        if (text == "t" || text == "true") return Scalar::of_int(1);
        if (text == "f" || text == "false") return Scalar::of_int(0);
    }
    const auto value = column::parse_int128(text);
    const IntRange range = range_of(type);
    if (!value || *value < range.lo || *value > range.hi) return {};
    return Scalar::of_int(*value);
}

// Reads "-12.345" in units of 10^-scale. Digits that the scale has no room for move the bound
// outward.
Scalar parse_decimal(std::string_view text, int scale, Side side) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    const size_t point = text.find('.');
    std::string digits(text.substr(0, point));
    std::string_view fraction = point == std::string_view::npos ? "" : text.substr(point + 1);
    if (scale < 0 || digits.empty() ||
        digits.find_first_not_of("0123456789") != std::string::npos ||
        fraction.find_first_not_of("0123456789") != std::string_view::npos)
        return {};
    const auto places = static_cast<size_t>(scale);
    bool more = false;
    for (size_t i = 0; i < places; ++i) digits += i < fraction.size() ? fraction[i] : '0';
    if (fraction.size() > places)
        more = fraction.substr(places).find_first_not_of('0') != std::string_view::npos;
    auto value = column::parse_int128(negative ? fmt::format("-{}", digits) : digits);
    if (!value) return {};
    if (more && negative == (side == Side::kMin)) {
        const Int128 step = side == Side::kMin ? -1 : 1;
        if (__builtin_add_overflow(*value, step, &*value)) return {};
    }
    return Scalar::of_int(*value);
}

Scalar parse_float(std::string_view text, const DataType& type, Trust trust, Side side) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || std::isnan(value)) return {};
    if (trust == Trust::kForeign && std::isfinite(value)) {
        // Six decimals: the value lay within 5e-7; a float16 or float32 may have been rounded
        // besides.
        const double relative = type.id == TypeId::kFloat16 ? 1e-3 : 1e-6;
        const double margin = std::max(1e-6, std::fabs(value) * relative);
        value += side == Side::kMin ? -margin : margin;
    }
    return Scalar::of_float(value);
}

Scalar parse_text(std::string_view text, Trust trust, Side side) {
    if (side == Side::kMin || trust == Trust::kOwn) return Scalar::of_bytes(std::string(text));
    // It may be the value, the value rounded up, or the value cut short: all are below this.
    std::string bound = after_prefix(std::string(text));
    return bound.empty() ? Scalar{} : Scalar::of_bytes(std::move(bound));
}

Scalar parse_bound(std::string_view text, const DataType& type, Trust trust, Side side) {
    if (is_int_like(type.id)) return parse_integer(text, type);
    switch (type.id) {
        case TypeId::kDecimal:
            return parse_decimal(text, type.scale, side);
        case TypeId::kFloat16:
        case TypeId::kFloat32:
        case TypeId::kFloat64:
            return parse_float(text, type, trust, side);
        case TypeId::kUtf8:
            return parse_text(text, trust, side);
        default:
            return {};
    }
}

std::string_view element(std::string_view list, int64_t index) {
    for (; index > 0; --index) {
        const size_t comma = list.find(',');
        if (comma == std::string_view::npos) return {};
        list.remove_prefix(comma + 1);
    }
    list = list.substr(0, list.find(','));
    while (list.starts_with(' ')) list.remove_prefix(1);
    while (list.ends_with(' ')) list.remove_suffix(1);
    return list;
}

}  // namespace

std::string after_prefix(std::string prefix) {
    while (!prefix.empty() && static_cast<uint8_t>(prefix.back()) == 0xFF) prefix.pop_back();
    if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<uint8_t>(prefix.back()) + 1);
    return prefix;
}

void parse_min_max(std::string_view text, const DataType& type, Trust trust,
                   ColumnStatistics& out) {
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) return;
    Scalar min = parse_bound(text.substr(0, comma), type, trust, Side::kMin);
    Scalar max = parse_bound(text.substr(comma + 1), type, trust, Side::kMax);
    // Bounds that cross were made by another order (signed for unsigned, say): use neither.
    if (min.known() && max.known() && column::compare(min, max) > 0) return;
    out.min = std::move(min);
    out.max = std::move(max);
    const bool exact = trust == Trust::kOwn && type.id != TypeId::kUtf8;
    out.min_exact = exact && out.min.known();
    out.max_exact = exact && out.max.known();
}

void parse_value_lists(std::string_view min_values, std::string_view max_values, int64_t batch,
                       const DataType& type, ColumnStatistics& out) {
    if (!is_int_like(type.id) && type.id != TypeId::kDecimal) return;
    Scalar min = parse_integer(element(min_values, batch), type);
    Scalar max = parse_integer(element(max_values, batch), type);
    if (min.known() && max.known() && column::compare(min, max) > 0) return;
    out.min = std::move(min);
    out.max = std::move(max);
}

void parse_detail(std::string_view text, ColumnStatistics& out) {
    if (text.size() < 4 || text[2] != ',') return;
    out.min_exact = text[0] == '1' && out.min.known();
    out.max_exact = text[1] == '1' && out.max.known();
    const auto nans = column::parse_int128(text.substr(3));
    if (nans && *nans >= 0 && *nans <= INT64_MAX) out.nan_count = static_cast<int64_t>(*nans);
}

}  // namespace loom::arrow
