#include "text_format.h"

#include <chrono>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "column/text.h"

namespace loom::datagen {

using column::ColumnView;
using column::TypeId;

namespace {

template <typename T>
void append_number(const ColumnView& view, int64_t row, std::string& out) {
    const fmt::format_int text(view.as<T>()[row]);
    out.append(text.data(), text.size());
}

// Shortest form that reads back to the same value; PostgreSQL's spelling of the special ones.
template <typename T>
void append_float(T value, std::string& out) {
    if (std::isnan(value))
        out += "NaN";
    else if (std::isinf(value))
        out += value < 0 ? "-Infinity" : "Infinity";
    else
        fmt::format_to(std::back_inserter(out), "{}", value);
}

void append_timestamp(int64_t micros, bool utc, std::string& out) {
    const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(micros)};
    const auto day = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss clock(time - day);
    fmt::format_to(std::back_inserter(out), "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}{}",
                   static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                   static_cast<unsigned>(date.day()), clock.hours().count(),
                   clock.minutes().count(), clock.seconds().count(), clock.subseconds().count(),
                   utc ? "+00" : "");
}

void append_hex(std::string_view bytes, std::string& out) {
    constexpr char kDigits[] = "0123456789abcdef";
    out += "\\x";
    for (const char byte : bytes) {
        out += kDigits[static_cast<uint8_t>(byte) >> 4];
        out += kDigits[static_cast<uint8_t>(byte) & 15];
    }
}

}  // namespace

void append_text(const ColumnView& view, int64_t row, std::string& out) {
    if (view.encoding == column::Encoding::kDictionary)
        return append_text(view.dictionary->values, view.code(row), out);
    switch (view.type->id) {
        case TypeId::kInt8:
            return append_number<int8_t>(view, row, out);
        case TypeId::kInt16:
            return append_number<int16_t>(view, row, out);
        case TypeId::kInt32:
            return append_number<int32_t>(view, row, out);
        case TypeId::kInt64:
            return append_number<int64_t>(view, row, out);
        case TypeId::kFloat32:
            return append_float(view.as<float>()[row], out);
        case TypeId::kFloat64:
            return append_float(view.as<double>()[row], out);
        case TypeId::kTimestamp:
            return append_timestamp(view.as<int64_t>()[row], !view.type->timezone.empty(), out);
        case TypeId::kUtf8:
            out += view.as<column::BytesView>()[row].text();
            return;
        case TypeId::kBinary:
            return append_hex(view.as<column::BytesView>()[row].text(), out);
        case TypeId::kDecimal:
        case TypeId::kDate32:
            return column::append_text(view, row, {}, out);
        default:
            base::raise(base::ErrorKind::kUnsupported, "no text form for {}",
                        column::to_string(*view.type));
    }
}

void append_quoted(std::string_view text, std::string& out) {
    if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    out += '"';
}

void append_csv_field(const ColumnView& view, int64_t row, std::string& out) {
    if (view.is_null(row)) return;
    if (view.type->id != TypeId::kUtf8) return append_text(view, row, out);
    const ColumnView& texts =
        view.encoding == column::Encoding::kDictionary ? view.dictionary->values : view;
    const int64_t at = view.encoding == column::Encoding::kDictionary ? view.code(row) : row;
    append_quoted(texts.as<column::BytesView>()[at].text(), out);
}

}  // namespace loom::datagen
