#include "text_table.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "io/file.h"

namespace loom::test {

using column::ColumnBuilder;
using column::DataType;
using column::TimeUnit;
using column::TypeId;

TextColumn& TextTable::add(std::string name, column::TypePtr type) {
    columns.push_back({{std::move(name), std::move(type)}, {}});
    return columns.back();
}

namespace {

// 256-bit arithmetic is enough for every decimal: multiply by ten and add, then negate.
struct Wide {
    uint64_t limbs[4] = {};
    void push(int digit) {
        unsigned __int128 carry = static_cast<unsigned>(digit);
        for (uint64_t& limb : limbs) {
            carry += static_cast<unsigned __int128>(limb) * 10;
            limb = static_cast<uint64_t>(carry);
            carry >>= 64;
        }
    }
    void negate() {
        unsigned __int128 carry = 1;
        for (uint64_t& limb : limbs) {
            carry += ~limb;
            limb = static_cast<uint64_t>(carry);
            carry >>= 64;
        }
    }
};

void append_decimal(ColumnBuilder& builder, const DataType& type, const std::string& text) {
    Wide value;
    int fraction = 0;
    bool point = false;
    for (char c : text) {
        if (c == '.') point = true;
        if (c < '0' || c > '9') continue;
        value.push(c - '0');
        fraction += point ? 1 : 0;
    }
    for (; fraction < type.scale; ++fraction) value.push(0);
    if (text[0] == '-') value.negate();
    builder.append_fixed(value.limbs, type.byte_width8);
}

// Days from 1970-01-01 of a proleptic Gregorian date.
int64_t days_of(int64_t year, int month, int day) {
    year -= month <= 2;
    const int64_t era = (year >= 0 ? year : year - 399) / 400;
    const int64_t year_of_era = year - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

int64_t parse_date(const char** text) {
    char* end;
    const long year = std::strtol(*text, &end, 10);
    const long month = std::strtol(end + 1, &end, 10);
    const long day = std::strtol(end + 1, &end, 10);
    *text = end;
    return days_of(year, static_cast<int>(month), static_cast<int>(day));
}

// hh:mm:ss[.fraction] in nanoseconds.
int64_t parse_time(const char* text) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    int used = 0;
    std::sscanf(text, "%d:%d:%d%n", &hour, &minute, &second, &used);
    int64_t nanos = 0;
    int64_t weight = 100'000'000;
    if (text[used] == '.')
        for (const char* p = text + used + 1; *p >= '0' && *p <= '9'; ++p, weight /= 10)
            nanos += (*p - '0') * weight;
    return ((hour * 60LL + minute) * 60 + second) * 1'000'000'000 + nanos;
}

int64_t nanos_per_unit(TimeUnit unit) {
    switch (unit) {
        case TimeUnit::kSecond:
            return 1'000'000'000;
        case TimeUnit::kMilli:
            return 1'000'000;
        case TimeUnit::kMicro:
            return 1'000;
        case TimeUnit::kNano:
            return 1;
    }
    return 1;
}

void append_timestamp(ColumnBuilder& builder, const DataType& type, const std::string& text) {
    const char* p = text.c_str();
    const __int128 days = parse_date(&p);
    const __int128 nanos = days * 86'400 * 1'000'000'000 + parse_time(p + 1);
    const int64_t unit = nanos_per_unit(type.unit);
    __int128 value = nanos / unit;
    if (nanos % unit < 0) --value;
    builder.append(static_cast<int64_t>(value));
}

template <typename T>
void append_integer(ColumnBuilder& builder, const std::string& text) {
    T value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    builder.append(value);
}

std::string unhex(const std::string& text) {
    std::string bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        if (text[i] == '-')
            --i;
        else
            bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
    }
    return bytes;
}

void append_list(ColumnBuilder& builder, const DataType& type, const std::string& text) {
    size_t begin = 1;
    while (begin < text.size() - 1) {
        size_t end = text.find(',', begin);
        if (end == std::string::npos) end = text.size() - 1;
        const std::string element = text.substr(begin, end - begin);
        append_text(builder.child(0), *type.children[0].type,
                    element == "NULL" ? Cell() : Cell(element));
        begin = end + 1;
    }
    builder.append_nested();
}

column::Column build(const TextColumn& column) {
    ColumnBuilder builder(column.field.type);
    for (const Cell& cell : column.cells) append_text(builder, *column.field.type, cell);
    return builder.finish();
}

struct BuiltTable {
    column::Schema schema;
    std::vector<column::Column> columns;
    std::vector<column::ColumnView> views;

    explicit BuiltTable(const TextTable& table) {
        for (const TextColumn& column : table.columns) {
            schema.fields.push_back(column.field);
            columns.push_back(build(column));
        }
        for (column::Column& column : columns) views.push_back(column.view());
    }
};

}  // namespace

void append_text(ColumnBuilder& builder, const DataType& type, const Cell& cell) {
    if (!cell || type.id == TypeId::kNull) return builder.append_null();
    const std::string& text = *cell;
    switch (type.id) {
        case TypeId::kBool:
            return builder.append_bool(text == "t");
        case TypeId::kInt8:
            return append_integer<int8_t>(builder, text);
        case TypeId::kInt16:
            return append_integer<int16_t>(builder, text);
        case TypeId::kInt32:
            return append_integer<int32_t>(builder, text);
        case TypeId::kInt64:
            return append_integer<int64_t>(builder, text);
        case TypeId::kUInt8:
            return append_integer<uint8_t>(builder, text);
        case TypeId::kUInt16:
            return append_integer<uint16_t>(builder, text);
        case TypeId::kUInt32:
            return append_integer<uint32_t>(builder, text);
        case TypeId::kUInt64:
            return append_integer<uint64_t>(builder, text);
        case TypeId::kFloat32:
            return builder.append(std::strtof(text.c_str(), nullptr));
        case TypeId::kFloat64:
            return builder.append(std::strtod(text.c_str(), nullptr));
        case TypeId::kDecimal:
            return append_decimal(builder, type, text);
        case TypeId::kDate32: {
            const char* p = text.c_str();
            return builder.append(static_cast<int32_t>(parse_date(&p)));
        }
        case TypeId::kTime: {
            const int64_t value = parse_time(text.c_str()) / nanos_per_unit(type.unit);
            if (type.byte_width8 == 4) return builder.append(static_cast<int32_t>(value));
            return builder.append(value);
        }
        case TypeId::kTimestamp:
            return append_timestamp(builder, type, text);
        case TypeId::kUtf8:
            return builder.append_bytes(text);
        case TypeId::kBinary:
            return builder.append_bytes(unhex(text.substr(2)));
        case TypeId::kFixedBinary:
            return builder.append_bytes(unhex(text));
        case TypeId::kList:
            return append_list(builder, type, text);
        default:
            base::raise(base::ErrorKind::kBug, "no text form of {}", column::to_string(type));
    }
}

void write_parquet(const TextTable& table, const std::string& path,
                   parquet::WriterOptions options) {
    BuiltTable built(table);
    parquet::Writer writer(built.schema, std::move(options), io::create_local_file(path));
    writer.write(built.views, static_cast<int64_t>(table.rows()));
    writer.finish();
}

void write_arrow(const TextTable& table, const std::string& path, arrow::WriterOptions options) {
    BuiltTable built(table);
    arrow::Writer writer(built.schema, std::move(options), io::create_local_file(path));
    writer.write(built.views, static_cast<int64_t>(table.rows()));
    writer.finish();
}

void write_csv(const TextTable& table, const std::string& path) {
    std::ofstream out(path);
    for (size_t row = 0; row < table.rows(); ++row) {
        for (size_t c = 0; c < table.columns.size(); ++c) {
            if (c != 0) out << ',';
            const Cell& cell = table.columns[c].cells[row];
            if (!cell) {
                out << "\\N";
                continue;
            }
            out << '"';
            for (char ch : *cell) {
                if (ch == '"') out << '"';
                out << ch;
            }
            out << '"';
        }
        out << '\n';
    }
}

}  // namespace loom::test
