#include "column/data_type.h"

#include <algorithm>

#include <fmt/format.h>

namespace loom::column {

const std::string* Field::find_metadata(std::string_view key) const {
    for (const KeyValue& entry : metadata)
        if (entry.key == key) return &entry.value;
    return nullptr;
}

int32_t byte_width(const DataType& type) noexcept {
    switch (type.id) {
        case TypeId::kInt8:
        case TypeId::kUInt8:
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion:
            return 1;
        case TypeId::kInt16:
        case TypeId::kUInt16:
        case TypeId::kFloat16:
            return 2;
        case TypeId::kInt32:
        case TypeId::kUInt32:
        case TypeId::kFloat32:
        case TypeId::kDate32:
        case TypeId::kIntervalMonths:
            return 4;
        case TypeId::kInt64:
        case TypeId::kUInt64:
        case TypeId::kFloat64:
        case TypeId::kDate64:
        case TypeId::kTimestamp:
        case TypeId::kDuration:
        case TypeId::kIntervalDayTime:
            return 8;
        case TypeId::kIntervalMonthDayNano:
            return 16;
        case TypeId::kDecimal:
        case TypeId::kTime:
            return type.byte_width8;
        case TypeId::kFixedBinary:
            return type.fixed_width;
        default:
            return 0;
    }
}

bool is_nested(TypeId id) noexcept {
    return id >= TypeId::kList;
}

bool is_integer(TypeId id) noexcept {
    return id >= TypeId::kInt8 && id <= TypeId::kUInt64;
}

bool is_signed_integer(TypeId id) noexcept {
    return id >= TypeId::kInt8 && id <= TypeId::kInt64;
}

bool equal(const DataType& a, const DataType& b) noexcept {
    if (a.id != b.id || a.annotation != b.annotation || a.children.size() != b.children.size())
        return false;
    switch (a.id) {
        case TypeId::kDecimal:
            if (a.precision != b.precision || a.scale != b.scale || a.byte_width8 != b.byte_width8)
                return false;
            break;
        case TypeId::kTime:
        case TypeId::kDuration:
            if (a.unit != b.unit) return false;
            break;
        case TypeId::kTimestamp:
            if (a.unit != b.unit || a.timezone != b.timezone) return false;
            break;
        case TypeId::kFixedBinary:
            if (a.fixed_width != b.fixed_width) return false;
            break;
        case TypeId::kFixedList:
            if (a.list_size != b.list_size) return false;
            break;
        default:
            break;
    }
    for (size_t i = 0; i < a.children.size(); ++i) {
        if (a.id == TypeId::kStruct && a.children[i].name != b.children[i].name) return false;
        if (!equal(*a.children[i].type, *b.children[i].type)) return false;
    }
    return true;
}

namespace {

constexpr const char* kUnitNames[] = {"s", "ms", "us", "ns"};

const char* unit_name(TimeUnit unit) {
    return kUnitNames[static_cast<int>(unit)];
}

std::string members(const DataType& type) {
    std::string text;
    for (const Field& child : type.children) {
        if (!text.empty()) text += ", ";
        text += child.name + ": " + to_string(*child.type);
    }
    return text;
}

std::string base_name(const DataType& type) {
    switch (type.id) {
        case TypeId::kNull:
            return "null";
        case TypeId::kBool:
            return "bool";
        case TypeId::kInt8:
            return "int8";
        case TypeId::kInt16:
            return "int16";
        case TypeId::kInt32:
            return "int32";
        case TypeId::kInt64:
            return "int64";
        case TypeId::kUInt8:
            return "uint8";
        case TypeId::kUInt16:
            return "uint16";
        case TypeId::kUInt32:
            return "uint32";
        case TypeId::kUInt64:
            return "uint64";
        case TypeId::kFloat16:
            return "float16";
        case TypeId::kFloat32:
            return "float32";
        case TypeId::kFloat64:
            return "float64";
        case TypeId::kDecimal:
            return fmt::format("decimal({},{})", type.precision, type.scale);
        case TypeId::kDate32:
            return "date";
        case TypeId::kDate64:
            return "date[ms]";
        case TypeId::kTime:
            return fmt::format("time[{}]", unit_name(type.unit));
        case TypeId::kTimestamp:
            return type.timezone.empty()
                       ? fmt::format("timestamp[{}]", unit_name(type.unit))
                       : fmt::format("timestamp[{}, {}]", unit_name(type.unit), type.timezone);
        case TypeId::kDuration:
            return fmt::format("duration[{}]", unit_name(type.unit));
        case TypeId::kIntervalMonths:
            return "interval[months]";
        case TypeId::kIntervalDayTime:
            return "interval[days, ms]";
        case TypeId::kIntervalMonthDayNano:
            return "interval[months, days, ns]";
        case TypeId::kUtf8:
            return "utf8";
        case TypeId::kBinary:
            return "binary";
        case TypeId::kFixedBinary:
            return fmt::format("fixed_binary({})", type.fixed_width);
        case TypeId::kList:
            return fmt::format("list<{}>", to_string(*type.children[0].type));
        case TypeId::kFixedList:
            return fmt::format("list<{}>[{}]", to_string(*type.children[0].type), type.list_size);
        case TypeId::kStruct:
            return fmt::format("struct<{}>", members(type));
        case TypeId::kMap:
            return fmt::format("map<{}>", members(*type.children[0].type));
        case TypeId::kSparseUnion:
            return fmt::format("sparse_union<{}>", members(type));
        case TypeId::kDenseUnion:
            return fmt::format("dense_union<{}>", members(type));
    }
    return "?";
}

std::shared_ptr<DataType> fresh(TypeId id) {
    auto type = std::make_shared<DataType>();
    type->id = id;
    return type;
}

}  // namespace

std::string to_string(const DataType& type) {
    static constexpr const char* kNames[] = {"",     "uuid",     "json",      "bson",
                                             "enum", "geometry", "geography", "variant"};
    if (type.annotation == Annotation::kNone) return base_name(type);
    return fmt::format("{}:{}", kNames[static_cast<int>(type.annotation)], base_name(type));
}

TypePtr make_type(TypeId id) {
    return fresh(id);
}

TypePtr make_decimal(int precision, int scale, int width_bytes) {
    auto type = fresh(TypeId::kDecimal);
    type->precision = precision;
    type->scale = scale;
    if (width_bytes == 0)
        width_bytes = precision <= 9 ? 4 : precision <= 18 ? 8 : precision <= 38 ? 16 : 32;
    type->byte_width8 = static_cast<uint8_t>(width_bytes);
    return type;
}

TypePtr make_time(TimeUnit unit) {
    auto type = fresh(TypeId::kTime);
    type->unit = unit;
    type->byte_width8 = unit <= TimeUnit::kMilli ? 4 : 8;
    return type;
}

TypePtr make_timestamp(TimeUnit unit, std::string timezone) {
    auto type = fresh(TypeId::kTimestamp);
    type->unit = unit;
    type->timezone = std::move(timezone);
    return type;
}

TypePtr make_duration(TimeUnit unit) {
    auto type = fresh(TypeId::kDuration);
    type->unit = unit;
    return type;
}

TypePtr make_fixed_binary(int32_t width) {
    auto type = fresh(TypeId::kFixedBinary);
    type->fixed_width = width;
    return type;
}

TypePtr make_list(Field element) {
    auto type = fresh(TypeId::kList);
    type->children.push_back(std::move(element));
    return type;
}

TypePtr make_fixed_list(Field element, int32_t list_size) {
    auto type = fresh(TypeId::kFixedList);
    type->children.push_back(std::move(element));
    type->list_size = list_size;
    return type;
}

TypePtr make_struct(std::vector<Field> members) {
    auto type = fresh(TypeId::kStruct);
    type->children = std::move(members);
    return type;
}

TypePtr make_map(Field key, Field value) {
    auto type = fresh(TypeId::kMap);
    Field entry;
    entry.name = "key_value";
    entry.nullable = false;
    entry.type = make_struct({std::move(key), std::move(value)});
    type->children.push_back(std::move(entry));
    return type;
}

TypePtr with_annotation(const DataType& type, Annotation annotation) {
    auto copy = std::make_shared<DataType>(type);
    copy->annotation = annotation;
    return copy;
}

int find_child(const DataType& type, std::string_view name) noexcept {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    const auto find = [&](auto&& same) {
        const auto found = std::ranges::find_if(
            type.children, [&](const Field& field) { return same(field.name); });
        return found == type.children.end() ? -1 : static_cast<int>(found - type.children.begin());
    };
    const int exact = find([&](const std::string& other) { return other == name; });
    if (exact >= 0) return exact;
    return find([&](const std::string& other) {
        return std::ranges::equal(other, name, {}, lower, lower);
    });
}

int Schema::find(std::string_view name) const noexcept {
    for (size_t i = 0; i < fields.size(); ++i)
        if (fields[i].name == name) return static_cast<int>(i);
    return -1;
}

}  // namespace loom::column
