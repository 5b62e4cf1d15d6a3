#include "format/arrow/schema_writer.h"

#include "base/error.h"
#include "ipc_generated.h"

namespace loom::arrow {

using column::Annotation;
using column::DataType;
using column::Field;
using column::KeyValue;
using column::Storage;
using column::TypeId;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

namespace {

using FieldOffset = Offset<fb::Field>;

struct TypeOffset {
    fb::Type kind = fb::Type::NONE;
    Offset<void> offset;
};

template <typename Table>
TypeOffset made(fb::Type kind, Offset<Table> offset) {
    return {kind, offset.Union()};
}

TypeOffset integer(FlatBufferBuilder& builder, int bits, bool is_signed) {
    return made(fb::Type::IntType, fb::CreateIntType(builder, bits, is_signed));
}

fb::Unit unit_of(const DataType& type) {
    return static_cast<fb::Unit>(type.unit);
}

TypeOffset build_number(FlatBufferBuilder& b, const DataType& type) {
    switch (type.id) {
        case TypeId::kFloat16:
            return made(fb::Type::FloatType, fb::CreateFloatType(b, fb::FloatWidth::Half));
        case TypeId::kFloat32:
            return made(fb::Type::FloatType, fb::CreateFloatType(b, fb::FloatWidth::Single));
        case TypeId::kFloat64:
            return made(fb::Type::FloatType, fb::CreateFloatType(b, fb::FloatWidth::Double));
        case TypeId::kDecimal:
            return made(fb::Type::DecimalType,
                        fb::CreateDecimalType(b, type.precision, type.scale, type.byte_width8 * 8));
        default:
            return integer(b, column::byte_width(type) * 8, column::is_signed_integer(type.id));
    }
}

TypeOffset build_calendar(FlatBufferBuilder& b, const DataType& type) {
    switch (type.id) {
        case TypeId::kDate32:
            return made(fb::Type::DateType, fb::CreateDateType(b, fb::DateUnit::Day));
        case TypeId::kDate64:
            return made(fb::Type::DateType, fb::CreateDateType(b, fb::DateUnit::Milli));
        case TypeId::kTime:
            return made(fb::Type::TimeType,
                        fb::CreateTimeType(b, unit_of(type), type.byte_width8 * 8));
        case TypeId::kTimestamp: {
            const auto zone = type.timezone.empty() ? Offset<flatbuffers::String>()
                                                    : b.CreateString(type.timezone);
            return made(fb::Type::TimestampType, fb::CreateTimestampType(b, unit_of(type), zone));
        }
        case TypeId::kDuration:
            return made(fb::Type::DurationType, fb::CreateDurationType(b, unit_of(type)));
        case TypeId::kIntervalMonths:
            return made(fb::Type::IntervalType,
                        fb::CreateIntervalType(b, fb::IntervalUnit::YearMonth));
        case TypeId::kIntervalDayTime:
            return made(fb::Type::IntervalType,
                        fb::CreateIntervalType(b, fb::IntervalUnit::DayTime));
        default:
            return made(fb::Type::IntervalType,
                        fb::CreateIntervalType(b, fb::IntervalUnit::MonthDayNano));
    }
}

TypeOffset build_bytes(FlatBufferBuilder& b, const Field& field) {
    const bool text = field.type->id == TypeId::kUtf8;
    switch (field.storage) {
        case Storage::kLarge:
            return text ? made(fb::Type::LargeUtf8Type, fb::CreateLargeUtf8Type(b))
                        : made(fb::Type::LargeBinaryType, fb::CreateLargeBinaryType(b));
        case Storage::kView:
            return text ? made(fb::Type::Utf8ViewType, fb::CreateUtf8ViewType(b))
                        : made(fb::Type::BinaryViewType, fb::CreateBinaryViewType(b));
        default:
            return text ? made(fb::Type::Utf8Type, fb::CreateUtf8Type(b))
                        : made(fb::Type::BinaryType, fb::CreateBinaryType(b));
    }
}

TypeOffset build_union(FlatBufferBuilder& b, const DataType& type) {
    std::vector<int32_t> codes(type.type_codes.begin(), type.type_codes.end());
    for (size_t i = codes.size(); i < type.children.size(); ++i)
        codes.push_back(static_cast<int32_t>(i));
    const fb::UnionMode mode =
        type.id == TypeId::kDenseUnion ? fb::UnionMode::Dense : fb::UnionMode::Sparse;
    return made(fb::Type::UnionType, fb::CreateUnionType(b, mode, b.CreateVector(codes)));
}

TypeOffset build_nested(FlatBufferBuilder& b, const Field& field) {
    const DataType& type = *field.type;
    switch (type.id) {
        case TypeId::kStruct:
            return made(fb::Type::StructType, fb::CreateStructType(b));
        case TypeId::kMap:
            return made(fb::Type::MapType, fb::CreateMapType(b, false));
        case TypeId::kFixedList:
            return made(fb::Type::FixedListType, fb::CreateFixedListType(b, type.list_size));
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion:
            return build_union(b, type);
        default:
            break;
    }
    switch (field.storage) {
        case Storage::kLarge:
            return made(fb::Type::LargeListType, fb::CreateLargeListType(b));
        case Storage::kView:
            return made(fb::Type::ListViewType, fb::CreateListViewType(b));
        default:
            return made(fb::Type::ListType, fb::CreateListType(b));
    }
}

TypeOffset build_type(FlatBufferBuilder& b, const Field& field) {
    const DataType& type = *field.type;
    switch (type.id) {
        case TypeId::kNull:
            return made(fb::Type::NullType, fb::CreateNullType(b));
        case TypeId::kBool:
            return made(fb::Type::BoolType, fb::CreateBoolType(b));
        case TypeId::kUtf8:
        case TypeId::kBinary:
            return build_bytes(b, field);
        case TypeId::kFixedBinary:
            return made(fb::Type::FixedBinaryType, fb::CreateFixedBinaryType(b, type.fixed_width));
        default:
            break;
    }
    if (column::is_nested(type.id)) return build_nested(b, field);
    if (type.id >= TypeId::kDate32) return build_calendar(b, type);
    return build_number(b, type);
}

// Meanings that Arrow knows as extension types, for fields that come from other formats.
std::vector<KeyValue> with_extension(const Field& field) {
    std::vector<KeyValue> metadata = field.metadata;
    const char* name = field.type->annotation == Annotation::kUuid       ? "arrow.uuid"
                       : field.type->annotation == Annotation::kJson     ? "arrow.json"
                       : field.type->annotation == Annotation::kGeometry ? "geoarrow.wkb"
                                                                         : nullptr;
    if (name == nullptr || field.find_metadata("ARROW:extension:name") != nullptr) return metadata;
    metadata.push_back({"ARROW:extension:name", name});
    metadata.push_back({"ARROW:extension:metadata", ""});
    return metadata;
}

class SchemaBuilder {
  public:
    explicit SchemaBuilder(FlatBufferBuilder& builder) : builder_(builder) {}

    FieldOffset field(const Field& field) {
        if (field.storage == Storage::kRunEnd) return runs(field);
        Offset<fb::DictionaryEncoding> dictionary;
        if (field.dictionary_index_width != 0) {
            const int64_t id = next_id_++;
            const auto index = fb::CreateIntType(builder_, field.dictionary_index_width * 8, true);
            dictionary = fb::CreateDictionaryEncoding(builder_, id, index);
        }
        std::vector<FieldOffset> children;
        for (const Field& child : field.type->children) children.push_back(this->field(child));
        const TypeOffset type = build_type(builder_, field);
        return finish(field, with_extension(field), type, dictionary, children);
    }

  private:
    FieldOffset runs(const Field& field) {
        Field ends;
        ends.name = "run_ends";
        ends.nullable = false;
        ends.type = column::make_type(TypeId::kInt32);
        Field values = field;
        values.name = "values";
        values.storage = Storage::kDefault;
        values.metadata.clear();
        std::vector<FieldOffset> children{this->field(ends), this->field(values)};
        const TypeOffset type = made(fb::Type::RunEndType, fb::CreateRunEndType(builder_));
        return finish(field, field.metadata, type, {}, children);
    }

    FieldOffset finish(const Field& field, const std::vector<KeyValue>& metadata, TypeOffset type,
                       Offset<fb::DictionaryEncoding> dictionary,
                       const std::vector<FieldOffset>& children) {
        // Readers expect the vector of children even where there are none.
        const auto children_offset = builder_.CreateVector(children);
        const auto metadata_offset = build_metadata(builder_, metadata);
        const auto name = builder_.CreateString(field.name);
        return fb::CreateField(builder_, name, field.nullable, type.kind, type.offset, dictionary,
                               children_offset, metadata_offset);
    }

    FlatBufferBuilder& builder_;
    int64_t next_id_ = 0;
};

}  // namespace

Offset<flatbuffers::Vector<Offset<fb::KeyValue>>> build_metadata(
    FlatBufferBuilder& builder, const std::vector<KeyValue>& metadata) {
    if (metadata.empty()) return {};
    std::vector<Offset<fb::KeyValue>> entries;
    for (const KeyValue& entry : metadata)
        entries.push_back(fb::CreateKeyValue(builder, builder.CreateString(entry.key),
                                             builder.CreateString(entry.value)));
    return builder.CreateVector(entries);
}

Offset<fb::Schema> build_schema(FlatBufferBuilder& builder, const column::Schema& schema) {
    SchemaBuilder fields_builder(builder);
    std::vector<FieldOffset> fields;
    for (const Field& field : schema.fields) fields.push_back(fields_builder.field(field));
    const auto fields_offset = builder.CreateVector(fields);
    const auto metadata = build_metadata(builder, schema.metadata);
    return fb::CreateSchema(builder, fb::Endianness::Little, fields_offset, metadata);
}

}  // namespace loom::arrow
