#include "sql_literal.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include <fmt/core.h>

namespace loom::test {

using plan::TypeId;

namespace {

std::string type_name(TypeId id) {
    return id == TypeId::kNumeric ? "numeric" : plan::to_string(plan::make_type(id));
}

std::string decimal(column::Int128 value, int scale) {
    std::string digits = column::to_string(value < 0 ? -value : value);
    if (scale > 0) {
        while (static_cast<int>(digits.size()) <= scale) digits.insert(0, "0");
        digits.insert(digits.size() - static_cast<size_t>(scale), ".");
    }
    return (value < 0 ? "-" : "") + digits;
}

std::string float_text(double value, int digits) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return fmt::format("{:.{}g}", value, digits);
}

std::string hexadecimal(const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return text;
}

std::string instant(const std::string& type, int64_t microseconds) {
    constexpr int64_t kDay = 86'400'000'000;
    int64_t days = microseconds / kDay;
    if (microseconds < days * kDay) --days;
    return fmt::format(
        "('2000-01-01'::{} + ({}) * interval '1 day' + {} * interval '1 microsecond')", type, days,
        microseconds - days * kDay);
}

}  // namespace

std::string sql_literal(plan::Type type, const column::Scalar& value) {
    const std::string name = type_name(type.id);
    if (!value.known()) return "NULL::" + name;
    const auto quoted = [&](const std::string& text) {
        std::string literal = "'";
        for (const char c : text) literal += c == '\'' ? "''" : std::string(1, c);
        return literal + "'::" + name;
    };
    switch (type.id) {
        case TypeId::kBool:
            return value.integer != 0 ? "true" : "false";
        case TypeId::kInt2:
        case TypeId::kInt4:
        case TypeId::kInt8:
            return quoted(column::to_string(value.integer));
        case TypeId::kFloat4:
            return quoted(float_text(value.number, 9));
        case TypeId::kFloat8:
            return quoted(float_text(value.number, 17));
        case TypeId::kNumeric: {
            const plan::Decimal number =
                plan::decimal_of(value).value_or(plan::Decimal{value.integer, type.scale});
            return quoted(decimal(number.unscaled, static_cast<int>(number.scale)));
        }
        case TypeId::kDate:
            if (value.integer == INT32_MAX) return "'infinity'::date";
            if (value.integer == INT32_MIN) return "'-infinity'::date";
            return fmt::format("('2000-01-01'::date + ({}))", column::to_string(value.integer));
        case TypeId::kTime:
            if (value.integer == 86'400'000'000) return "'24:00'::time";
            return fmt::format("('00:00'::time + {} * interval '1 microsecond')",
                               column::to_string(value.integer));
        case TypeId::kTimestamp:
        case TypeId::kTimestampTz:
            if (value.integer == INT64_MAX) return quoted("infinity");
            if (value.integer == INT64_MIN) return quoted("-infinity");
            return instant(name, static_cast<int64_t>(value.integer));
        case TypeId::kInterval: {
            plan::Interval interval;
            std::memcpy(&interval, value.bytes.data(), sizeof interval);
            return fmt::format(
                "(({}) * interval '1 month' + ({}) * interval '1 day' + ({}) * interval '1 "
                "microsecond')",
                interval.months, interval.days, interval.microseconds);
        }
        case TypeId::kText:
        case TypeId::kBpchar:
            return quoted(value.bytes);
        case TypeId::kBytea:
            return quoted("\\x" + hexadecimal(value.bytes));
        case TypeId::kUuid:
            return quoted(hexadecimal(value.bytes));
        case TypeId::kOpaque:
        case TypeId::kOpaqueWord:
            break;
    }
    return "?";
}

}  // namespace loom::test
