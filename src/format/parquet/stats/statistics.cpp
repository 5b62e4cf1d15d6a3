// Rules, from parquet.thrift and from what writers have got wrong:
//  - min_value and max_value follow the column's order; without a stated order only types whose
//  signed
//    order is the natural one are believed (all writers agree there).
//  - the deprecated min and max are in signed byte order: right for signed numbers, wrong for
//  strings,
//    unsigned integers and decimals in bytes.
//  - INT96, intervals, geometries, variants and nulls have no order.
//  - NaN bounds, and bounds with min above max (unsigned numbers in signed order), are ignored.
//  - a bound of bytes is exact only if the file says so: writers truncate; zero is never exact for
//    floats, since writers put -0 for min and +0 for max.

#include "format/parquet/stats/statistics.h"

#include <cmath>

#include "column/column_view.h"
#include "format/parquet/decode/convert.h"

namespace loom::parquet {

using column::Annotation;
using column::Scalar;
using column::TypeId;

namespace {

double half_to_double(uint16_t bits) noexcept {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                             : exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                                              : std::ldexp(fraction + 1024, exponent - 25);
    return bits >> 15 != 0 ? -magnitude : magnitude;
}

Scalar float_bound(double value) {
    return std::isnan(value) ? Scalar{} : Scalar::of_float(value);
}

Scalar integer_bound(const LeafType& leaf, base::ByteSpan bytes) {
    const bool wide = leaf.physical == PhysicalType::kInt64;
    if (bytes.size() != (wide ? 8U : 4U)) return {};
    const auto value =
        wide ? base::load<int64_t>(bytes.data()) : int64_t{base::load<int32_t>(bytes.data())};
    if (!leaf.has_signed_order)
        return Scalar::of_int(wide ? static_cast<column::Int128>(static_cast<uint64_t>(value))
                                   : static_cast<column::Int128>(static_cast<uint32_t>(value)));
    return Scalar::of_int(value);
}

// A narrow column whose bound lies outside its type has values that were cut: nothing is known
// then.
bool fits_type(const LeafType& leaf, const Scalar& value) noexcept {
    if (leaf.conversion != Conversion::kNarrowInt) return true;
    const int bits = 8 * column::byte_width(*leaf.type);
    const column::Int128 low = leaf.has_signed_order ? -(column::Int128{1} << (bits - 1)) : 0;
    const column::Int128 high = low + (column::Int128{1} << bits) - 1;
    return value.integer >= low && value.integer <= high;
}

Scalar decimal_bound(base::ByteSpan bytes) {
    uint8_t value[16];
    if (bytes.empty() ||
        !read_big_endian(bytes.data(), static_cast<int64_t>(bytes.size()), 16, value))
        return {};
    return Scalar::of_int(base::load<column::Int128>(value));
}

bool is_float(TypeId id) noexcept {
    return id == TypeId::kFloat16 || id == TypeId::kFloat32 || id == TypeId::kFloat64;
}

bool has_order(const LeafType& leaf) noexcept {
    switch (leaf.conversion) {
        case Conversion::kInt96:
        case Conversion::kInterval:
        case Conversion::kAllNull:
        case Conversion::kRefused:
            return false;
        default:
            break;
    }
    const Annotation annotation = leaf.type->annotation;
    return annotation != Annotation::kGeometry && annotation != Annotation::kGeography &&
           annotation != Annotation::kVariant;
}

// Whether comparing as signed numbers is comparing values.
bool is_signed_number(const LeafType& leaf) noexcept {
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
        case PhysicalType::kFloat:
        case PhysicalType::kDouble:
            return true;
        case PhysicalType::kInt32:
        case PhysicalType::kInt64:
            return leaf.has_signed_order;
        default:
            return false;
    }
}

bool is_exact(const LeafType& leaf, const Scalar& bound, std::optional<bool> stated) noexcept {
    if (!bound.known()) return false;
    if (bound.kind == Scalar::Kind::kFloat && bound.number == 0) return false;
    return stated.value_or(bound.kind != Scalar::Kind::kBytes);
}

}  // namespace

Scalar decode_bound(const LeafType& leaf, base::ByteSpan bytes) {
    if (!has_order(leaf)) return {};
    if (leaf.conversion == Conversion::kBytesToDecimal) return decimal_bound(bytes);
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
            return bytes.size() == 1 ? Scalar::of_int(bytes[0] != 0 ? 1 : 0) : Scalar{};
        case PhysicalType::kInt32:
        case PhysicalType::kInt64: {
            Scalar bound = integer_bound(leaf, bytes);
            return bound.known() && fits_type(leaf, bound) ? bound : Scalar{};
        }
        case PhysicalType::kFloat:
            return bytes.size() == 4
                       ? float_bound(static_cast<double>(base::load<float>(bytes.data())))
                       : Scalar{};
        case PhysicalType::kDouble:
            return bytes.size() == 8 ? float_bound(base::load<double>(bytes.data())) : Scalar{};
        case PhysicalType::kFixedLenByteArray:
            if (leaf.type->id == TypeId::kFloat16)
                return bytes.size() == 2
                           ? float_bound(half_to_double(base::load<uint16_t>(bytes.data())))
                           : Scalar{};
            return Scalar::of_bytes(std::string(base::as_text(bytes)));
        case PhysicalType::kByteArray:
            return Scalar::of_bytes(std::string(base::as_text(bytes)));
        case PhysicalType::kInt96:
            break;
    }
    return {};
}

bool has_usable_order(const LeafType& leaf, Footer::Order order) noexcept {
    if (!has_order(leaf)) return false;
    switch (order) {
        case Footer::Order::kType:
            return true;
        case Footer::Order::kTotal:
            return is_float(leaf.type->id);
        case Footer::Order::kUnstated:
            return is_signed_number(leaf);
        case Footer::Order::kOther:
            break;
    }
    return false;
}

void set_bounds(Scalar min, Scalar max, format::ColumnStatistics& out) {
    if (min.known() && max.known() && column::compare(min, max) > 0) return;
    out.min = std::move(min);
    out.max = std::move(max);
}

format::ColumnStatistics usable_statistics(const Leaf& leaf, Footer::Order order,
                                           const ColumnChunk& chunk) {
    format::ColumnStatistics out;
    const RawStatistics& raw = chunk.statistics;
    if (raw.null_count >= 0 && raw.null_count <= chunk.value_count) out.null_count = raw.null_count;
    if (raw.distinct_count >= 0) out.distinct_count = raw.distinct_count;
    if (raw.nan_count >= 0 && is_float(leaf.type.type->id)) out.nan_count = raw.nan_count;
    if ((raw.min_value || raw.max_value) && has_usable_order(leaf.type, order)) {
        set_bounds(raw.min_value ? decode_bound(leaf.type, *raw.min_value) : Scalar{},
                   raw.max_value ? decode_bound(leaf.type, *raw.max_value) : Scalar{}, out);
        out.min_exact = is_exact(leaf.type, out.min, raw.min_exact);
        out.max_exact = is_exact(leaf.type, out.max, raw.max_exact);
    } else if ((raw.min || raw.max) && has_order(leaf.type) && is_signed_number(leaf.type)) {
        set_bounds(raw.min ? decode_bound(leaf.type, *raw.min) : Scalar{},
                   raw.max ? decode_bound(leaf.type, *raw.max) : Scalar{}, out);
        out.min_exact = is_exact(leaf.type, out.min, std::nullopt);
        out.max_exact = is_exact(leaf.type, out.max, std::nullopt);
    }
    return out;
}

}  // namespace loom::parquet
