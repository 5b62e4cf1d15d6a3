#include "format/parquet/schema/leaf_type.h"

#include <array>

#include <fmt/format.h>

#include "column/column_view.h"

namespace loom::parquet {

using column::Annotation;
using column::TimeUnit;
using column::TypeId;

namespace {

// Longer fixed values have not been seen; the bound keeps a batch of NULLs below 4 GB.
constexpr int32_t kMaxTypeLength = 1 << 20;

LogicalType integer(int bits, bool is_signed) {
    LogicalType type{LogicalKind::kInteger};
    type.bit_width = bits;
    type.is_signed = is_signed;
    return type;
}

LogicalType temporal(LogicalKind kind, int unit) {
    // The format's compatibility rules: the old annotations mean instants in UTC.
    LogicalType type{kind};
    type.adjusted_to_utc = true;
    type.unit = unit;
    return type;
}

column::TypePtr annotated(TypeId id, Annotation annotation) {
    return column::with_annotation(*column::make_type(id), annotation);
}

// The physical type's own meaning.
void set_physical(LeafType& leaf) {
    static constexpr TypeId kIds[] = {TypeId::kBool,      TypeId::kInt32,      TypeId::kInt64,
                                      TypeId::kTimestamp, TypeId::kFloat32,    TypeId::kFloat64,
                                      TypeId::kBinary,    TypeId::kFixedBinary};
    leaf.conversion = Conversion::kNone;
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
            leaf.conversion = Conversion::kBool;
            break;
        case PhysicalType::kInt96:
            leaf.conversion = Conversion::kInt96;
            leaf.type = column::make_timestamp(TimeUnit::kMicro);
            return;
        case PhysicalType::kFixedLenByteArray:
            leaf.type = column::make_fixed_binary(leaf.type_length);
            return;
        default:
            break;
    }
    leaf.type = column::make_type(kIds[static_cast<int>(leaf.physical)]);
}

void set_integer(LeafType& leaf, const LogicalType& logical) {
    struct Shape {
        PhysicalType physical;
        int bits;
        TypeId signed_id, unsigned_id;
    };
    static constexpr Shape kShapes[] = {
        {PhysicalType::kInt32, 8, TypeId::kInt8, TypeId::kUInt8},
        {PhysicalType::kInt32, 16, TypeId::kInt16, TypeId::kUInt16},
        {PhysicalType::kInt32, 32, TypeId::kInt32, TypeId::kUInt32},
        {PhysicalType::kInt64, 64, TypeId::kInt64, TypeId::kUInt64},
    };
    for (const Shape& shape : kShapes) {
        if (shape.physical != leaf.physical || shape.bits != logical.bit_width) continue;
        leaf.type = column::make_type(logical.is_signed ? shape.signed_id : shape.unsigned_id);
        leaf.has_signed_order = logical.is_signed;
        if (shape.bits < 32) leaf.conversion = Conversion::kNarrowInt;
    }
}

void set_decimal(LeafType& leaf, const LogicalType& logical) {
    constexpr int kMaxDigits = 76;
    if (logical.precision <= 0 || logical.scale < -1000 || logical.scale > 1000) return;
    const bool integers =
        leaf.physical == PhysicalType::kInt32 || leaf.physical == PhysicalType::kInt64;
    const bool bytes = leaf.physical == PhysicalType::kByteArray ||
                       leaf.physical == PhysicalType::kFixedLenByteArray;
    if (!integers && !bytes) return;
    leaf.type = column::make_decimal(logical.precision, logical.scale);
    if (logical.precision > kMaxDigits) {
        leaf.conversion = Conversion::kRefused;
        leaf.refusal = fmt::format("a decimal of {} digits is not supported, {} is the most",
                                   logical.precision, kMaxDigits);
    } else if (bytes) {
        leaf.conversion = Conversion::kBytesToDecimal;
    } else if (leaf.logical_width() != leaf.physical_width()) {
        leaf.conversion = Conversion::kIntToDecimal;
    }
}

void set_temporal(LeafType& leaf, const LogicalType& logical) {
    if (logical.unit < 1 || logical.unit > 3) return;
    const auto unit = static_cast<TimeUnit>(logical.unit);  // 1 ms, 2 us, 3 ns in both
    if (logical.kind == LogicalKind::kTimestamp) {
        if (leaf.physical == PhysicalType::kInt64)
            leaf.type = column::make_timestamp(unit, logical.adjusted_to_utc ? "UTC" : "");
        return;
    }
    const PhysicalType wanted =
        unit == TimeUnit::kMilli ? PhysicalType::kInt32 : PhysicalType::kInt64;
    if (leaf.physical == wanted) leaf.type = column::make_time(unit);
}

void set_bytes(LeafType& leaf, LogicalKind kind) {
    if (leaf.physical != PhysicalType::kByteArray) return;
    switch (kind) {
        case LogicalKind::kString:
            leaf.type = column::make_type(TypeId::kUtf8);
            break;
        case LogicalKind::kEnum:
            leaf.type = annotated(TypeId::kUtf8, Annotation::kEnum);
            break;
        case LogicalKind::kJson:
            leaf.type = annotated(TypeId::kUtf8, Annotation::kJson);
            break;
        case LogicalKind::kBson:
            leaf.type = annotated(TypeId::kBinary, Annotation::kBson);
            break;
        case LogicalKind::kGeometry:
            leaf.type = annotated(TypeId::kBinary, Annotation::kGeometry);
            break;
        case LogicalKind::kGeography:
            leaf.type = annotated(TypeId::kBinary, Annotation::kGeography);
            break;
        default:
            break;
    }
}

void set_fixed(LeafType& leaf, LogicalKind kind) {
    if (leaf.physical != PhysicalType::kFixedLenByteArray) return;
    if (kind == LogicalKind::kUuid && leaf.type_length == 16)
        leaf.type = column::with_annotation(*leaf.type, Annotation::kUuid);
    if (kind == LogicalKind::kFloat16 && leaf.type_length == 2)
        leaf.type = column::make_type(TypeId::kFloat16);
}

void apply(LeafType& leaf, const LogicalType& logical) {
    switch (logical.kind) {
        case LogicalKind::kInteger:
            return set_integer(leaf, logical);
        case LogicalKind::kDecimal:
            return set_decimal(leaf, logical);
        case LogicalKind::kTime:
        case LogicalKind::kTimestamp:
            return set_temporal(leaf, logical);
        case LogicalKind::kDate:
            if (leaf.physical == PhysicalType::kInt32)
                leaf.type = column::make_type(TypeId::kDate32);
            return;
        case LogicalKind::kNull:
            leaf.type = column::make_type(TypeId::kNull);
            leaf.conversion = Conversion::kAllNull;
            return;
        case LogicalKind::kUuid:
        case LogicalKind::kFloat16:
            return set_fixed(leaf, logical.kind);
        default:
            return set_bytes(leaf, logical.kind);
    }
}

}  // namespace

int32_t LeafType::physical_width() const noexcept {
    static constexpr int32_t kWidths[] = {1, 4, 8, 12, 4, 8, sizeof(column::BytesView)};
    return physical == PhysicalType::kFixedLenByteArray ? type_length
                                                        : kWidths[static_cast<int>(physical)];
}

int32_t LeafType::logical_width() const noexcept {
    return column::is_bytes(type->id) ? static_cast<int32_t>(sizeof(column::BytesView))
                                      : column::byte_width(*type);
}

LogicalType effective_logical_type(const SchemaElement& element) {
    LogicalType logical = element.logical;
    if (logical.kind != LogicalKind::kNone && logical.kind != LogicalKind::kUnknownFuture)
        return logical;
    switch (element.converted) {
        case ConvertedType::kUtf8:
            return {LogicalKind::kString};
        case ConvertedType::kMap:
        case ConvertedType::kMapKeyValue:
            return {LogicalKind::kMap};
        case ConvertedType::kList:
            return {LogicalKind::kList};
        case ConvertedType::kEnum:
            return {LogicalKind::kEnum};
        case ConvertedType::kDecimal:
            logical = {LogicalKind::kDecimal};
            logical.scale = element.scale.value_or(0);
            logical.precision = element.precision.value_or(0);
            return logical;
        case ConvertedType::kDate:
            return {LogicalKind::kDate};
        case ConvertedType::kTimeMillis:
            return temporal(LogicalKind::kTime, 1);
        case ConvertedType::kTimeMicros:
            return temporal(LogicalKind::kTime, 2);
        case ConvertedType::kTimestampMillis:
            return temporal(LogicalKind::kTimestamp, 1);
        case ConvertedType::kTimestampMicros:
            return temporal(LogicalKind::kTimestamp, 2);
        case ConvertedType::kUint8:
            return integer(8, false);
        case ConvertedType::kUint16:
            return integer(16, false);
        case ConvertedType::kUint32:
            return integer(32, false);
        case ConvertedType::kUint64:
            return integer(64, false);
        case ConvertedType::kInt8:
            return integer(8, true);
        case ConvertedType::kInt16:
            return integer(16, true);
        case ConvertedType::kInt32:
            return integer(32, true);
        case ConvertedType::kInt64:
            return integer(64, true);
        case ConvertedType::kJson:
            return {LogicalKind::kJson};
        case ConvertedType::kBson:
            return {LogicalKind::kBson};
        case ConvertedType::kInterval:
        case ConvertedType::kNone:
            break;
    }
    return {LogicalKind::kNone};
}

LeafType make_leaf_type(const SchemaElement& element) {
    LeafType leaf;
    const int32_t physical = element.physical.value_or(-1);
    if (physical < 0 || physical > static_cast<int32_t>(PhysicalType::kFixedLenByteArray))
        base::corrupt("column \"{}\" has the unknown physical type {}", element.name, physical);
    leaf.physical = static_cast<PhysicalType>(physical);
    leaf.type_length = element.type_length;
    if (leaf.physical == PhysicalType::kFixedLenByteArray) {
        if (leaf.type_length < 0)
            base::corrupt("column \"{}\" has values of {} bytes", element.name, leaf.type_length);
        if (leaf.type_length > kMaxTypeLength)
            base::raise(base::ErrorKind::kLimit, "column \"{}\" has values of {} bytes",
                        element.name, leaf.type_length);
    }
    set_physical(leaf);
    if (element.converted == ConvertedType::kInterval && leaf.type_length == 12 &&
        leaf.physical == PhysicalType::kFixedLenByteArray) {
        leaf.type = column::make_type(TypeId::kIntervalMonthDayNano);
        leaf.conversion = Conversion::kInterval;
    } else {
        apply(leaf, effective_logical_type(element));
    }
    return leaf;
}

std::string describe_type(const SchemaElement& element) {
    static constexpr std::array<std::string_view, 19> kNames = {
        "",     "STRING",    "MAP",     "LIST",     "ENUM",     "DECIMAL", "DATE",
        "TIME", "TIMESTAMP", "",        "INTEGER",  "UNKNOWN",  "JSON",    "BSON",
        "UUID", "FLOAT16",   "VARIANT", "GEOMETRY", "GEOGRAPHY"};
    const LogicalType logical = effective_logical_type(element);
    const int32_t physical = element.physical.value_or(-1);
    std::string text = physical >= 0 && physical <= 7
                           ? std::string(name(static_cast<PhysicalType>(physical)))
                           : "GROUP";
    if (physical == static_cast<int32_t>(PhysicalType::kFixedLenByteArray))
        text += fmt::format("({})", element.type_length);
    const auto kind = static_cast<size_t>(logical.kind);
    if (kind > 0 && kind < kNames.size()) {
        text += ' ';
        text += kNames[kind];
    }
    if (logical.kind == LogicalKind::kDecimal)
        text += fmt::format("({},{})", logical.precision, logical.scale);
    if (logical.kind == LogicalKind::kInteger)
        text +=
            fmt::format("({},{})", logical.bit_width, logical.is_signed ? "signed" : "unsigned");
    return text;
}

}  // namespace loom::parquet
