#include "format/arrow/statistics_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "column/text.h"
#include "format/arrow/statistics.h"

namespace loom::arrow {

using column::BytesView;
using column::ColumnView;
using column::DataType;
using column::Encoding;
using column::Int128;
using column::TypeId;

namespace {

// Cuts a text to kMaxTextBound bytes at a character's edge, and before a comma, where readers
// split.
std::string_view bound_prefix(std::string_view text) {
    std::string_view prefix = text.substr(0, text.find(','));
    if (prefix.size() <= kMaxTextBound) return prefix;
    size_t end = kMaxTextBound - 1;  // a successor may take one byte more
    while (end > 0 && (static_cast<uint8_t>(prefix[end]) & 0xC0) == 0x80) --end;
    return prefix.substr(0, end);
}

// Decodes the character that text[at] begins; -1 if it is not UTF-8.
int32_t code_point(std::string_view text, size_t at) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t length = text.size() - at;
    if (length == 1) return first < 0x80 ? first : -1;
    const uint8_t lead = length == 2 ? 0xC0 : length == 3 ? 0xE0 : 0xF0;
    const uint8_t mask = length == 2 ? 0x1F : length == 3 ? 0x0F : 0x07;
    if (length > 4 || (first & ~mask) != lead) return -1;
    int32_t code = first & mask;
    for (size_t i = at + 1; i < text.size(); ++i) code = code << 6 | (text[i] & 0x3F);
    return code;
}

void append_character(int32_t code, std::string& out) {
    auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
    if (code < 0x80) {
        out += static_cast<char>(code);
    } else if (code < 0x800) {
        out += static_cast<char>(0xC0 | code >> 6);
        tail(0);
    } else if (code < 0x10000) {
        out += static_cast<char>(0xE0 | code >> 12);
        tail(6), tail(0);
    } else {
        out += static_cast<char>(0xF0 | code >> 18);
        tail(12), tail(6), tail(0);
    }
}

// Returns a text above everything that begins with `prefix`, valid UTF-8 if that is, without a
// comma: the last character that has a successor is replaced by it. UTF-8 orders by bytes as by
// characters. Empty if there is none.
std::string rounded_up(std::string prefix) {
    while (!prefix.empty()) {
        size_t at = prefix.size() - 1;
        while (at > 0 && (static_cast<uint8_t>(prefix[at]) & 0xC0) == 0x80) --at;
        int32_t code = code_point(prefix, at);
        prefix.resize(at);
        if (code < 0 || code >= 0x10FFFF) continue;
        ++code;
        if (code == 0xD800) code = 0xE000;  // surrogates are no characters
        if (code == ',') ++code;
        append_character(code, prefix);
        return prefix;
    }
    return prefix;
}

}  // namespace

StatisticsCollector::StatisticsCollector(const column::Field& field) : field_(field) {
    const DataType& type = *field.type;
    switch (type.id) {
        case TypeId::kFloat16:
        case TypeId::kFloat32:
        case TypeId::kFloat64:
            kind_ = Kind::kFloat;
            break;
        case TypeId::kUtf8:
            kind_ = Kind::kText;
            break;
        case TypeId::kDecimal:
            // The lists and the text form know no negative scale, the reader no 256 bits.
            if (type.byte_width8 <= 16 && type.scale >= 0) kind_ = Kind::kInteger;
            break;
        case TypeId::kDate32:
        case TypeId::kDate64:
        case TypeId::kTime:
        case TypeId::kTimestamp:
        case TypeId::kDuration:
            kind_ = Kind::kInteger;
            break;
        default:
            if (column::is_integer(type.id)) kind_ = Kind::kInteger;
    }
}

template <typename T>
void StatisticsCollector::add_integers(const ColumnView& view, int64_t row, int64_t count) {
    const T* values = view.as<T>();
    T low = 0;
    T high = 0;
    bool any = false;
    for (int64_t i = row; i < row + count; ++i) {
        if (view.is_null(i)) continue;
        low = any ? std::min(low, values[i]) : values[i];
        high = any ? std::max(high, values[i]) : values[i];
        any = true;
    }
    if (!any) return;
    min_integer_ = found_ ? std::min(min_integer_, Int128{low}) : Int128{low};
    max_integer_ = found_ ? std::max(max_integer_, Int128{high}) : Int128{high};
    found_ = true;
}

void StatisticsCollector::add_float(double value) {
    if (std::isnan(value)) {
        ++nans_;
        return;
    }
    min_float_ = found_ ? std::min(min_float_, value) : value;
    max_float_ = found_ ? std::max(max_float_, value) : value;
    found_ = true;
}

void StatisticsCollector::add_text(std::string_view text) {
    if (!found_ || text < min_text_) min_text_ = text;
    if (!found_ || text > max_text_) max_text_ = text;
    found_ = true;
}

void StatisticsCollector::add_rows(const ColumnView& view, int64_t row, int64_t count) {
    const TypeId id = field_.type->id;
    if (kind_ == Kind::kInteger) {
        const bool is_unsigned = id >= TypeId::kUInt8 && id <= TypeId::kUInt64;
        switch (column::byte_width(*field_.type)) {
            case 1:
                return is_unsigned ? add_integers<uint8_t>(view, row, count)
                                   : add_integers<int8_t>(view, row, count);
            case 2:
                return is_unsigned ? add_integers<uint16_t>(view, row, count)
                                   : add_integers<int16_t>(view, row, count);
            case 4:
                return is_unsigned ? add_integers<uint32_t>(view, row, count)
                                   : add_integers<int32_t>(view, row, count);
            case 8:
                return is_unsigned ? add_integers<uint64_t>(view, row, count)
                                   : add_integers<int64_t>(view, row, count);
            default:
                return add_integers<Int128>(view, row, count);
        }
    }
    for (int64_t i = row; i < row + count; ++i) {
        if (view.is_null(i)) continue;
        if (kind_ == Kind::kText)
            add_text(view.as<BytesView>()[i].text());
        else if (id == TypeId::kFloat16)
            add_float(column::half_to_float(view.as<uint16_t>()[i]));
        else
            add_float(id == TypeId::kFloat32 ? view.as<float>()[i] : view.as<double>()[i]);
    }
}

// Looks at each entry once that some row uses; NaNs are counted for each row.
void StatisticsCollector::add_coded(const ColumnView& view, int64_t row, int64_t count) {
    const ColumnView& entries = view.dictionary->values;
    std::vector<bool> seen(static_cast<size_t>(entries.length));
    for (int64_t i = row; i < row + count; ++i) {
        if (view.is_null(i)) continue;
        const uint32_t code = view.code(i);
        if (seen[code] && kind_ != Kind::kFloat) continue;
        seen[code] = true;
        add_rows(entries, code, 1);
    }
}

void StatisticsCollector::add(const ColumnView& view, int64_t row, int64_t count) {
    if (kind_ == Kind::kNone) return;
    if (view.encoding == Encoding::kPlain) return add_rows(view, row, count);
    if (view.encoding == Encoding::kDictionary) return add_coded(view, row, count);
    ColumnView slots = view;
    slots.encoding = view.dictionary != nullptr ? Encoding::kDictionary : Encoding::kPlain;
    slots.length = view.run_count;
    int64_t done = row;
    for (int32_t run = 0; run < view.run_count && done < row + count; ++run) {
        const int64_t end = std::min<int64_t>(view.run_ends[run], row + count);
        // A run counts once for bounds; NaNs are counted for each row.
        for (int64_t times = kind_ == Kind::kFloat ? end - done : 1; end > done && times > 0;
             --times)
            add(slots, run, 1);
        done = std::max(done, end);
    }
}

std::string StatisticsCollector::integer_text(Int128 value) const {
    std::string digits = column::to_string(value);
    if (field_.type->id != TypeId::kDecimal || field_.type->scale == 0) return digits;
    const bool negative = digits[0] == '-';
    if (negative) digits.erase(0, 1);
    const auto scale = static_cast<size_t>(field_.type->scale);
    if (digits.size() <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    digits.insert(digits.size() - scale, 1, '.');
    if (negative) digits.insert(0, 1, '-');
    return digits;
}

std::string StatisticsCollector::detail() const {
    return fmt::format("{}{},{}", min_exact_ ? 1 : 0, max_exact_ ? 1 : 0,
                       kind_ == Kind::kFloat ? nans_ : -1);
}

void StatisticsCollector::extend_lists() {
    if (batches_ != 0) {
        min_list_ += ',';
        max_list_ += ',';
    }
    min_list_ += found_ ? column::to_string(min_integer_) : "null";
    max_list_ += found_ ? column::to_string(max_integer_) : "null";
}

void StatisticsCollector::finish_batch(std::vector<column::KeyValue>& metadata) {
    if (kind_ == Kind::kNone) return;
    std::string min;
    std::string max;
    bool known = found_;
    min_exact_ = max_exact_ = true;
    if (kind_ == Kind::kInteger) {
        extend_lists();
        min = integer_text(min_integer_);
        max = integer_text(max_integer_);
    } else if (kind_ == Kind::kFloat) {
        min = fmt::format("{:.17g}", min_float_);
        max = fmt::format("{:.17g}", max_float_);
    } else if (found_) {
        min = bound_prefix(min_text_);
        max = bound_prefix(max_text_);
        min_exact_ = min.size() == min_text_.size();
        max_exact_ = max.size() == max_text_.size();
        if (!max_exact_) max = rounded_up(max);
        known = max_exact_ || !max.empty();
    }
    if (known) metadata.push_back({std::string(kMinMaxPrefix) + field_.name, min + "," + max});
    if (kind_ == Kind::kText ? known : kind_ == Kind::kFloat)
        metadata.push_back({std::string(kDetailPrefix) + field_.name, detail()});
    ++batches_;
    found_ = false;
    nans_ = 0;
}

}  // namespace loom::arrow
