#include "format/parquet/variant/json_text.h"

#include <cmath>

#include <fmt/format.h>

namespace loom::parquet {

namespace {

struct Civil {
    int64_t year;
    int month, day;
};

// Days since 1970-01-01 to the proleptic Gregorian calendar, counted from 0000-03-01 in eras of 400
// years.
Civil civil_of(int64_t days) noexcept {
    days += 719'468;
    const int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
    const int64_t day_of_era = days - era * 146'097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted = (5 * day_of_year + 2) / 153;
    const auto day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
    const auto month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
    return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

std::string date_text(int64_t days) {
    const Civil civil = civil_of(days);
    return fmt::format("{:04}-{:02}-{:02}", civil.year, civil.month, civil.day);
}

std::string time_text(int64_t units, int64_t per_second) {
    const int64_t seconds = units / per_second;
    return fmt::format("{:02}:{:02}:{:02}.{:0{}}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                       units % per_second, per_second == 1'000'000'000 ? 9 : 6);
}

template <typename T>
std::string number_text(T value) {
    if (std::isnan(value)) return "\"NaN\"";
    if (std::isinf(value)) return value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    return fmt::format("{}", value);
}

}  // namespace

void JsonText::raw(std::string_view text) {
    if (text.size() > kMaxBytes - text_.size())
        base::raise(base::ErrorKind::kLimit, "a variant of more than {} bytes as text", kMaxBytes);
    text_ += text;
}

void JsonText::quoted(std::string_view text) {
    raw("\"");
    size_t done = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<uint8_t>(text[i]);
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        raw(text.substr(done, i - done));
        raw(byte == '"' ? "\\\"" : byte == '\\' ? "\\\\" : fmt::format("\\u{:04x}", byte));
        done = i + 1;
    }
    raw(text.substr(done));
    raw("\"");
}

void JsonText::integer(column::Int128 value, int scale) {
    std::string digits = column::to_string(value);
    if (scale <= 0) return raw(digits);
    const bool negative = digits[0] == '-';
    if (negative) digits.erase(0, 1);
    const auto fraction = static_cast<size_t>(scale);
    if (digits.size() <= fraction) digits = fmt::format("{:0>{}}", digits, fraction + 1);
    const size_t whole = digits.size() - fraction;
    raw(fmt::format("{}{}.{}", negative ? "-" : "", digits.substr(0, whole), digits.substr(whole)));
}

void JsonText::number(double value) {
    raw(number_text(value));
}
void JsonText::number(float value) {
    raw(number_text(value));
}

void JsonText::base64(base::ByteSpan bytes) {
    static constexpr char kDigits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text = "\"";
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t left = bytes.size() - i;
        const uint32_t group = uint32_t{bytes[i]} << 16 |
                               (left > 1 ? uint32_t{bytes[i + 1]} << 8 : 0U) |
                               (left > 2 ? uint32_t{bytes[i + 2]} : 0U);
        text += kDigits[group >> 18];
        text += kDigits[group >> 12 & 63];
        text += left > 1 ? kDigits[group >> 6 & 63] : '=';
        text += left > 2 ? kDigits[group & 63] : '=';
    }
    text += '"';
    raw(text);
}

void JsonText::uuid(const uint8_t* bytes) {
    std::string text = "\"";
    for (int i = 0; i < 16; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += fmt::format("{:02x}", bytes[i]);
    }
    text += '"';
    raw(text);
}

void JsonText::date(int64_t days) {
    raw(fmt::format("\"{}\"", date_text(days)));
}

void JsonText::time(int64_t units, int64_t per_second) {
    if (units < 0 || units > 86'400 * per_second) base::corrupt("a time of day out of range");
    raw(fmt::format("\"{}\"", time_text(units, per_second)));
}

void JsonText::timestamp(int64_t units, int64_t per_second, bool utc) {
    const int64_t per_day = 86'400 * per_second;
    const int64_t days = units / per_day - (units % per_day < 0 ? 1 : 0);
    const int64_t rest = units % per_day + (units % per_day < 0 ? per_day : 0);
    raw(fmt::format("\"{}T{}{}\"", date_text(days), time_text(rest, per_second),
                    utc ? "+00:00" : ""));
}

}  // namespace loom::parquet
