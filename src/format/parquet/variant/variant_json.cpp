#include "format/parquet/variant/variant_json.h"

#include <algorithm>

#include "format/parquet/variant/variant_value.h"

namespace loom::parquet {

using column::BytesView;
using column::ColumnView;
using column::TypeId;

namespace {

const ColumnView* find_member(const ColumnView& view, std::string_view name) noexcept {
    for (size_t i = 0; i < view.type->children.size(); ++i)
        if (view.type->children[i].name == name) return &view.children[i];
    return nullptr;
}

// Types that a shredded value may have, see VariantShredding.md, "Shredded Value Types".
void check_shredded_type(const column::DataType& type) {
    switch (type.id) {
        case TypeId::kUInt8:
        case TypeId::kUInt16:
        case TypeId::kUInt32:
        case TypeId::kUInt64:
        case TypeId::kFloat16:
        case TypeId::kIntervalMonthDayNano:
        case TypeId::kMap:
            break;
        case TypeId::kFixedBinary:
            if (type.annotation == column::Annotation::kUuid) return;
            break;
        default:
            return;
    }
    base::raise(base::ErrorKind::kUnsupported, "shredded values of type {} are not supported",
                column::to_string(type));
}

// A value split into what was shredded and what was not; both may be missing.
struct Parts {
    const ColumnView* typed = nullptr;
    const BytesView* value = nullptr;
};

Parts parts_of(const ColumnView& view, int64_t row) {
    if (view.type->id != TypeId::kStruct) base::corrupt("a shredded variant is no group");
    Parts parts;
    if (view.is_null(row)) return parts;
    if (const ColumnView* value = find_member(view, "value")) {
        if (!column::is_bytes(value->type->id)) base::corrupt("a variant's value is not binary");
        if (!value->is_null(row)) parts.value = value->as<BytesView>() + row;
    }
    const ColumnView* typed = find_member(view, "typed_value");
    if (typed == nullptr) return parts;
    check_shredded_type(*typed->type);
    if (!typed->is_null(row)) parts.typed = typed;
    return parts;
}

int64_t integer_at(const ColumnView& view, int64_t row) {
    switch (column::byte_width(*view.type)) {
        case 1:
            return view.as<int8_t>()[row];
        case 2:
            return view.as<int16_t>()[row];
        case 4:
            return view.as<int32_t>()[row];
        default:
            return view.as<int64_t>()[row];
    }
}

// Walks shredded values of one row.
class Shredded {
  public:
    Shredded(const VariantMetadata& metadata, JsonText& out) : metadata_(metadata), out_(out) {}

    void append(const Parts& parts, int64_t row, int depth) {
        if (depth > kMaxVariantDepth)
            base::raise(base::ErrorKind::kLimit, "a variant nested deeper than {} levels",
                        kMaxVariantDepth);
        if (parts.typed == nullptr) {
            // Missing where something must be stands for null.
            if (parts.value == nullptr) return out_.raw("null");
            return append_variant(metadata_, parts.value->bytes(), depth, out_);
        }
        if (parts.typed->type->id == TypeId::kStruct) return append_object(parts, row, depth);
        if (parts.value != nullptr)
            base::corrupt("a variant has both a typed and an untyped value");
        if (parts.typed->type->id == TypeId::kList) return append_array(*parts.typed, row, depth);
        append_typed(*parts.typed, row);
    }

  private:
    void append_array(const ColumnView& list, int64_t row, int depth) {
        out_.raw("[");
        for (int64_t i = list.offsets[row]; i < list.offsets[row + 1]; ++i) {
            if (i != list.offsets[row]) out_.raw(",");
            append(parts_of(list.children[0], i), i, depth + 1);
        }
        out_.raw("]");
    }

    void append_name(std::string_view name, bool& first) {
        if (!first) out_.raw(",");
        first = false;
        out_.quoted(name);
        out_.raw(":");
    }

    // Shredded fields first, then those left in the untyped object. A field in both is shredded.
    void append_object(const Parts& parts, int64_t row, int depth) {
        const ColumnView& object = *parts.typed;
        bool first = true;
        out_.raw("{");
        for (size_t i = 0; i < object.type->children.size(); ++i) {
            const Parts field = parts_of(object.children[i], row);
            if (field.typed == nullptr && field.value == nullptr) continue;
            append_name(object.type->children[i].name, first);
            append(field, row, depth + 1);
        }
        if (parts.value != nullptr) {
            if (!is_variant_object(parts.value->bytes()))
                base::corrupt("the rest of a shredded object is no object");
            for (const VariantField& field : variant_fields(metadata_, parts.value->bytes())) {
                if (find_member(object, field.name) != nullptr) continue;
                append_name(field.name, first);
                append_variant(metadata_, field.value, depth + 1, out_);
            }
        }
        out_.raw("}");
    }

    void append_decimal(const ColumnView& view, int64_t row) {
        const int scale = view.type->scale;
        if (view.type->byte_width8 <= 8) return out_.integer(integer_at(view, row), scale);
        if (view.type->byte_width8 != 16)
            base::raise(base::ErrorKind::kUnsupported, "a shredded decimal of {} digits",
                        view.type->precision);
        out_.integer(view.as<column::Int128>()[row], scale);
    }

    void append_typed(const ColumnView& view, int64_t row) {
        const column::DataType& type = *view.type;
        const int64_t per_second = type.unit == column::TimeUnit::kNano ? 1'000'000'000 : 1'000'000;
        const bool fine = type.unit >= column::TimeUnit::kMicro;
        switch (type.id) {
            case TypeId::kBool:
                return out_.raw(base::bit_at(view.as<uint8_t>(), row) ? "true" : "false");
            case TypeId::kInt8:
            case TypeId::kInt16:
            case TypeId::kInt32:
            case TypeId::kInt64:
                return out_.integer(integer_at(view, row));
            case TypeId::kFloat32:
                return out_.number(view.as<float>()[row]);
            case TypeId::kFloat64:
                return out_.number(view.as<double>()[row]);
            case TypeId::kDecimal:
                return append_decimal(view, row);
            case TypeId::kDate32:
                return out_.date(view.as<int32_t>()[row]);
            case TypeId::kTime:
                if (!fine) break;
                return out_.time(view.as<int64_t>()[row], per_second);
            case TypeId::kTimestamp:
                if (!fine) break;
                return out_.timestamp(view.as<int64_t>()[row], per_second, !type.timezone.empty());
            case TypeId::kUtf8:
                return out_.quoted(view.as<BytesView>()[row].text());
            case TypeId::kBinary:
                return out_.base64(view.as<BytesView>()[row].bytes());
            case TypeId::kFixedBinary:
                if (type.annotation != column::Annotation::kUuid) break;
                return out_.uuid(view.as<uint8_t>() + 16 * row);
            default:
                break;
        }
        base::raise(base::ErrorKind::kUnsupported, "shredded values of type {} are not supported",
                    column::to_string(type));
    }

    const VariantMetadata& metadata_;
    JsonText& out_;
};

}  // namespace

std::string variant_to_json(const ColumnView& variant, int64_t row) {
    const ColumnView* metadata = find_member(variant, "metadata");
    if (metadata == nullptr || !column::is_bytes(metadata->type->id) || metadata->is_null(row))
        base::corrupt("a variant without metadata");
    const VariantMetadata names(metadata->as<BytesView>()[row].bytes());
    JsonText out;
    Shredded(names, out).append(parts_of(variant, row), row, 0);
    return out.take();
}

}  // namespace loom::parquet
