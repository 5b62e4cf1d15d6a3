#include "digest.h"

#include <cmath>

#include <fmt/format.h>

#include "column/scalar.h"
#include "column/text.h"

namespace loom::file_tool {

using column::ColumnView;
using column::Int128;
using column::TypeId;

namespace {

bool is_float(TypeId id) {
    return id >= TypeId::kFloat16 && id <= TypeId::kFloat64;
}

bool is_int_like(const column::DataType& type) {
    switch (type.id) {
        case TypeId::kBool:
        case TypeId::kDate32:
        case TypeId::kDate64:
        case TypeId::kTime:
        case TypeId::kTimestamp:
        case TypeId::kDuration:
            return true;
        case TypeId::kDecimal:
            return type.byte_width8 <= 16;
        default:
            return column::is_integer(type.id);
    }
}

bool has_sum(TypeId id) {
    return id == TypeId::kBool || id == TypeId::kDecimal || column::is_integer(id);
}

// Follows runs and dictionary to the view and slot that hold the value.
std::pair<const ColumnView*, int64_t> slot_of(const ColumnView& view, int64_t row) {
    const int64_t slot = column::value_slot(view, row);
    if (view.dictionary == nullptr) return {&view, slot};
    return {&view.dictionary->values, view.code(slot)};
}

template <typename T>
T value_at(const ColumnView& view, int64_t slot) {
    return base::load<T>(view.as<uint8_t>() + slot * static_cast<int64_t>(sizeof(T)));
}

Int128 integer_at(const ColumnView& view, int64_t slot) {
    if (view.type->id == TypeId::kBool) return base::bit_at(view.as<uint8_t>(), slot) ? 1 : 0;
    const bool is_unsigned = view.type->id >= TypeId::kUInt8 && view.type->id <= TypeId::kUInt64;
    switch (column::byte_width(*view.type)) {
        case 1:
            return is_unsigned ? Int128{value_at<uint8_t>(view, slot)}
                               : value_at<int8_t>(view, slot);
        case 2:
            return is_unsigned ? Int128{value_at<uint16_t>(view, slot)}
                               : value_at<int16_t>(view, slot);
        case 4:
            return is_unsigned ? Int128{value_at<uint32_t>(view, slot)}
                               : value_at<int32_t>(view, slot);
        case 8:
            return is_unsigned ? Int128{value_at<uint64_t>(view, slot)}
                               : value_at<int64_t>(view, slot);
        default:
            return value_at<Int128>(view, slot);
    }
}

double float_at(const ColumnView& view, int64_t slot) {
    switch (view.type->id) {
        case TypeId::kFloat16:
            return column::half_to_float(value_at<uint16_t>(view, slot));
        case TypeId::kFloat32:
            return value_at<float>(view, slot);
        default:
            return value_at<double>(view, slot);
    }
}

// Counts characters of UTF-8, which is what the corpus cuts by.
size_t characters(std::string_view text) {
    size_t count = 0;
    for (char c : text) count += (static_cast<uint8_t>(c) & 0xC0) != 0x80;
    return count;
}

std::string cut(const std::string& text) {
    constexpr size_t kLongest = 200;
    constexpr size_t kShown = 120;
    const size_t length = characters(text);
    if (length <= kLongest) return text;
    size_t end = 0;
    for (size_t seen = 0; end < text.size(); ++end) {
        const bool starts = (static_cast<uint8_t>(text[end]) & 0xC0) != 0x80;
        if (starts && seen++ == kShown) break;
    }
    Md5 hash;
    hash.add(text);
    return fmt::format("{}…[{} chars, md5 {}]", text.substr(0, end), length, hash.finish());
}

}  // namespace

ColumnDigest::ColumnDigest(const column::DataType& type, const column::TextStyle& style)
    : type_(type), style_(style) {
    style_.hex_binary = true;
}

void ColumnDigest::keep(double key, const std::string& text) {
    auto less = [](double a, double b) { return std::isnan(a) ? false : std::isnan(b) || a < b; };
    if (!bounded_ || less(key, min_float_)) min_float_ = key, min_.assign(text);
    if (!bounded_ || less(max_float_, key)) max_float_ = key, max_.assign(text);
    bounded_ = true;
}

void ColumnDigest::keep(Int128 key, const std::string& text) {
    if (!bounded_ || key < min_integer_) min_integer_ = key, min_.assign(text);
    if (!bounded_ || key > max_integer_) max_integer_ = key, max_.assign(text);
    bounded_ = true;
}

void ColumnDigest::keep_text(const std::string& text) {
    if (!bounded_ || text < min_) min_.assign(text);
    if (!bounded_ || text > max_) max_.assign(text);
    bounded_ = true;
}

void ColumnDigest::add_number(const ColumnView& plain, int64_t slot, const std::string& text) {
    if (is_float(type_.id)) {
        const double value = float_at(plain, slot);
        if (std::isfinite(value)) float_sum_ += value;
        keep(value, text);
        return;
    }
    const Int128 value = integer_at(plain, slot);
    if (has_sum(type_.id) && __builtin_add_overflow(sum_, value, &sum_)) sum_overflows_ = true;
    keep(value, text);
}

void ColumnDigest::add_bounds(const ColumnView& view, int64_t row, const std::string& text) {
    const auto [plain, slot] = slot_of(view, row);
    if (is_float(type_.id) || is_int_like(type_)) return add_number(*plain, slot, text);
    if (column::is_bytes(type_.id)) {
        sum_ += plain->as<column::BytesView>()[slot].size;
        keep_text(text);
    } else if (type_.id == TypeId::kFixedBinary) {
        sum_ += type_.fixed_width;
        keep_text(text);
    }
}

void ColumnDigest::add(const ColumnView& view) {
    for (int64_t row = 0; row < view.length; ++row, ++rows_) {
        if (rows_ != 0) hash_.add("\n");
        if (column::is_null_value(view, row)) {
            hash_.add("<null>");
            continue;
        }
        ++non_null_;
        text_.clear();
        column::append_text(view, row, style_, text_);
        hash_.add(text_);
        add_bounds(view, row, text_);
    }
}

std::string ColumnDigest::sum() const {
    if (non_null_ == 0) return type_.id == TypeId::kBool ? "0" : "";
    if (is_float(type_.id)) {
        std::string text;
        column::append_float(float_sum_, text);
        return text;
    }
    const bool sized = column::is_bytes(type_.id) || type_.id == TypeId::kFixedBinary;
    if (!sized && !(has_sum(type_.id) && is_int_like(type_))) return "";
    if (sum_overflows_) return "overflow";
    std::string digits = column::to_string(sum_);
    if (type_.id != TypeId::kDecimal || type_.scale <= 0) return digits;
    const bool negative = digits[0] == '-';
    if (negative) digits.erase(0, 1);
    const auto scale = static_cast<size_t>(type_.scale);
    if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    digits.insert(digits.size() - scale, 1, '.');
    return negative ? fmt::format("-{}", digits) : digits;
}

std::string ColumnDigest::min() const {
    return cut(min_);
}
std::string ColumnDigest::max() const {
    return cut(max_);
}

}  // namespace loom::file_tool
