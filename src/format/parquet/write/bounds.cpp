#include "format/parquet/write/bounds.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace loom::parquet::write {

namespace {

float half_to_float(uint16_t half) noexcept {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    const int exponent = half >> 10 & 0x1f;
    const int fraction = half & 0x3ff;
    float magnitude;
    if (exponent == 0)
        magnitude = std::ldexp(static_cast<float>(fraction), -24);
    else if (exponent == 31)
        magnitude = fraction == 0 ? INFINITY : NAN;
    else
        magnitude = std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return sign == 0 ? magnitude : -magnitude;
}

template <typename T>
int three_way(T a, T b) noexcept {
    return a < b ? -1 : a > b ? 1 : 0;
}

int compare_big_endian(std::string_view a, std::string_view b) noexcept {
    const bool a_negative = !a.empty() && (a[0] & 0x80) != 0;
    const bool b_negative = !b.empty() && (b[0] & 0x80) != 0;
    if (a_negative != b_negative) return a_negative ? -1 : 1;
    return a.compare(b);  // equal lengths: two's complement orders as unsigned within one sign
}

template <typename T>
std::string plain_form(T value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Finds bounds of n values at(0) .. at(n - 1) of an arithmetic type; NaN compares false.
template <typename T, typename At>
Bounds number_bounds(int64_t n, At at) {
    int64_t i = 0;
    if constexpr (std::is_floating_point_v<T>)
        while (i < n && std::isnan(at(i))) ++i;
    if (i == n) return {};
    T min = at(i);
    T max = min;
    for (++i; i < n; ++i) {
        const T value = at(i);
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    if constexpr (std::is_floating_point_v<T>) {
        // parquet.thrift, ColumnOrder: a zero bound stands for both zeros.
        if (min == 0) min = T{-0.0};
        if (max == 0) max = T{0.0};
    }
    return {true, plain_form(min), plain_form(max)};
}

template <typename At>
Bounds half_bounds(int64_t n, At at) {
    uint16_t min = 0, max = 0;
    bool known = false;
    for (int64_t i = 0; i < n; ++i) {
        const uint16_t value = at(i);
        const float number = half_to_float(value);
        if (std::isnan(number)) continue;
        if (!known || number < half_to_float(min)) min = value;
        if (!known || number > half_to_float(max)) max = value;
        known = true;
    }
    if (!known) return {};
    if (half_to_float(min) == 0) min = 0x8000;
    if (half_to_float(max) == 0) max = 0;
    return {true, plain_form(min), plain_form(max)};
}

template <typename At>
Bounds bytes_bounds(const Leaf& leaf, int64_t n, At at) {
    if (n == 0) return {};
    std::string_view min = base::as_text(at(0));
    std::string_view max = min;
    for (int64_t i = 1; i < n; ++i) {
        const std::string_view value = base::as_text(at(i));
        if (compare(leaf, value, min) < 0) min = value;
        if (compare(leaf, value, max) > 0) max = value;
    }
    return {true, std::string(min), std::string(max)};
}

// `index(i)` says which value of the store is the i-th.
template <typename Index>
Bounds find_bounds(const Leaf& leaf, const ValueStore& values, int64_t n, Index index) {
    if (leaf.order == Order::kNone) return {};
    auto numbers = [&]<typename T>(T) {
        const T* base = reinterpret_cast<const T*>(values.fixed(0));
        return number_bounds<T>(n, [&](int64_t i) { return base[index(i)]; });
    };
    const bool is_unsigned = leaf.order == Order::kUnsigned;
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
            return numbers(uint8_t{});
        case PhysicalType::kInt32:
            return is_unsigned ? numbers(uint32_t{}) : numbers(int32_t{});
        case PhysicalType::kInt64:
            return is_unsigned ? numbers(uint64_t{}) : numbers(int64_t{});
        case PhysicalType::kFloat:
            return numbers(float{});
        case PhysicalType::kDouble:
            return numbers(double{});
        default:
            break;
    }
    if (leaf.order == Order::kFloat)
        return half_bounds(n,
                           [&](int64_t i) { return base::load<uint16_t>(values.fixed(index(i))); });
    return bytes_bounds(leaf, n, [&](int64_t i) { return values.bytes(index(i)); });
}

// Where the UTF-8 character that contains byte `at` begins.
size_t character_start(std::string_view text, size_t at) noexcept {
    while (at > 0 && (text[at] & 0xc0) == 0x80) --at;
    return at;
}

// Appends a code point as UTF-8.
void append_character(uint32_t code, std::string& out) {
    constexpr uint8_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
    const int tail = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    out.push_back(static_cast<char>(kLead[tail] | code >> (6 * tail)));
    for (int i = tail - 1; i >= 0; --i)
        out.push_back(static_cast<char>(0x80 | (code >> (6 * i) & 0x3f)));
}

// Decodes a character of up to 4 bytes; false unless it is well-formed, i.e. encodes back to
// itself.
bool decode_character(std::string_view bytes, uint32_t& code) {
    if (bytes.size() > 4) return false;
    const auto lead = static_cast<uint8_t>(bytes[0]);
    code = bytes.size() == 1 ? lead : lead & (0x7f >> bytes.size());
    for (const char byte : bytes.substr(1)) code = code << 6 | (static_cast<uint8_t>(byte) & 0x3f);
    std::string again;
    append_character(code, again);
    return again == bytes;
}

bool raise_text(std::string& text) {
    while (!text.empty()) {
        const size_t at = character_start(text, text.size() - 1);
        uint32_t code = 0;
        const bool valid = decode_character(std::string_view(text).substr(at), code);
        text.resize(at);
        if (!valid || code >= 0x10ffff) continue;
        code = code == 0xd7ff ? 0xe000 : code + 1;  // surrogates are no characters
        append_character(code, text);
        return true;
    }
    return false;
}

bool raise_bytes(std::string& bytes) {
    while (!bytes.empty() && static_cast<uint8_t>(bytes.back()) == 0xff) bytes.pop_back();
    if (bytes.empty()) return false;
    bytes.back() = static_cast<char>(static_cast<uint8_t>(bytes.back()) + 1);
    return true;
}

bool is_text(const Leaf& leaf) {
    return leaf.type->id == column::TypeId::kUtf8;
}

bool may_cut(const Leaf& leaf, const std::string& value, size_t limit) {
    return leaf.physical == PhysicalType::kByteArray && value.size() > limit;
}

std::string cut(const Leaf& leaf, const std::string& value, size_t limit) {
    return value.substr(0, is_text(leaf) ? character_start(value, limit) : limit);
}

}  // namespace

Bounds bounds_of(const Leaf& leaf, const ValueStore& values, int64_t begin, int64_t end) {
    return find_bounds(leaf, values, end - begin, [begin](int64_t i) { return begin + i; });
}

Bounds bounds_of(const Leaf& leaf, const ValueStore& values, std::span<const uint32_t> indexes) {
    return find_bounds(leaf, values, static_cast<int64_t>(indexes.size()),
                       [indexes](int64_t i) { return static_cast<int64_t>(indexes[i]); });
}

int compare(const Leaf& leaf, std::string_view a, std::string_view b) noexcept {
    auto numbers = [&]<typename T>(T) {
        return three_way(base::load<T>(a.data()), base::load<T>(b.data()));
    };
    const bool is_unsigned = leaf.order == Order::kUnsigned;
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
            return numbers(uint8_t{});
        case PhysicalType::kInt32:
            return is_unsigned ? numbers(uint32_t{}) : numbers(int32_t{});
        case PhysicalType::kInt64:
            return is_unsigned ? numbers(uint64_t{}) : numbers(int64_t{});
        case PhysicalType::kFloat:
            return numbers(float{});
        case PhysicalType::kDouble:
            return numbers(double{});
        default:
            break;
    }
    if (leaf.order == Order::kFloat)
        return three_way(half_to_float(base::load<uint16_t>(a.data())),
                         half_to_float(base::load<uint16_t>(b.data())));
    // string_view compares as unsigned bytes.
    return leaf.order == Order::kBigEndian ? compare_big_endian(a, b) : a.compare(b);
}

void merge(const Leaf& leaf, const Bounds& more, Bounds& into) {
    if (!more.known) return;
    if (!into.known) {
        into = more;
        return;
    }
    if (compare(leaf, more.min, into.min) < 0) into.min = more.min;
    if (compare(leaf, more.max, into.max) > 0) into.max = more.max;
}

WrittenBound lower_bound(const Leaf& leaf, const std::string& value, size_t limit) {
    if (!may_cut(leaf, value, limit)) return {value, true};
    return {cut(leaf, value, limit), false};
}

WrittenBound upper_bound(const Leaf& leaf, const std::string& value, size_t limit) {
    if (!may_cut(leaf, value, limit)) return {value, true};
    std::string shorter = cut(leaf, value, limit);
    if (is_text(leaf) ? raise_text(shorter) : raise_bytes(shorter)) return {shorter, false};
    return {value, true};
}

}  // namespace loom::parquet::write
