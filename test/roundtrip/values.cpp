#include "values.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "column/scalar.h"

namespace loom::roundtrip {

using column::Annotation;
using column::ColumnBuilder;
using column::DataType;
using column::Field;
using column::Int128;
using column::TimeUnit;
using column::TypeId;

namespace {

constexpr int64_t kSecondsPerDay = 86'400;

void append_string(const std::string& text, std::string& json) {
    append_json_string(text, json);
}

// Whole numbers with extremes more often than chance would have them.
template <typename T>
T random_integer(Source& source) {
    switch (source.below(8)) {
        case 0:
            return std::numeric_limits<T>::min();
        case 1:
            return std::numeric_limits<T>::max();
        case 2:
            return T{0};
        default:
            return static_cast<T>(source.random() >> source.below(64));
    }
}

template <typename T>
void append_integer(ColumnBuilder& builder, Source& source, std::string& json) {
    const T value = random_integer<T>(source);
    builder.append(value);
    append_string(std::to_string(value), json);
}

template <typename T>
void append_float_json(T value, std::string& json) {
    if (std::isnan(value))
        json += "\"NaN\"";
    else if (std::isinf(value))
        json += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
    else
        json += fmt::format("{}", static_cast<double>(value));
}

template <typename T>
void append_float(ColumnBuilder& builder, Source& source, std::string& json) {
    T value = static_cast<T>(std::ldexp(static_cast<double>(static_cast<int64_t>(source.random())),
                                        static_cast<int>(source.below(100)) - 113));
    switch (source.below(16)) {
        case 0:
            value = std::numeric_limits<T>::quiet_NaN();
            break;
        case 1:
            value = std::numeric_limits<T>::infinity();
            break;
        case 2:
            value = T{-0.0};
            break;
        case 3:
            value = std::numeric_limits<T>::denorm_min();
            break;
        default:
            break;
    }
    builder.append(value);
    append_float_json(value, json);
}

void append_half(ColumnBuilder& builder, Source& source, std::string& json) {
    // Sign, exponent 1 to 30 and fraction: a normal number.
    const auto exponent = static_cast<uint16_t>(1 + source.below(30));
    const auto fraction = static_cast<uint16_t>(source.below(1024));
    const bool negative = source.chance(0.5);
    builder.append(static_cast<uint16_t>(negative << 15 | exponent << 10 | fraction));
    const double magnitude = std::ldexp(1024.0 + fraction, exponent - 25);
    append_float_json(negative ? -magnitude : magnitude, json);
}

std::string decimal_text(Int128 unscaled, int scale) {
    const bool negative = unscaled < 0;
    std::string digits = column::to_string(negative ? -unscaled : unscaled);
    if (static_cast<int>(digits.size()) <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    if (scale > 0)
        digits = fmt::format("{}.{}", digits.substr(0, digits.size() - scale),
                             digits.substr(digits.size() - scale));
    return fmt::format("{}{}", negative ? "-" : "", digits);
}

void append_decimal(const DataType& type, ColumnBuilder& builder, Source& source,
                    std::string& json) {
    Int128 limit = 1;
    for (int i = 0; i < std::min(type.precision, 38); ++i) limit *= 10;
    Int128 value = static_cast<Int128>(source.random()) << 64 | source.random();
    value >>= source.below(128);
    value %= limit;
    if (source.below(16) == 0) value = limit - 1;
    if (source.below(16) == 0) value = 1 - limit;
    uint8_t bytes[32];
    for (int i = 0; i < 32; ++i)
        bytes[i] = i < 16 ? static_cast<uint8_t>(value >> (8 * i))
                          : static_cast<uint8_t>(value < 0 ? 0xff : 0);
    builder.append_fixed(bytes, byte_width(type));
    append_string(decimal_text(value, type.scale), json);
}

int64_t units_per_second(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::kSecond:
            return 1;
        case TimeUnit::kMilli:
            return 1'000;
        case TimeUnit::kMicro:
            return 1'000'000;
        case TimeUnit::kNano:
            return 1'000'000'000;
    }
    return 1;
}

void append_time(const DataType& type, ColumnBuilder& builder, Source& source, std::string& json) {
    const int64_t per_second = units_per_second(type.unit);
    const auto value = static_cast<int64_t>(source.below(kSecondsPerDay * per_second));
    if (byte_width(type) == 4)
        builder.append(static_cast<int32_t>(value));
    else
        builder.append(value);
    const int64_t seconds = value / per_second;
    std::string text =
        fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if (const int64_t rest = value % per_second; rest != 0) {
        text += fmt::format(".{:09}", rest * (1'000'000'000 / per_second));
        while (text.back() == '0') text.pop_back();
    }
    append_string(text, json);
}

void append_timestamp(const DataType& type, ColumnBuilder& builder, Source& source,
                      std::string& json) {
    const int64_t per_second = units_per_second(type.unit);
    // 1900 to 2100.
    const int64_t seconds = static_cast<int64_t>(source.below(6'311'433'600)) - 2'208'988'800;
    const int64_t value = seconds * per_second + static_cast<int64_t>(source.below(per_second));
    builder.append(value);
    append_string(std::to_string(type.unit == TimeUnit::kSecond ? value * 1000 : value), json);
}

std::string random_text(Source& source) {
    constexpr std::string_view kPieces[] = {"a",  "B",  "7", " ", ",", "\"",
                                            "\\", "\n", "ä", "€", "𝄞", "'"};
    std::string text;
    const uint64_t length = source.below(source.below(20) == 0 ? 200 : 12);
    for (uint64_t i = 0; i < length; ++i) text += kPieces[source.below(std::size(kPieces))];
    return text;
}

std::string random_bytes(Source& source, uint64_t length) {
    std::string bytes;
    for (uint64_t i = 0; i < length; ++i) bytes += static_cast<char>(source.random());
    return bytes;
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return text;
}

void append_interval(const DataType& type, ColumnBuilder& builder, Source& source,
                     std::string& json) {
    const auto months = static_cast<int32_t>(source.below(1000));
    const auto days = static_cast<int32_t>(source.below(1000));
    const auto millis = static_cast<int32_t>(source.below(2'000'000'000));
    if (type.id == TypeId::kIntervalMonths) {
        builder.append(months);
    } else if (type.id == TypeId::kIntervalDayTime) {
        builder.append(static_cast<uint64_t>(millis) << 32 | static_cast<uint32_t>(days));
    } else {
        const int64_t nanos = int64_t{millis} * 1'000'000;
        uint8_t bytes[16];
        base::store(bytes, months);
        base::store(bytes + 4, days);
        base::store(bytes + 8, nanos);
        builder.append_fixed(bytes, sizeof bytes);
    }
    const bool only_months = type.id == TypeId::kIntervalMonths;
    json += fmt::format(R"({{"months":"{}","days":"{}","micros":"{}"}})",
                        type.id == TypeId::kIntervalDayTime ? 0 : months, only_months ? 0 : days,
                        only_months ? 0 : int64_t{millis} * 1000);
}

void append_fixed_binary(const DataType& type, ColumnBuilder& builder, Source& source,
                         std::string& json) {
    const std::string bytes = random_bytes(source, type.fixed_width);
    builder.append_bytes(bytes);
    std::string text = hex(bytes);
    if (type.annotation == Annotation::kUuid)
        text = fmt::format("{}-{}-{}-{}-{}", text.substr(0, 8), text.substr(8, 4),
                           text.substr(12, 4), text.substr(16, 4), text.substr(20));
    append_string(text, json);
}

void append_list(const DataType& type, ColumnBuilder& builder, Source& source, std::string& json) {
    const bool map = type.id == TypeId::kMap;
    const uint64_t length =
        type.id == TypeId::kFixedList ? static_cast<uint64_t>(type.list_size) : source.below(4);
    json += '[';
    for (uint64_t i = 0; i < length; ++i) {
        if (i != 0) json += ',';
        if (!map) {
            append_random(type.children[0], builder.child(0), source, json);
            continue;
        }
        // Keys of one map differ.
        ColumnBuilder& entry = builder.child(0);
        const std::string key = fmt::format("k{}", i);
        entry.child(0).append_bytes(key);
        json += fmt::format(R"({{"key":"{}","value":)", key);
        append_random(type.children[0].type->children[1], entry.child(1), source, json);
        json += '}';
        entry.append_nested();
    }
    json += ']';
    builder.append_nested();
}

void append_struct(const DataType& type, ColumnBuilder& builder, Source& source,
                   std::string& json) {
    json += '{';
    for (size_t i = 0; i < type.children.size(); ++i) {
        if (i != 0) json += ',';
        append_json_string(type.children[i].name, json);
        json += ':';
        append_random(type.children[i], builder.child(static_cast<int>(i)), source, json);
    }
    json += '}';
    builder.append_nested();
}

void append_value(const DataType& type, ColumnBuilder& builder, Source& source, std::string& json) {
    switch (type.id) {
        case TypeId::kBool: {
            const bool value = source.chance(0.5);
            builder.append_bool(value);
            return append_string(value ? "true" : "false", json);
        }
        case TypeId::kInt8:
            return append_integer<int8_t>(builder, source, json);
        case TypeId::kInt16:
            return append_integer<int16_t>(builder, source, json);
        case TypeId::kInt32:
            return append_integer<int32_t>(builder, source, json);
        case TypeId::kInt64:
        case TypeId::kDuration:
            return append_integer<int64_t>(builder, source, json);
        case TypeId::kUInt8:
            return append_integer<uint8_t>(builder, source, json);
        case TypeId::kUInt16:
            return append_integer<uint16_t>(builder, source, json);
        case TypeId::kUInt32:
            return append_integer<uint32_t>(builder, source, json);
        case TypeId::kUInt64:
            return append_integer<uint64_t>(builder, source, json);
        case TypeId::kFloat16:
            return append_half(builder, source, json);
        case TypeId::kFloat32:
            return append_float<float>(builder, source, json);
        case TypeId::kFloat64:
            return append_float<double>(builder, source, json);
        case TypeId::kDecimal:
            return append_decimal(type, builder, source, json);
        case TypeId::kDate32:
        case TypeId::kDate64: {
            const auto days = static_cast<int32_t>(source.below(80'000)) - 30'000;
            if (type.id == TypeId::kDate32)
                builder.append(days);
            else
                builder.append(int64_t{days} * kSecondsPerDay * 1000);
            return append_string(std::to_string(days), json);
        }
        case TypeId::kTime:
            return append_time(type, builder, source, json);
        case TypeId::kTimestamp:
            return append_timestamp(type, builder, source, json);
        case TypeId::kIntervalMonths:
        case TypeId::kIntervalDayTime:
        case TypeId::kIntervalMonthDayNano:
            return append_interval(type, builder, source, json);
        case TypeId::kUtf8: {
            const std::string text = type.annotation == Annotation::kJson
                                         ? fmt::format("{{\"a\":{}}}", source.below(1000))
                                         : random_text(source);
            builder.append_bytes(text);
            return append_string(text, json);
        }
        case TypeId::kBinary: {
            const std::string bytes =
                random_bytes(source, source.below(source.below(20) == 0 ? 200 : 10));
            builder.append_bytes(bytes);
            return append_string(hex(bytes), json);
        }
        case TypeId::kFixedBinary:
            return append_fixed_binary(type, builder, source, json);
        case TypeId::kList:
        case TypeId::kFixedList:
        case TypeId::kMap:
            return append_list(type, builder, source, json);
        case TypeId::kStruct:
            return append_struct(type, builder, source, json);
        default:
            base::raise(base::ErrorKind::kBug, "no random values of {}", column::to_string(type));
    }
}

}  // namespace

void append_json_string(std::string_view text, std::string& json) {
    json += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\')
            (json += '\\') += c;
        else if (static_cast<uint8_t>(c) < 0x20)
            json += fmt::format("\\u{:04x}", static_cast<int>(c));
        else
            json += c;
    }
    json += '"';
}

void append_random(const Field& field, ColumnBuilder& builder, Source& source, std::string& json) {
    if (field.type->id == TypeId::kNull || (field.nullable && source.chance(source.nulls))) {
        builder.append_null();
        json += "null";
        return;
    }
    if (source.variety == 0) return append_value(*field.type, builder, source, json);
    // Few distinct values: restart the generator at one of a few seeds.
    Source few;
    few.nulls = source.nulls;
    few.random.seed(source.below(source.variety) + 1);
    append_value(*field.type, builder, few, json);
}

}  // namespace loom::roundtrip
