#include "format/arrow/layout.h"

#include <algorithm>

#include "base/error.h"
#include "ipc_generated.h"

namespace loom::arrow {

using base::corrupt;
using column::Annotation;
using column::DataType;
using column::Field;
using column::KeyValue;
using column::TimeUnit;
using column::TypeId;
using column::TypePtr;

namespace {

std::string text_of(const flatbuffers::String* text) {
    return text == nullptr ? std::string() : text->str();
}

std::vector<KeyValue> metadata_of(
    const flatbuffers::Vector<flatbuffers::Offset<fb::KeyValue>>* entries) {
    std::vector<KeyValue> result;
    if (entries == nullptr) return result;
    result.reserve(entries->size());
    for (const fb::KeyValue* entry : *entries)
        result.push_back({text_of(entry->key()), text_of(entry->value())});
    return result;
}

TimeUnit unit_of(fb::Unit unit) {
    if (unit < fb::Unit::Second || unit > fb::Unit::Nano)
        corrupt("time unit {}", static_cast<int>(unit));
    return static_cast<TimeUnit>(unit);
}

// Simple types are shared: a schema of 2,000 columns has few different ones.
TypePtr simple(TypeId id) {
    static const std::vector<TypePtr> kTypes = [] {
        std::vector<TypePtr> types;
        for (int i = 0; i <= static_cast<int>(TypeId::kBinary); ++i)
            types.push_back(column::make_type(static_cast<TypeId>(i)));
        return types;
    }();
    return kTypes[static_cast<size_t>(id)];
}

TypeId integer_id(const fb::IntType& type) {
    switch (type.bits()) {
        case 8:
            return type.is_signed() ? TypeId::kInt8 : TypeId::kUInt8;
        case 16:
            return type.is_signed() ? TypeId::kInt16 : TypeId::kUInt16;
        case 32:
            return type.is_signed() ? TypeId::kInt32 : TypeId::kUInt32;
        case 64:
            return type.is_signed() ? TypeId::kInt64 : TypeId::kUInt64;
        default:
            corrupt("integers of {} bits", type.bits());
    }
}

TypePtr decimal_type(const fb::DecimalType& type) {
    static constexpr std::pair<int, int> kDigits[] = {{32, 9}, {64, 18}, {128, 38}, {256, 76}};
    for (auto [bits, digits] : kDigits) {
        if (type.bits() != bits) continue;
        // Old writers state 0 digits or more than fit; the values decide, not the declaration.
        if (type.precision() < 1 || type.precision() > digits)
            corrupt("a decimal of {} bits with {} digits", bits, type.precision());
        if (type.scale() < -1000 || type.scale() > 1000) corrupt("decimal scale {}", type.scale());
        return column::make_decimal(type.precision(), type.scale(), bits / 8);
    }
    corrupt("decimals of {} bits", type.bits());
}

TypePtr time_type(const fb::TimeType& type) {
    TypePtr time = column::make_time(unit_of(type.unit()));
    if (type.bits() != time->byte_width8 * 8)
        corrupt("times of {} bits with unit {}", type.bits(), static_cast<int>(type.unit()));
    return time;
}

TypeId interval_id(const fb::IntervalType& type) {
    switch (type.unit()) {
        case fb::IntervalUnit::YearMonth:
            return TypeId::kIntervalMonths;
        case fb::IntervalUnit::DayTime:
            return TypeId::kIntervalDayTime;
        case fb::IntervalUnit::MonthDayNano:
            return TypeId::kIntervalMonthDayNano;
    }
    corrupt("interval unit {}", static_cast<int>(type.unit()));
}

TypeId float_id(const fb::FloatType& type) {
    switch (type.width()) {
        case fb::FloatWidth::Half:
            return TypeId::kFloat16;
        case fb::FloatWidth::Single:
            return TypeId::kFloat32;
        case fb::FloatWidth::Double:
            return TypeId::kFloat64;
    }
    corrupt("float width {}", static_cast<int>(type.width()));
}

Annotation annotation_of(const Field& field, const DataType& type) {
    const std::string* name = field.find_metadata("ARROW:extension:name");
    if (name == nullptr) return Annotation::kNone;
    if (*name == "arrow.uuid" && type.id == TypeId::kFixedBinary && type.fixed_width == 16)
        return Annotation::kUuid;
    if (*name == "arrow.json" && type.id == TypeId::kUtf8) return Annotation::kJson;
    if (*name == "geoarrow.wkb" && type.id == TypeId::kBinary) return Annotation::kGeometry;
    return Annotation::kNone;
}

class SchemaReader {
  public:
    explicit SchemaReader(FileSchema& out) : out_(out) {}

    /// Fills `field` and `layout` for a field whose buffers begin at `at`, and moves `at` past it.
    void read(const fb::Field& from, Field& field, Layout& layout, LayoutCursor& at) {
        field.name = text_of(from.name());
        base::with_where([&] { return fmt::format("field \"{}\"", field.name); },
                         [&] { read_named(from, field, layout, at); });
    }

  private:
    void read_named(const fb::Field& from, Field& field, Layout& layout, LayoutCursor& at) {
        field.nullable = from.nullable();
        field.metadata = metadata_of(from.metadata());
        layout.first_node = at.nodes;
        layout.first_buffer = at.buffers;
        layout.unions_before = at.unions;
        layout.views_before = at.views;
        if (from.dictionary() != nullptr) {
            read_dictionary(from, field, layout);
            at.nodes += 1;
            at.buffers += 2;
        } else {
            read_values(from, field, layout, at);
        }
        const Annotation annotation = annotation_of(field, *layout.type);
        if (annotation != Annotation::kNone)
            layout.type = column::with_annotation(*layout.type, annotation);
        field.type = layout.type;
    }

    void read_dictionary(const fb::Field& from, Field& field, Layout& layout) {
        const fb::DictionaryEncoding& encoding = *from.dictionary();
        layout.shape = Shape::kDictionary;
        layout.dictionary_id = encoding.id();
        // The format's default index type is a signed 32-bit integer.
        const fb::IntType* index = encoding.index();
        const TypeId id = index == nullptr ? TypeId::kInt32 : integer_id(*index);
        layout.index_signed = column::is_signed_integer(id);
        layout.value_width = column::byte_width(*simple(id));
        auto values = std::make_shared<Layout>();
        LayoutCursor at;
        read_values(from, field, *values, at);
        layout.values_nest_dictionaries = nests(*values);
        auto [entry, fresh] = out_.dictionaries.emplace(layout.dictionary_id, values);
        if (!fresh && !same_layout(*entry->second, *values))
            corrupt("dictionary {} is shared by fields of different types", layout.dictionary_id);
        layout.dictionary_values = entry->second;
        layout.type = entry->second->type;
        field.dictionary_index_width = static_cast<uint8_t>(layout.value_width);
    }

    static bool nests(const Layout& layout) {
        return std::any_of(layout.children.begin(), layout.children.end(), [](const Layout& child) {
            return child.shape == Shape::kDictionary || nests(child);
        });
    }

    void read_values(const fb::Field& from, Field& field, Layout& layout, LayoutCursor& at) {
        at.nodes += 1;
        auto type = std::make_shared<DataType>();
        if (read_flat(from, field, layout)) {
            advance(layout.shape, at);
            return;
        }
        switch (from.type_type()) {
            case fb::Type::ListType:
                layout.shape = Shape::kList32;
                break;
            case fb::Type::LargeListType:
                layout.shape = Shape::kList64;
                break;
            case fb::Type::ListViewType:
                layout.shape = Shape::kListView32;
                break;
            case fb::Type::LargeListViewType:
                layout.shape = Shape::kListView64;
                break;
            case fb::Type::FixedListType:
                layout.shape = Shape::kFixedList;
                break;
            case fb::Type::StructType:
                layout.shape = Shape::kStruct;
                break;
            case fb::Type::MapType:
                layout.shape = Shape::kList32;
                break;
            case fb::Type::RunEndType:
                layout.shape = Shape::kRunEnd;
                break;
            case fb::Type::UnionType:
                read_union(*from.type_as_UnionType(), *type, layout);
                break;
            default:
                corrupt("type number {}", static_cast<int>(from.type_type()));
        }
        advance(layout.shape, at);
        read_children(from, *type, layout, at);
        finish_nested(from, field, *type, layout);
        if (layout.shape != Shape::kRunEnd) layout.type = std::move(type);
    }

    // Counts the buffers of a field, without its children.
    static void advance(Shape shape, LayoutCursor& at) {
        switch (shape) {
            case Shape::kNull:
            case Shape::kRunEnd:
                break;
            case Shape::kFixedList:
            case Shape::kStruct:
                at.buffers += 1;
                break;
            case Shape::kBytes32:
            case Shape::kBytes64:
            case Shape::kListView32:
            case Shape::kListView64:
                at.buffers += 3;
                break;
            case Shape::kBytesView:
                at.buffers += 2;
                at.views += 1;
                break;
            case Shape::kSparseUnion:
                at.buffers += 1;
                at.unions += 1;
                break;
            case Shape::kDenseUnion:
                at.buffers += 2;
                at.unions += 1;
                break;
            default:
                at.buffers += 2;
                break;
        }
    }

    // Handles all types without children; returns false for the others.
    bool read_flat(const fb::Field& from, Field& field, Layout& layout) {
        auto set = [&](Shape shape, TypePtr type, column::Storage storage) {
            layout.shape = shape;
            layout.type = std::move(type);
            layout.value_width = column::byte_width(*layout.type);
            field.storage = storage;
            return true;
        };
        using column::Storage;
        auto fixed = [&](TypePtr type) {
            return set(Shape::kFixed, std::move(type), Storage::kDefault);
        };
        if (from.type() == nullptr) corrupt("no type");
        switch (from.type_type()) {
            case fb::Type::NullType:
                return set(Shape::kNull, simple(TypeId::kNull), Storage::kDefault);
            case fb::Type::BoolType:
                return set(Shape::kBits, simple(TypeId::kBool), Storage::kDefault);
            case fb::Type::IntType:
                return fixed(simple(integer_id(*from.type_as_IntType())));
            case fb::Type::FloatType:
                return fixed(simple(float_id(*from.type_as_FloatType())));
            case fb::Type::DecimalType:
                return fixed(decimal_type(*from.type_as_DecimalType()));
            case fb::Type::DateType:
                return fixed(simple(date_id(*from.type_as_DateType())));
            case fb::Type::TimeType:
                return fixed(time_type(*from.type_as_TimeType()));
            case fb::Type::TimestampType: {
                const fb::TimestampType& t = *from.type_as_TimestampType();
                return fixed(column::make_timestamp(unit_of(t.unit()), text_of(t.timezone())));
            }
            case fb::Type::DurationType:
                return fixed(column::make_duration(unit_of(from.type_as_DurationType()->unit())));
            case fb::Type::IntervalType:
                return fixed(simple(interval_id(*from.type_as_IntervalType())));
            case fb::Type::FixedBinaryType: {
                const int32_t width = from.type_as_FixedBinaryType()->bytes();
                if (width < 0) corrupt("fixed-size binary of {} bytes", width);
                return fixed(column::make_fixed_binary(width));
            }
            case fb::Type::Utf8Type:
                return set(Shape::kBytes32, simple(TypeId::kUtf8), Storage::kDefault);
            case fb::Type::BinaryType:
                return set(Shape::kBytes32, simple(TypeId::kBinary), Storage::kDefault);
            case fb::Type::LargeUtf8Type:
                return set(Shape::kBytes64, simple(TypeId::kUtf8), Storage::kLarge);
            case fb::Type::LargeBinaryType:
                return set(Shape::kBytes64, simple(TypeId::kBinary), Storage::kLarge);
            case fb::Type::Utf8ViewType:
                return set(Shape::kBytesView, simple(TypeId::kUtf8), Storage::kView);
            case fb::Type::BinaryViewType:
                return set(Shape::kBytesView, simple(TypeId::kBinary), Storage::kView);
            default:
                return false;
        }
    }

    static TypeId date_id(const fb::DateType& type) {
        if (type.unit() == fb::DateUnit::Day) return TypeId::kDate32;
        if (type.unit() == fb::DateUnit::Milli) return TypeId::kDate64;
        corrupt("date unit {}", static_cast<int>(type.unit()));
    }

    static void read_union(const fb::UnionType& from, DataType& type, Layout& layout) {
        if (from.mode() == fb::UnionMode::Sparse)
            layout.shape = Shape::kSparseUnion;
        else if (from.mode() == fb::UnionMode::Dense)
            layout.shape = Shape::kDenseUnion;
        else
            corrupt("union mode {}", static_cast<int>(from.mode()));
        if (from.codes() == nullptr) return;
        for (int32_t code : *from.codes()) {
            if (code < 0 || code > 127) corrupt("union type code {}", code);
            type.type_codes.push_back(static_cast<int8_t>(code));
        }
    }

    void read_children(const fb::Field& from, DataType& type, Layout& layout, LayoutCursor& at) {
        const size_t count = from.children() == nullptr ? 0 : from.children()->size();
        type.children.resize(count);
        layout.children.resize(count);
        for (size_t i = 0; i < count; ++i)
            read(*from.children()->Get(static_cast<flatbuffers::uoffset_t>(i)), type.children[i],
                 layout.children[i], at);
    }

    static void expect_children(const DataType& type, size_t count, const char* what) {
        if (type.children.size() != count)
            corrupt("{} with {} children", what, type.children.size());
    }

    // Checks what a nested type demands of its children and completes it.
    static void finish_nested(const fb::Field& from, Field& field, DataType& type, Layout& layout) {
        switch (layout.shape) {
            case Shape::kStruct:
                type.id = TypeId::kStruct;
                break;
            case Shape::kFixedList:
                type.id = TypeId::kFixedList;
                type.list_size = from.type_as_FixedListType()->size();
                if (type.list_size < 0) corrupt("a fixed-size list of {}", type.list_size);
                expect_children(type, 1, "a list");
                break;
            case Shape::kSparseUnion:
            case Shape::kDenseUnion:
                finish_union(type, layout);
                break;
            case Shape::kRunEnd:
                finish_runs(field, type, layout);
                break;
            default:
                type.id = TypeId::kList;
                expect_children(type, 1, "a list");
                if (layout.shape != Shape::kList32)
                    field.storage = layout.shape == Shape::kList64 ? column::Storage::kLarge
                                                                   : column::Storage::kView;
                if (from.type_type() == fb::Type::MapType) finish_map(type);
        }
    }

    static void finish_map(DataType& type) {
        type.id = TypeId::kMap;
        const DataType& entry = *type.children[0].type;
        if (entry.id != TypeId::kStruct || entry.children.size() != 2)
            corrupt("a map whose entries are not pairs");
    }

    static void finish_union(DataType& type, const Layout& layout) {
        type.id = layout.shape == Shape::kSparseUnion ? TypeId::kSparseUnion : TypeId::kDenseUnion;
        if (type.children.size() > 127) corrupt("a union of {} types", type.children.size());
        if (type.type_codes.empty())
            for (size_t i = 0; i < type.children.size(); ++i)
                type.type_codes.push_back(static_cast<int8_t>(i));
        if (type.type_codes.size() != type.children.size())
            corrupt("a union of {} types with {} codes", type.children.size(),
                    type.type_codes.size());
    }

    static void finish_runs(Field& field, DataType& type, Layout& layout) {
        expect_children(type, 2, "a run-end encoded field");
        const TypeId id = type.children[0].type->id;
        const bool plain = layout.children[0].shape == Shape::kFixed;
        if (!plain || (id != TypeId::kInt16 && id != TypeId::kInt32 && id != TypeId::kInt64))
            corrupt("run ends of type {}", column::to_string(*type.children[0].type));
        layout.type = layout.children[1].type;
        layout.value_width = layout.children[0].value_width;
        field.storage = column::Storage::kRunEnd;
        field.dictionary_index_width = type.children[1].dictionary_index_width;
    }

    FileSchema& out_;
};

}  // namespace

bool same_layout(const Layout& a, const Layout& b) {
    if (a.shape != b.shape || a.value_width != b.value_width || a.index_signed != b.index_signed ||
        a.children.size() != b.children.size() || !column::equal(*a.type, *b.type) ||
        (a.shape == Shape::kDictionary && a.dictionary_id != b.dictionary_id))
        return false;
    for (size_t i = 0; i < a.children.size(); ++i)
        if (!same_layout(a.children[i], b.children[i])) return false;
    return true;
}

FileSchema read_schema(const fb::Schema& schema) {
    FileSchema result;
    result.big_endian = schema.endianness() == fb::Endianness::Big;
    result.schema.metadata = metadata_of(schema.metadata());
    const size_t count = schema.fields() == nullptr ? 0 : schema.fields()->size();
    result.schema.fields.resize(count);
    result.layouts.resize(count);
    result.ends.reserve(count);
    SchemaReader reader(result);
    LayoutCursor at;
    for (size_t i = 0; i < count; ++i) {
        reader.read(*schema.fields()->Get(static_cast<flatbuffers::uoffset_t>(i)),
                    result.schema.fields[i], result.layouts[i], at);
        result.ends.push_back(at);
    }
    return result;
}

}  // namespace loom::arrow
