#include "column/text.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include "column/calendar_text.h"
#include "column/scalar.h"

namespace loom::column {

namespace {

// A row of a plain view, after dictionary and runs are followed.
struct Cell {
    const ColumnView* view;
    int64_t row;
    bool null;
};

Cell cell_of(const ColumnView& view, int64_t row) {
    const int64_t slot = value_slot(view, row);
    if (view.is_null(slot)) return {&view, slot, true};
    if (view.dictionary == nullptr) return {&view, slot, view.type->id == TypeId::kNull};
    const auto code = static_cast<int64_t>(view.code(slot));
    return {&view.dictionary->values, code, view.dictionary->values.is_null(code)};
}

template <typename T>
T value_at(const Cell& cell) {
    return base::load<T>(cell.view->as<uint8_t>() + cell.row * static_cast<int64_t>(sizeof(T)));
}

// Multi-word decimals, little endian: repeated division by 10^9.
std::string digits_of_256(const uint8_t* bytes, bool& negative) {
    uint32_t words[8];
    for (int i = 0; i < 8; ++i) words[i] = base::load<uint32_t>(bytes + i * 4);
    negative = (words[7] >> 31) != 0;
    if (negative) {
        uint64_t carry = 1;
        for (uint32_t& word : words) {
            carry += static_cast<uint32_t>(~word);
            word = static_cast<uint32_t>(carry);
            carry >>= 32;
        }
    }
    std::string text;
    bool more = true;
    while (more) {
        uint64_t rest = 0;
        more = false;
        for (int i = 7; i >= 0; --i) {
            const uint64_t value = (rest << 32) | words[i];
            words[i] = static_cast<uint32_t>(value / 1'000'000'000);
            rest = value % 1'000'000'000;
            more = more || words[i] != 0;
        }
        text.insert(0, more ? fmt::format("{:09}", rest) : fmt::format("{}", rest));
    }
    return text;
}

std::string decimal_digits(const Cell& cell, const DataType& type, bool& negative) {
    if (type.byte_width8 == 32)
        return digits_of_256(cell.view->as<uint8_t>() + cell.row * 32, negative);
    Int128 value = type.byte_width8 == 4   ? value_at<int32_t>(cell)
                   : type.byte_width8 == 8 ? value_at<int64_t>(cell)
                                           : value_at<Int128>(cell);
    std::string text = to_string(value);
    negative = text.starts_with('-');
    return negative ? text.substr(1) : text;
}

void append_decimal(const Cell& cell, const DataType& type, bool raw, std::string& out) {
    bool negative = false;
    std::string digits = decimal_digits(cell, type, negative);
    if (negative) out += '-';
    if (raw || type.scale == 0) {
        out += digits;
    } else if (type.scale < 0) {
        out += digits;
        if (digits != "0") out.append(static_cast<size_t>(-type.scale), '0');
    } else {
        const auto scale = static_cast<size_t>(type.scale);
        // A type without digits before the point shows none: .25
        const size_t whole = type.precision > type.scale ? 1 : 0;
        if (digits.size() < scale + whole) digits.insert(0, scale + whole - digits.size(), '0');
        out.append(digits, 0, digits.size() - scale);
        out += '.';
        out.append(digits, digits.size() - scale);
    }
}

void append_uuid(const uint8_t* bytes, std::string& out) {
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        fmt::format_to(std::back_inserter(out), "{:02x}", bytes[i]);
    }
}

void append_hex(base::ByteSpan bytes, std::string& out) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    for (uint8_t byte : bytes) {
        out += kDigits[byte >> 4];
        out += kDigits[byte & 15];
    }
}

// DuckDB's text of a BLOB: printable characters as they are, everything else as \xHH.
void append_escaped(base::ByteSpan bytes, std::string& out) {
    for (uint8_t byte : bytes) {
        const bool plain = byte >= 32 && byte <= 126 && byte != '\\' && byte != '\'' && byte != '"';
        if (plain)
            out += static_cast<char>(byte);
        else
            fmt::format_to(std::back_inserter(out), "\\x{:02X}", byte);
    }
}

base::ByteSpan bytes_of(const Cell& cell) {
    const DataType& type = *cell.view->type;
    if (type.id == TypeId::kFixedBinary)
        return {cell.view->as<uint8_t>() + cell.row * type.fixed_width,
                static_cast<size_t>(type.fixed_width)};
    return cell.view->as<BytesView>()[cell.row].bytes();
}

int64_t integer_at(const Cell& cell) {
    switch (cell.view->type->id) {
        case TypeId::kInt8:
            return value_at<int8_t>(cell);
        case TypeId::kInt16:
            return value_at<int16_t>(cell);
        case TypeId::kUInt8:
            return value_at<uint8_t>(cell);
        case TypeId::kUInt16:
            return value_at<uint16_t>(cell);
        case TypeId::kUInt32:
            return value_at<uint32_t>(cell);
        case TypeId::kInt32:
        case TypeId::kDate32:
        case TypeId::kIntervalMonths:
            return value_at<int32_t>(cell);
        case TypeId::kTime:
            return cell.view->type->byte_width8 == 4 ? value_at<int32_t>(cell)
                                                     : value_at<int64_t>(cell);
        default:
            return value_at<int64_t>(cell);
    }
}

std::pair<int64_t, TimeUnit> cut(int64_t ticks, TimeUnit unit, Nanos nanos) {
    if (unit != TimeUnit::kNano || nanos == Nanos::kKeep) return {ticks, unit};
    const bool down = nanos == Nanos::kFloor && ticks % 1000 < 0;
    return {ticks / 1000 - (down ? 1 : 0), TimeUnit::kMicro};
}

void append_calendar(const Cell& cell, const TextStyle& style, std::string& out) {
    const DataType& type = *cell.view->type;
    if (style.raw_integers && type.id < TypeId::kIntervalMonths) {
        fmt::format_to(std::back_inserter(out), "{}", integer_at(cell));
        return;
    }
    switch (type.id) {
        case TypeId::kDate32:
            return append_date(integer_at(cell), out);
        case TypeId::kDate64:
            return append_timestamp(integer_at(cell), TimeUnit::kMilli, false, out);
        case TypeId::kTime:
        case TypeId::kTimestamp: {
            const auto [ticks, unit] = cut(integer_at(cell), type.unit, style.nanos);
            if (type.id == TypeId::kTime) return append_time(ticks, unit, out);
            return append_timestamp(ticks, unit, !type.timezone.empty() && !style.omit_zone, out);
        }
        case TypeId::kDuration:
            return append_duration(integer_at(cell), type.unit, out);
        case TypeId::kIntervalMonths:
            return append_interval(value_at<int32_t>(cell), 0, 0, out);
        case TypeId::kIntervalDayTime: {
            const auto* at = cell.view->as<uint8_t>() + cell.row * 8;
            return append_interval(0, base::load<int32_t>(at),
                                   base::load<int32_t>(at + 4) * int64_t{1'000'000}, out);
        }
        default: {
            const auto* at = cell.view->as<uint8_t>() + cell.row * 16;
            return append_interval(base::load<int32_t>(at), base::load<int32_t>(at + 4),
                                   base::load<int64_t>(at + 8), out);
        }
    }
}

bool is_calendar(TypeId id) {
    return id >= TypeId::kDate32 && id <= TypeId::kIntervalMonthDayNano;
}

// Appends a number of any kind; false if the type is no number.
bool append_number(const Cell& cell, const TextStyle& style, std::string& out) {
    const DataType& type = *cell.view->type;
    switch (type.id) {
        case TypeId::kUInt64:
            fmt::format_to(std::back_inserter(out), "{}", value_at<uint64_t>(cell));
            return true;
        case TypeId::kFloat16:
            append_float(half_to_float(value_at<uint16_t>(cell)), out);
            return true;
        case TypeId::kFloat32:
            append_float(value_at<float>(cell), out);
            return true;
        case TypeId::kFloat64:
            append_float(value_at<double>(cell), out);
            return true;
        case TypeId::kDecimal:
            append_decimal(cell, type, style.raw_integers, out);
            return true;
        default:
            if (!is_integer(type.id)) return false;
            fmt::format_to(std::back_inserter(out), "{}", integer_at(cell));
            return true;
    }
}

std::pair<int64_t, int64_t> elements_of(const Cell& cell) {
    const DataType& type = *cell.view->type;
    if (type.id == TypeId::kFixedList)
        return {cell.row * type.list_size, (cell.row + 1) * type.list_size};
    return {cell.view->offsets[cell.row], cell.view->offsets[cell.row + 1]};
}

std::pair<const ColumnView*, int64_t> union_value(const Cell& cell) {
    const int8_t index = cell.view->as<int8_t>()[cell.row];
    const int64_t row =
        cell.view->type->id == TypeId::kDenseUnion ? cell.view->offsets[cell.row] : cell.row;
    return {&cell.view->children[index], row};
}

bool equals_null(std::string_view text) {
    return text.size() == 4 && std::equal(text.begin(), text.end(), "null",
                                          [](char a, char b) { return (a | 32) == b; });
}

// Texts inside lists and structs are quoted where they could be misread.
void append_member_text(std::string_view text, std::string& out) {
    constexpr std::string_view kSpecial = "'\",:=(){}[]";
    const bool quote = text.empty() || equals_null(text) || text.front() == ' ' ||
                       text.back() == ' ' || text.find_first_of(kSpecial) != std::string_view::npos;
    if (!quote) {
        out += text;
        return;
    }
    out += '\'';
    for (char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    out += '\'';
}

class TextPrinter {
  public:
    TextPrinter(const TextStyle& style, std::string& out) : style_(style), out_(out) {}

    void print(const ColumnView& view, int64_t row, bool nested) {
        const Cell cell = cell_of(view, row);
        if (cell.null) {
            out_ += "NULL";
            return;
        }
        const DataType& type = *cell.view->type;
        if (append_number(cell, style_, out_)) return;
        if (is_calendar(type.id)) return print_calendar(cell, nested);
        switch (type.id) {
            case TypeId::kBool:
                out_ += base::bit_at(cell.view->as<uint8_t>(), cell.row) ? "true" : "false";
                break;
            case TypeId::kUtf8:
                // JSON inside lists needs no quotes: its own brackets and quotes delimit it.
                print_utf8(base::as_text(bytes_of(cell)),
                           nested && type.annotation != Annotation::kJson &&
                               type.annotation != Annotation::kVariant);
                break;
            case TypeId::kBinary:
            case TypeId::kFixedBinary:
                print_binary(cell, nested);
                break;
            case TypeId::kStruct:
                print_struct(cell);
                break;
            case TypeId::kMap:
                print_map(cell);
                break;
            case TypeId::kSparseUnion:
            case TypeId::kDenseUnion: {
                const auto [child, child_row] = union_value(cell);
                print(*child, child_row, true);
                break;
            }
            default:
                print_list(cell);
                break;
        }
    }

  private:
    void print_calendar(const Cell& cell, bool nested) {
        std::string text;
        append_calendar(cell, style_, text);
        nested ? append_member_text(text, out_) : void(out_ += text);
    }
    void print_utf8(std::string_view text, bool nested) {
        nested ? append_member_text(text, out_) : void(out_ += text);
    }
    void print_binary(const Cell& cell, bool nested) {
        if (cell.view->type->annotation == Annotation::kUuid) {
            append_uuid(bytes_of(cell).data(), out_);
        } else if (style_.hex_binary && !nested) {
            append_hex(bytes_of(cell), out_);
        } else {
            std::string text;
            append_escaped(bytes_of(cell), text);
            nested ? append_member_text(text, out_) : void(out_ += text);
        }
    }
    void print_list(const Cell& cell) {
        const auto [first, last] = elements_of(cell);
        out_ += '[';
        for (int64_t i = first; i < last; ++i) {
            if (i != first) out_ += ", ";
            print(cell.view->children[0], i, true);
        }
        out_ += ']';
    }
    void print_struct(const Cell& cell) {
        out_ += '{';
        for (int32_t i = 0; i < cell.view->child_count; ++i) {
            if (i != 0) out_ += ", ";
            out_ += '\'';
            for (char c : cell.view->type->children[static_cast<size_t>(i)].name) {
                if (c == '\'' || c == '\\') out_ += '\\';
                out_ += c;
            }
            out_ += "': ";
            print(cell.view->children[i], cell.row, true);
        }
        out_ += '}';
    }
    void print_map(const Cell& cell) {
        const auto [first, last] = elements_of(cell);
        const ColumnView& entries = cell.view->children[0];
        out_ += '{';
        for (int64_t i = first; i < last; ++i) {
            if (i != first) out_ += ", ";
            print(entries.children[0], i, true);
            out_ += '=';
            print(entries.children[1], i, true);
        }
        out_ += '}';
    }

    const TextStyle& style_;
    std::string& out_;
};

class JsonPrinter {
  public:
    JsonPrinter(const TextStyle& style, std::string& out) : style_(style), out_(out) {}

    void print(const ColumnView& view, int64_t row) {
        const Cell cell = cell_of(view, row);
        if (cell.null) {
            out_ += "null";
            return;
        }
        const DataType& type = *cell.view->type;
        const size_t start = out_.size();
        if (append_number(cell, style_, out_)) return quote_non_finite(start);
        switch (type.id) {
            case TypeId::kBool:
                out_ += base::bit_at(cell.view->as<uint8_t>(), cell.row) ? "true" : "false";
                return;
            case TypeId::kUtf8:
                // A variant is JSON that our own code wrote.
                if (type.annotation == Annotation::kVariant) {
                    out_ += base::as_text(bytes_of(cell));
                    return;
                }
                return append_json_string(base::as_text(bytes_of(cell)), out_);
            case TypeId::kBinary:
            case TypeId::kFixedBinary: {
                out_ += '"';
                if (type.annotation == Annotation::kUuid && !style_.raw_integers)
                    append_uuid(bytes_of(cell).data(), out_);
                else
                    append_hex(bytes_of(cell), out_);
                out_ += '"';
                return;
            }
            case TypeId::kStruct:
                return print_struct(cell);
            case TypeId::kList:
            case TypeId::kFixedList:
            case TypeId::kMap:
                return print_list(cell);
            case TypeId::kSparseUnion:
            case TypeId::kDenseUnion: {
                const auto [child, child_row] = union_value(cell);
                return print(*child, child_row);
            }
            default:
                break;
        }
        if (style_.raw_integers) return print_raw_calendar(cell);
        out_ += '"';
        append_calendar(cell, style_, out_);
        out_ += '"';
    }

  private:
    void quote_non_finite(size_t start) {
        const std::string_view text = std::string_view(out_).substr(start);
        if (text.starts_with('.') || text.starts_with("-.")) {
            out_.insert(start + (text[0] == '-' ? 1 : 0), 1, '0');  // JSON wants a digit there
            return;
        }
        if (text.find_first_of("in") == std::string_view::npos) return;
        out_.insert(start, 1, '"');
        out_ += '"';
    }
    // Intervals have no single number: [days, milliseconds] and [months, days, nanoseconds].
    void print_raw_calendar(const Cell& cell) {
        const auto* at = cell.view->as<uint8_t>();
        if (cell.view->type->id == TypeId::kIntervalDayTime)
            fmt::format_to(std::back_inserter(out_), "[{},{}]",
                           base::load<int32_t>(at + cell.row * 8),
                           base::load<int32_t>(at + cell.row * 8 + 4));
        else if (cell.view->type->id == TypeId::kIntervalMonthDayNano)
            fmt::format_to(std::back_inserter(out_), "[{},{},{}]",
                           base::load<int32_t>(at + cell.row * 16),
                           base::load<int32_t>(at + cell.row * 16 + 4),
                           base::load<int64_t>(at + cell.row * 16 + 8));
        else
            fmt::format_to(std::back_inserter(out_), "{}", integer_at(cell));
    }
    void print_struct(const Cell& cell) {
        out_ += '{';
        for (int32_t i = 0; i < cell.view->child_count; ++i) {
            if (i != 0) out_ += ',';
            append_json_string(cell.view->type->children[static_cast<size_t>(i)].name, out_);
            out_ += ':';
            print(cell.view->children[i], cell.row);
        }
        out_ += '}';
    }
    void print_list(const Cell& cell) {
        const bool map = cell.view->type->id == TypeId::kMap;
        const auto [first, last] = elements_of(cell);
        const ColumnView& child = cell.view->children[0];
        out_ += '[';
        for (int64_t i = first; i < last; ++i) {
            if (i != first) out_ += ',';
            if (!map) {
                print(child, i);
                continue;
            }
            out_ += '[';
            print(child.children[0], i);
            out_ += ',';
            print(child.children[1], i);
            out_ += ']';
        }
        out_ += ']';
    }

    const TextStyle& style_;
    std::string& out_;
};

template <typename T>
void append_shortest(T value, std::string& out) {
    if (std::isnan(value)) {
        out += std::signbit(value) ? "-nan" : "nan";
    } else if (std::isinf(value)) {
        out += value < 0 ? "-inf" : "inf";
    } else {
        const size_t start = out.size();
        fmt::format_to(std::back_inserter(out), "{}", value);
        if (std::string_view(out).substr(start).find_first_of(".e") == std::string_view::npos)
            out += ".0";
    }
}

// Returns the length of the UTF-8 sequence at text[0], or 0 if it is malformed.
size_t utf8_length(std::string_view text) {
    const auto first = static_cast<uint8_t>(text[0]);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
    uint32_t code = first & (0xFFU >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        if ((byte & 0xC0) != 0x80) return 0;
        code = code << 6 | (byte & 0x3F);
    }
    const bool good = length == 2 ||
                      (length == 3 && code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) ||
                      (length == 4 && code >= 0x10000 && code <= 0x10FFFF);
    return good ? length : 0;
}

}  // namespace

int64_t value_slot(const ColumnView& view, int64_t row) noexcept {
    if (view.encoding != Encoding::kRuns) return row;
    return std::upper_bound(view.run_ends, view.run_ends + view.run_count, row) - view.run_ends;
}

bool is_null_value(const ColumnView& view, int64_t row) noexcept {
    return cell_of(view, row).null;
}

void append_text(const ColumnView& view, int64_t row, const TextStyle& style, std::string& out) {
    TextPrinter(style, out).print(view, row, false);
}

void append_json(const ColumnView& view, int64_t row, const TextStyle& style, std::string& out) {
    JsonPrinter(style, out).print(view, row);
}

void append_float(double value, std::string& out) {
    append_shortest(value, out);
}
void append_float(float value, std::string& out) {
    append_shortest(value, out);
}

float half_to_float(uint16_t half) noexcept {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
    const uint32_t exponent = (half >> 10) & 31;
    const uint32_t fraction = half & 1023;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
}

void append_json_string(std::string_view text, std::string& out) {
    out += '"';
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        const char c = text[0];
        if (length == 0)
            out += "\xEF\xBF\xBD";
        else if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (static_cast<uint8_t>(c) < 0x20)
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<int>(c));
        else
            out += text.substr(0, length);
        text.remove_prefix(std::max<size_t>(length, 1));
    }
    out += '"';
}

}  // namespace loom::column
