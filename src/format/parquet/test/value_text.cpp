#include "format/parquet/test/value_text.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "column/scalar.h"

namespace loom::parquet::test {

using column::BytesView;
using column::ColumnView;
using column::Encoding;
using column::TypeId;

namespace {

// Finds the plain view and slot that hold a row's value, or returns false for NULL.
bool resolve(const ColumnView*& view, int64_t& row) {
    if (view->encoding == Encoding::kRuns) {
        const int32_t* end = std::upper_bound(view->run_ends, view->run_ends + view->run_count,
                                              static_cast<int32_t>(row));
        row = end - view->run_ends;
    }
    if (view->is_null(row)) return false;
    if (view->dictionary == nullptr) return view->type->id != TypeId::kNull;
    const uint32_t code = view->code(row);
    view = &view->dictionary->values;
    row = code;
    return !view->is_null(row);
}

double half_to_double(uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double mantissa = bits & 1023;
    double value = exponent == 0    ? std::ldexp(mantissa, -24)
                   : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                    : std::ldexp(mantissa + 1024, exponent - 25);
    return bits >> 15 != 0 ? -value : value;
}

double float_at(const ColumnView& view, int64_t row) {
    switch (view.type->id) {
        case TypeId::kFloat16:
            return half_to_double(view.as<uint16_t>()[row]);
        case TypeId::kFloat32:
            return static_cast<double>(view.as<float>()[row]);
        default:
            return view.as<double>()[row];
    }
}

bool is_unsigned(TypeId id) {
    return id >= TypeId::kUInt8 && id <= TypeId::kUInt64;
}

__int128 integer_at(const ColumnView& view, int64_t row) {
    if (view.type->id == TypeId::kBool) return base::bit_at(view.as<uint8_t>(), row);
    const bool plain = !is_unsigned(view.type->id);
    switch (column::byte_width(*view.type)) {
        case 1:
            return plain ? __int128{view.as<int8_t>()[row]} : view.as<uint8_t>()[row];
        case 2:
            return plain ? __int128{view.as<int16_t>()[row]} : view.as<uint16_t>()[row];
        case 4:
            return plain ? __int128{view.as<int32_t>()[row]} : view.as<uint32_t>()[row];
        case 8:
            return plain ? __int128{view.as<int64_t>()[row]} : view.as<uint64_t>()[row];
        default:
            return base::load<__int128>(view.as<uint8_t>() + row * column::byte_width(*view.type));
    }
}

bool is_float(TypeId id) {
    return id == TypeId::kFloat16 || id == TypeId::kFloat32 || id == TypeId::kFloat64;
}

bool is_integral(const column::DataType& type) {
    return column::is_integer(type.id) || type.id == TypeId::kBool || type.id == TypeId::kDate32 ||
           type.id == TypeId::kTime || type.id == TypeId::kTimestamp ||
           (type.id == TypeId::kDecimal && type.byte_width8 <= 16);
}

void append_nested(const ColumnView& view, int64_t row, std::string& out) {
    if (view.type->id == TypeId::kStruct) {
        out += '{';
        for (int32_t i = 0; i < view.child_count; ++i) append_value(view.children[i], row, out);
        out += '}';
        return;
    }
    out += '[';
    for (int64_t i = view.offsets[row]; i < view.offsets[row + 1]; ++i)
        append_value(view.children[0], i, out);
    out += ']';
}

}  // namespace

void append_value(const ColumnView& given, int64_t row, std::string& out) {
    const ColumnView* view = &given;
    if (!resolve(view, row)) {
        out += "null,";
        return;
    }
    const column::DataType& type = *view->type;
    if (column::is_nested(type.id)) return append_nested(*view, row, out);
    if (column::is_bytes(type.id)) {
        const BytesView value = view->as<BytesView>()[row];
        out += fmt::format("{}:", value.size);
        out += value.text();
    } else if (type.id == TypeId::kBool) {
        out += base::bit_at(view->as<uint8_t>(), row) ? "true" : "false";
    } else {
        const auto width = static_cast<size_t>(column::byte_width(type));
        const auto* bytes = view->as<uint8_t>() + static_cast<size_t>(row) * width;
        for (size_t i = 0; i < width; ++i) out += fmt::format("{:02x}", bytes[i]);
    }
    out += ',';
}

void Summary::add(const ColumnView& given) {
    rows += given.length;
    for (int64_t i = 0; i < given.length; ++i) {
        const ColumnView* view = &given;
        int64_t row = i;
        if (!resolve(view, row)) continue;
        const bool first = non_null++ == 0;
        type = *view->type;
        if (is_float(type.id)) {
            const double value = float_at(*view, row);
            if (std::isfinite(value)) float_sum += value;
            // NaN sorts above all.
            auto above = [](double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; };
            if (first || above(float_min, value)) float_min = value;
            if (first || above(value, float_max)) float_max = value;
        } else if (is_integral(type)) {
            const __int128 value = integer_at(*view, row);
            integer_sum += value;
            integer_min = first ? value : std::min(integer_min, value);
            integer_max = first ? value : std::max(integer_max, value);
        } else if (column::is_bytes(type.id)) {
            const BytesView value = view->as<BytesView>()[row];
            integer_sum += value.size;
            const std::string text(value.text());
            if (first || text < bytes_min) bytes_min = text;
            if (first || text > bytes_max) bytes_max = text;
        }
    }
}

}  // namespace loom::parquet::test
