#include "format/parquet/variant/variant_value.h"

namespace loom::parquet {

namespace {

enum class BasicType : uint8_t { kPrimitive = 0, kShortText = 1, kObject = 2, kArray = 3 };

// Ids of primitive types.
enum Primitive : uint8_t {
    kNull = 0,
    kTrue = 1,
    kFalse = 2,
    kInt8 = 3,
    kInt16 = 4,
    kInt32 = 5,
    kInt64 = 6,
    kDouble = 7,
    kDecimal4 = 8,
    kDecimal8 = 9,
    kDecimal16 = 10,
    kDate = 11,
    kTimestamp = 12,
    kTimestampLocal = 13,
    kFloat = 14,
    kBinary = 15,
    kText = 16,
    kTime = 17,
    kTimestampNanos = 18,
    kTimestampNanosLocal = 19,
    kUuid = 20
};

constexpr int64_t kMicros = 1'000'000;
constexpr int64_t kNanos = 1'000'000'000;

// Reads entry i of an array of little-endian numbers of 1 to 4 bytes.
uint32_t entry(base::ByteSpan numbers, uint32_t size, uint64_t i) {
    const base::ByteSpan bytes = base::checked_slice(numbers, i * size, size, "a variant's offset");
    uint32_t value = 0;
    for (uint32_t b = 0; b < size; ++b) value |= uint32_t{bytes[b]} << (8 * b);
    return value;
}

uint32_t take_number(base::ByteReader& in, uint32_t size) {
    return entry(in.take(size, "a variant's size"), size, 0);
}

BasicType basic_type(base::ByteSpan value) {
    if (value.empty()) base::corrupt("a variant without any byte");
    return static_cast<BasicType>(value[0] & 3);
}

// The parts of an object or array behind its header byte.
struct Container {
    uint32_t count = 0;
    uint32_t id_size = 0;
    uint32_t offset_size = 0;
    base::ByteSpan ids, offsets, values;

    base::ByteSpan value(uint32_t i) const {
        const uint32_t at = entry(offsets, offset_size, i);
        if (at >= values.size()) base::corrupt("a variant's part lies outside its bytes");
        return values.subspan(at);
    }
};

Container open_container(base::ByteSpan bytes) {
    base::ByteReader in(bytes);
    const unsigned header = in.read<uint8_t>("a variant") >> 2;
    const bool object = basic_type(bytes) == BasicType::kObject;
    const bool large = (header >> (object ? 4 : 2) & 1) != 0;
    Container parts;
    parts.offset_size = (header & 3) + 1;
    parts.id_size = object ? (header >> 2 & 3) + 1 : 0;
    parts.count = take_number(in, large ? 4 : 1);
    parts.ids = in.take(uint64_t{parts.count} * parts.id_size, "a variant's field names");
    parts.offsets = in.take((uint64_t{parts.count} + 1) * parts.offset_size, "a variant's offsets");
    const uint32_t size = entry(parts.offsets, parts.offset_size, parts.count);
    parts.values = in.take(size, "a variant's parts");
    return parts;
}

template <typename T>
void append_decimal(base::ByteReader& in, JsonText& out) {
    const int scale = in.read<uint8_t>("a decimal's scale");
    if (scale > 38) base::corrupt("a decimal with {} digits behind the point", scale);
    out.integer(in.read<T>("a decimal"), scale);
}

void append_primitive(base::ByteSpan value, JsonText& out) {
    base::ByteReader in(value);
    const unsigned id = in.read<uint8_t>("a variant") >> 2;
    switch (id) {
        case kNull:
            return out.raw("null");
        case kTrue:
            return out.raw("true");
        case kFalse:
            return out.raw("false");
        case kInt8:
            return out.integer(in.read<int8_t>("an integer"));
        case kInt16:
            return out.integer(in.read<int16_t>("an integer"));
        case kInt32:
            return out.integer(in.read<int32_t>("an integer"));
        case kInt64:
            return out.integer(in.read<int64_t>("an integer"));
        case kDouble:
            return out.number(in.read<double>("a number"));
        case kDecimal4:
            return append_decimal<int32_t>(in, out);
        case kDecimal8:
            return append_decimal<int64_t>(in, out);
        case kDecimal16:
            return append_decimal<column::Int128>(in, out);
        case kDate:
            return out.date(in.read<int32_t>("a date"));
        case kTimestamp:
            return out.timestamp(in.read<int64_t>("a timestamp"), kMicros, true);
        case kTimestampLocal:
            return out.timestamp(in.read<int64_t>("a timestamp"), kMicros, false);
        case kFloat:
            return out.number(in.read<float>("a number"));
        case kBinary:
            return out.base64(in.take(in.read<uint32_t>("a size"), "a binary"));
        case kText:
            return out.quoted(base::as_text(in.take(in.read<uint32_t>("a size"), "a text")));
        case kTime:
            return out.time(in.read<int64_t>("a time"), kMicros);
        case kTimestampNanos:
            return out.timestamp(in.read<int64_t>("a timestamp"), kNanos, true);
        case kTimestampNanosLocal:
            return out.timestamp(in.read<int64_t>("a timestamp"), kNanos, false);
        case kUuid:
            return out.uuid(in.take(16, "a uuid").data());
        default:
            break;
    }
    base::raise(base::ErrorKind::kUnsupported, "variant values of type {} are not supported", id);
}

}  // namespace

VariantMetadata::VariantMetadata(base::ByteSpan bytes) {
    base::ByteReader in(bytes);
    const unsigned header = in.read<uint8_t>("a variant's metadata");
    if ((header & 15) != 1) base::corrupt("variant metadata of version {}", header & 15);
    offset_size_ = (header >> 6) + 1;
    count_ = take_number(in, offset_size_);
    offsets_ = in.take((uint64_t{count_} + 1) * offset_size_, "the names of a variant");
    names_ = in.take(in.remaining(), "the names of a variant");
}

std::string_view VariantMetadata::name(uint32_t id) const {
    if (id >= count_) base::corrupt("field name {} of {}", id, count_);
    const uint32_t begin = entry(offsets_, offset_size_, id);
    const uint32_t end = entry(offsets_, offset_size_, uint64_t{id} + 1);
    if (begin > end) base::corrupt("a field name ends before it begins");
    return base::as_text(base::checked_slice(names_, begin, end - begin, "a field name"));
}

bool is_variant_object(base::ByteSpan value) noexcept {
    return !value.empty() && static_cast<BasicType>(value[0] & 3) == BasicType::kObject;
}

std::vector<VariantField> variant_fields(const VariantMetadata& metadata, base::ByteSpan object) {
    const Container parts = open_container(object);
    std::vector<VariantField> fields;
    for (uint32_t i = 0; i < parts.count; ++i)
        fields.push_back({metadata.name(entry(parts.ids, parts.id_size, i)), parts.value(i)});
    return fields;
}

void append_variant(const VariantMetadata& metadata, base::ByteSpan value, int depth,
                    JsonText& out) {
    if (depth > kMaxVariantDepth)
        base::raise(base::ErrorKind::kLimit, "a variant nested deeper than {} levels",
                    kMaxVariantDepth);
    switch (basic_type(value)) {
        case BasicType::kPrimitive:
            return append_primitive(value, out);
        case BasicType::kShortText:
            return out.quoted(
                base::as_text(base::checked_slice(value, 1, value[0] >> 2, "a text")));
        case BasicType::kObject: {
            out.raw("{");
            bool first = true;
            for (const VariantField& field : variant_fields(metadata, value)) {
                if (!first) out.raw(",");
                first = false;
                out.quoted(field.name);
                out.raw(":");
                append_variant(metadata, field.value, depth + 1, out);
            }
            return out.raw("}");
        }
        case BasicType::kArray:
            break;
    }
    const Container parts = open_container(value);
    out.raw("[");
    for (uint32_t i = 0; i < parts.count; ++i) {
        if (i != 0) out.raw(",");
        append_variant(metadata, parts.value(i), depth + 1, out);
    }
    out.raw("]");
}

}  // namespace loom::parquet
