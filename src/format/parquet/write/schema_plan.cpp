#include "format/parquet/write/schema_plan.h"

#include <cmath>

#include "base/error.h"

namespace loom::parquet::write {

using column::Annotation;
using column::DataType;
using column::Field;
using column::TimeUnit;
using column::TypeId;

namespace {

// Levels are kept in a byte; no real schema is anywhere near.
constexpr int kMaxLevel = 250;

std::string dotted(const std::vector<std::string>& path) {
    std::string text;
    for (const std::string& part : path) text += text.empty() ? part : "." + part;
    return text;
}

[[noreturn]] void unsupported(const std::vector<std::string>& path, const DataType& type) {
    base::raise(base::ErrorKind::kUnsupported, "column \"{}\": Parquet has no type for {}",
                dotted(path), column::to_string(type));
}

/// What a leaf becomes in the file.
struct LeafType {
    PhysicalType physical;
    int32_t width;  ///< of PhysicalType::kFixed
    Order order;
    LogicalType logical = LogicalType::kNone;
    int converted = kConvertedNone;
};

LeafType integer_type(TypeId id) {
    const bool is_unsigned = id >= TypeId::kUInt8 && id <= TypeId::kUInt64;
    const int log_bytes =
        static_cast<int>(id) - static_cast<int>(is_unsigned ? TypeId::kUInt8 : TypeId::kInt8);
    LeafType leaf{log_bytes == 3 ? PhysicalType::kInt64 : PhysicalType::kInt32, 0,
                  is_unsigned ? Order::kUnsigned : Order::kSigned};
    if (!is_unsigned && log_bytes >= 2) return leaf;  // the physical type says it all
    leaf.logical = LogicalType::kInteger;
    leaf.converted = (is_unsigned ? kConvertedUint8 : kConvertedInt8) + log_bytes;
    return leaf;
}

LeafType decimal_type(const DataType& type) {
    const PhysicalType physical = byte_width(type) == 4   ? PhysicalType::kInt32
                                  : byte_width(type) == 8 ? PhysicalType::kInt64
                                                          : PhysicalType::kFixed;
    return {physical, decimal_bytes(type.precision),
            physical == PhysicalType::kFixed ? Order::kBigEndian : Order::kSigned,
            LogicalType::kDecimal, kConvertedDecimal};
}

LeafType time_type(const DataType& type) {
    if (type.unit <= TimeUnit::kMilli)
        return {PhysicalType::kInt32, 0, Order::kSigned, LogicalType::kTime, kConvertedTimeMillis};
    return {PhysicalType::kInt64, 0, Order::kSigned, LogicalType::kTime,
            type.unit == TimeUnit::kMicro ? kConvertedTimeMicros : kConvertedNone};
}

LeafType timestamp_type(const DataType& type) {
    // The converted types mean UTC; a local time has the logical type only.
    int converted = kConvertedNone;
    if (!type.timezone.empty() && type.unit != TimeUnit::kNano)
        converted =
            type.unit == TimeUnit::kMicro ? kConvertedTimestampMicros : kConvertedTimestampMillis;
    return {PhysicalType::kInt64, 0, Order::kSigned, LogicalType::kTimestamp, converted};
}

LeafType bytes_type(const DataType& type) {
    LeafType leaf{PhysicalType::kByteArray, 0, Order::kBytes};
    switch (type.annotation) {
        case Annotation::kJson:
            leaf.logical = LogicalType::kJson;
            leaf.converted = kConvertedJson;
            break;
        case Annotation::kBson:
            // Without the converted type, which some readers refuse; they see a plain binary then.
            leaf.logical = LogicalType::kBson;
            break;
        case Annotation::kEnum:
            leaf.logical = LogicalType::kEnum;
            leaf.converted = kConvertedEnum;
            break;
        case Annotation::kGeometry:
        case Annotation::kGeography:
            leaf.order = Order::kNone;
            leaf.logical = type.annotation == Annotation::kGeometry ? LogicalType::kGeometry
                                                                    : LogicalType::kGeography;
            break;
        default:
            if (type.id != TypeId::kUtf8) break;
            leaf.logical = LogicalType::kString;
            leaf.converted = kConvertedUtf8;
    }
    return leaf;
}

LeafType leaf_type(const DataType& type, const std::vector<std::string>& path) {
    switch (type.id) {
        case TypeId::kNull:
            return {PhysicalType::kInt32, 0, Order::kNone, LogicalType::kUnknown};
        case TypeId::kBool:
            return {PhysicalType::kBoolean, 0, Order::kSigned};
        case TypeId::kInt8:
        case TypeId::kInt16:
        case TypeId::kInt32:
        case TypeId::kInt64:
        case TypeId::kUInt8:
        case TypeId::kUInt16:
        case TypeId::kUInt32:
        case TypeId::kUInt64:
            return integer_type(type.id);
        case TypeId::kFloat16:
            return {PhysicalType::kFixed, 2, Order::kFloat, LogicalType::kFloat16};
        case TypeId::kFloat32:
            return {PhysicalType::kFloat, 0, Order::kFloat};
        case TypeId::kFloat64:
            return {PhysicalType::kDouble, 0, Order::kFloat};
        case TypeId::kDecimal:
            if (type.scale < 0 || type.scale > type.precision) unsupported(path, type);
            return decimal_type(type);
        case TypeId::kDate32:
        case TypeId::kDate64:
            return {PhysicalType::kInt32, 0, Order::kSigned, LogicalType::kDate, kConvertedDate};
        case TypeId::kTime:
            return time_type(type);
        case TypeId::kTimestamp:
            return timestamp_type(type);
        case TypeId::kDuration:
            return {PhysicalType::kInt64, 0, Order::kSigned};
        case TypeId::kIntervalMonths:
        case TypeId::kIntervalDayTime:
        case TypeId::kIntervalMonthDayNano:
            return {PhysicalType::kFixed, 12, Order::kNone, LogicalType::kNone, kConvertedInterval};
        case TypeId::kUtf8:
        case TypeId::kBinary:
            return bytes_type(type);
        case TypeId::kFixedBinary:
            if (type.fixed_width == 0) unsupported(path, type);
            if (type.annotation == Annotation::kUuid && type.fixed_width == 16)
                return {PhysicalType::kFixed, 16, Order::kBytes, LogicalType::kUuid};
            return {PhysicalType::kFixed, type.fixed_width, Order::kBytes};
        default:
            unsupported(path, type);
    }
}

int32_t value_width(const LeafType& leaf) {
    switch (leaf.physical) {
        case PhysicalType::kBoolean:
            return 1;
        case PhysicalType::kInt32:
        case PhysicalType::kFloat:
            return 4;
        case PhysicalType::kInt64:
        case PhysicalType::kDouble:
            return 8;
        case PhysicalType::kByteArray:
            return 0;
        case PhysicalType::kFixed:
            return leaf.width;
    }
    return 0;
}

}  // namespace

int decimal_bytes(int precision) noexcept {
    return static_cast<int>(std::ceil((precision * std::log2(10.0) + 1) / 8));
}

std::string Leaf::dotted_path() const {
    return dotted(path);
}

SchemaPlan::SchemaPlan(const column::Schema& schema) {
    Element root;
    root.name = "schema";
    root.children = static_cast<int>(schema.fields.size());
    elements_.push_back(std::move(root));
    for (const Field& field : schema.fields) {
        Place place;
        place.column = static_cast<int>(columns.size());
        columns.push_back(add(field, std::move(place), field.name));
    }
}

Node SchemaPlan::add(const Field& field, Place place, const std::string& name) {
    Node node;
    node.type = field.type.get();
    node.nullable = field.nullable || field.type->id == TypeId::kNull;
    place.path.push_back(name);
    place.definition += node.nullable ? 1 : 0;
    if (place.definition > kMaxLevel)
        base::raise(base::ErrorKind::kLimit, "column \"{}\" is nested too deeply",
                    dotted(place.path));
    Element element;
    element.name = name;
    element.repetition = node.nullable ? Repetition::kOptional : Repetition::kRequired;
    element.type = node.type;
    elements_.push_back(std::move(element));
    switch (node.type->id) {
        case TypeId::kList:
        case TypeId::kFixedList:
            return add_list(field, std::move(place), std::move(node));
        case TypeId::kMap:
            return add_map(field, std::move(place), std::move(node));
        case TypeId::kStruct:
            return add_struct(field, place, std::move(node));
        default:
            return add_leaf(field, place, std::move(node));
    }
}

// LogicalTypes.md, "Lists": optional group name (LIST) { repeated group list { element } }.
Node SchemaPlan::add_list(const Field& field, Place place, Node node) {
    Element& group = elements_.back();
    group.children = 1;
    group.logical = LogicalType::kList;
    group.converted = kConvertedList;
    Element repeated;
    repeated.name = "list";
    repeated.repetition = Repetition::kRepeated;
    repeated.children = 1;
    elements_.push_back(std::move(repeated));
    place.path.push_back("list");
    ++place.definition;
    node.repetition = static_cast<uint8_t>(++place.repetition);
    node.children.push_back(add(field.type->children[0], std::move(place), "element"));
    return node;
}

// LogicalTypes.md, "Maps": group name (MAP) { repeated group key_value { required key; value } }.
Node SchemaPlan::add_map(const Field& field, Place place, Node node) {
    Element& group = elements_.back();
    group.children = 1;
    group.logical = LogicalType::kMap;
    group.converted = kConvertedMap;
    Element repeated;
    repeated.name = "key_value";
    repeated.repetition = Repetition::kRepeated;
    repeated.children = 2;
    elements_.push_back(std::move(repeated));
    place.path.push_back("key_value");
    ++place.definition;
    node.repetition = static_cast<uint8_t>(++place.repetition);
    const DataType& entry_type = *field.type->children[0].type;
    Node entry;
    entry.type = &entry_type;
    Field key = entry_type.children[0];
    key.nullable = false;
    entry.children.push_back(add(key, place, "key"));
    entry.children.push_back(add(entry_type.children[1], place, "value"));
    node.children.push_back(std::move(entry));
    return node;
}

Node SchemaPlan::add_struct(const Field& field, const Place& place, Node node) {
    if (field.type->children.empty()) unsupported(place.path, *field.type);
    Element& group = elements_.back();
    group.children = static_cast<int>(field.type->children.size());
    if (field.type->annotation == Annotation::kVariant) group.logical = LogicalType::kVariant;
    for (const Field& member : field.type->children)
        node.children.push_back(add(member, place, member.name));
    return node;
}

Node SchemaPlan::add_leaf(const Field& field, const Place& place, Node node) {
    const LeafType chosen = leaf_type(*field.type, place.path);
    Element& element = elements_.back();
    element.physical = chosen.physical;
    element.type_length = chosen.physical == PhysicalType::kFixed ? chosen.width : 0;
    element.logical = chosen.logical;
    element.converted = chosen.converted;
    Leaf leaf;
    leaf.path = place.path;
    leaf.type = field.type.get();
    leaf.physical = chosen.physical;
    leaf.width = value_width(chosen);
    leaf.order = chosen.order;
    leaf.max_definition = static_cast<uint8_t>(place.definition);
    leaf.max_repetition = static_cast<uint8_t>(place.repetition);
    leaf.column = place.column;
    node.leaf = static_cast<int>(leaves.size());
    leaves.push_back(std::move(leaf));
    return node;
}

void SchemaPlan::write_elements(ThriftWriter& out, int id) const {
    out.begin_list(id, ThriftType::kStruct, elements_.size());
    for (const Element& element : elements_) write_element(out, element);
}

void SchemaPlan::write_element(ThriftWriter& out, const Element& element) {
    out.begin_element();
    if (element.children < 0) {
        out.field_i32(1, static_cast<int>(element.physical));
        if (element.type_length != 0) out.field_i32(2, element.type_length);
    }
    if (element.type != nullptr || element.repetition == Repetition::kRepeated)
        out.field_i32(3, static_cast<int>(element.repetition));
    out.field_binary(4, element.name);
    if (element.children >= 0) out.field_i32(5, element.children);
    if (element.converted != kConvertedNone) out.field_i32(6, element.converted);
    // The root and the repeated groups stand for no field: they have no type, and no logical one.
    if (element.type != nullptr && element.logical != LogicalType::kNone) {
        if (element.logical == LogicalType::kDecimal) {
            out.field_i32(7, element.type->scale);
            out.field_i32(8, element.type->precision);
        }
        write_logical_type(out, element.logical, *element.type);
    }
    out.end_struct();
}

void SchemaPlan::write_logical_type(ThriftWriter& out, LogicalType logical,
                                    const column::DataType& type) {
    out.begin_struct(10);
    out.begin_struct(static_cast<int>(logical));
    switch (logical) {
        case LogicalType::kDecimal:
            out.field_i32(1, type.scale);
            out.field_i32(2, type.precision);
            break;
        case LogicalType::kTime:
        case LogicalType::kTimestamp: {
            const bool utc = logical == LogicalType::kTimestamp && !type.timezone.empty();
            out.field_bool(1, utc);
            const int unit = type.unit == TimeUnit::kNano    ? 3
                             : type.unit == TimeUnit::kMicro ? 2
                                                             : 1;
            out.begin_struct(2);
            out.begin_struct(unit);
            out.end_struct();
            out.end_struct();
            break;
        }
        case LogicalType::kInteger: {
            const bool is_signed = column::is_signed_integer(type.id);
            out.field_byte(1, static_cast<int8_t>(8 * byte_width(type)));
            out.field_bool(2, is_signed);
            break;
        }
        default:
            break;
    }
    out.end_struct();
    out.end_struct();
}

}  // namespace loom::parquet::write
