#include "cases.h"

#include <fmt/format.h>

namespace loom::roundtrip {

using column::Annotation;
using column::Field;
using column::make_decimal;
using column::make_fixed_binary;
using column::make_fixed_list;
using column::make_list;
using column::make_map;
using column::make_struct;
using column::make_time;
using column::make_timestamp;
using column::make_type;
using column::Schema;
using column::TimeUnit;
using column::TypeId;
using column::TypePtr;
using parquet::ValueEncoding;

namespace {

Field field(std::string name, TypePtr type, bool nullable = true) {
    Field result;
    result.name = std::move(name);
    result.type = std::move(type);
    result.nullable = nullable;
    return result;
}

std::vector<std::pair<std::string, TypePtr>> flat_types() {
    const auto text = make_type(TypeId::kUtf8);
    return {{"boolean", make_type(TypeId::kBool)},
            {"int8", make_type(TypeId::kInt8)},
            {"int16", make_type(TypeId::kInt16)},
            {"int32", make_type(TypeId::kInt32)},
            {"int64", make_type(TypeId::kInt64)},
            {"uint8", make_type(TypeId::kUInt8)},
            {"uint16", make_type(TypeId::kUInt16)},
            {"uint32", make_type(TypeId::kUInt32)},
            {"uint64", make_type(TypeId::kUInt64)},
            {"float16", make_type(TypeId::kFloat16)},
            {"float32", make_type(TypeId::kFloat32)},
            {"float64", make_type(TypeId::kFloat64)},
            {"decimal_9_2", make_decimal(9, 2)},
            {"decimal_18_0", make_decimal(18, 0)},
            {"decimal_18_18", make_decimal(18, 18)},
            {"decimal_38_10", make_decimal(38, 10)},
            {"decimal_12_2_wide", make_decimal(12, 2, 16)},
            {"date32", make_type(TypeId::kDate32)},
            {"date64", make_type(TypeId::kDate64)},
            {"time_s", make_time(TimeUnit::kSecond)},
            {"time_ms", make_time(TimeUnit::kMilli)},
            {"time_us", make_time(TimeUnit::kMicro)},
            {"timestamp_s", make_timestamp(TimeUnit::kSecond)},
            {"timestamp_ms", make_timestamp(TimeUnit::kMilli)},
            {"timestamp_us", make_timestamp(TimeUnit::kMicro)},
            {"timestamp_ns", make_timestamp(TimeUnit::kNano)},
            {"timestamptz_us", make_timestamp(TimeUnit::kMicro, "UTC")},
            {"timestamptz_ms", make_timestamp(TimeUnit::kMilli, "UTC")},
            {"duration_us", column::make_duration(TimeUnit::kMicro)},
            {"interval_month", make_type(TypeId::kIntervalMonths)},
            {"interval_day", make_type(TypeId::kIntervalDayTime)},
            {"interval_full", make_type(TypeId::kIntervalMonthDayNano)},
            {"text", text},
            {"json", with_annotation(*text, Annotation::kJson)},
            {"enum", with_annotation(*text, Annotation::kEnum)},
            {"binary", make_type(TypeId::kBinary)},
            {"bson", with_annotation(*make_type(TypeId::kBinary), Annotation::kBson)},
            {"fixed_3", make_fixed_binary(3)},
            {"uuid", with_annotation(*make_fixed_binary(16), Annotation::kUuid)},
            {"nothing", make_type(TypeId::kNull)}};
}

Schema flat_schema(bool nullable = true) {
    Schema schema;
    for (auto& [name, type] : flat_types()) schema.fields.push_back(field(name, type, nullable));
    schema.metadata = {{"origin", "round trip"}, {"empty", ""}};
    return schema;
}

Schema nested_schema() {
    const auto int32 = make_type(TypeId::kInt32);
    const auto int64 = make_type(TypeId::kInt64);
    const auto text = make_type(TypeId::kUtf8);
    const auto pair = make_struct({field("x", int32), field("y", text, false)});
    Schema schema;
    schema.fields = {
        field("list_int", make_list(field("element", int32))),
        field("list_text_required", make_list(field("element", text, false)), false),
        field("list_list", make_list(field("element", make_list(field("element", int64))))),
        field("fixed_list", make_fixed_list(field("element", make_type(TypeId::kFloat64)), 3)),
        field("pair", pair),
        field("pair_required", pair, false),
        field("list_pair", make_list(field("element", pair))),
        field("map", make_map(field("key", text, false), field("value", int64))),
        field("map_list", make_map(field("key", text, false),
                                   field("value", make_list(field("element", text))))),
        field("deep",
              make_struct(
                  {field("a", make_list(field(
                                  "element",
                                  make_struct({field(
                                      "b", make_list(field("element", make_decimal(9, 3))))})))),
                   field("c", make_type(TypeId::kBool))}))};
    return schema;
}

Case make_case(std::string name, Schema schema) {
    Case result;
    result.name = std::move(name);
    result.schema = std::move(schema);
    result.parquet.row_group_rows = 2'000;
    result.parquet.page_rows = 300;
    result.parquet.threads = 2;
    return result;
}

void add_codecs(std::vector<Case>& cases) {
    for (const char* codec : {"none", "snappy", "gzip", "brotli", "zstd", "lz4_raw"})
        for (const int version : {1, 2}) {
            Case one = make_case(fmt::format("flat_{}_v{}", codec, version), flat_schema());
            one.parquet.codec = codec::parse_codec(codec);
            one.parquet.page_version = version;
            one.parquet.checksums = version == 2;
            cases.push_back(one);
            one.name = fmt::format("nested_{}_v{}", codec, version);
            one.schema = nested_schema();
            cases.push_back(one);
        }
}

void add_encodings(std::vector<Case>& cases) {
    const std::pair<const char*, ValueEncoding> encodings[] = {
        {"plain", ValueEncoding::kPlain},
        {"rle", ValueEncoding::kRle},
        {"delta_binary_packed", ValueEncoding::kDeltaBinaryPacked},
        {"delta_length_byte_array", ValueEncoding::kDeltaLengthByteArray},
        {"delta_byte_array", ValueEncoding::kDeltaByteArray},
        {"byte_stream_split", ValueEncoding::kByteStreamSplit}};
    for (const auto& [name, encoding] : encodings)
        for (const int version : {1, 2}) {
            Case one = make_case(fmt::format("encoding_{}_v{}", name, version), {});
            one.parquet.page_version = version;
            for (Field& candidate : flat_schema().fields) {
                const TypeId id = candidate.type->id;
                const bool whole =
                    column::is_integer(id) || id == TypeId::kTimestamp || id == TypeId::kDate32;
                const bool fits =
                    encoding == ValueEncoding::kPlain ||
                    (encoding == ValueEncoding::kRle && id == TypeId::kBool) ||
                    (encoding == ValueEncoding::kDeltaBinaryPacked && whole) ||
                    (encoding == ValueEncoding::kDeltaLengthByteArray && column::is_bytes(id)) ||
                    (encoding == ValueEncoding::kDeltaByteArray && column::is_bytes(id)) ||
                    (encoding == ValueEncoding::kByteStreamSplit &&
                     (id == TypeId::kFloat32 || id == TypeId::kFloat64));
                if (!fits) continue;
                one.parquet.columns[candidate.name].encoding = encoding;
                one.schema.fields.push_back(candidate);
            }
            cases.push_back(std::move(one));
        }
}

void add_shapes(std::vector<Case>& cases) {
    auto add = [&](const char* name, Schema schema, auto change) {
        Case one = make_case(name, std::move(schema));
        change(one);
        cases.push_back(std::move(one));
    };
    add("flat_required", flat_schema(false), [](Case& one) { one.schema.fields.pop_back(); });
    add("flat_dictionary", flat_schema(), [](Case& one) { one.variety = 40; });
    add("flat_dictionary_views", flat_schema(), [](Case& one) {
        one.variety = 300;
        one.dictionary_views = true;
    });
    add("flat_no_dictionary", flat_schema(), [](Case& one) { one.parquet.dictionary = false; });
    add("flat_all_null", flat_schema(), [](Case& one) { one.nulls = 1; });
    add("flat_empty", flat_schema(), [](Case& one) { one.rows = 0; });
    add("flat_one_row", flat_schema(), [](Case& one) { one.rows = 1; });
    add("flat_default_sizes", flat_schema(), [](Case& one) {
        one.parquet = {};
        one.rows = 30'000;
    });
    add("flat_no_index", flat_schema(), [](Case& one) { one.parquet.page_index = false; });
    add("nested_all_null", nested_schema(), [](Case& one) { one.nulls = 1; });
    add("nested_empty", nested_schema(), [](Case& one) { one.rows = 0; });
    add("nested_default_sizes", nested_schema(), [](Case& one) {
        one.parquet = {};
        one.rows = 20'000;
    });
}

// Types that apache-arrow reads; decimals need 128 bits there.
Schema arrow_flat_schema(bool nullable = true) {
    Schema schema = flat_schema(nullable);
    for (Field& candidate : schema.fields) {
        const column::DataType& type = *candidate.type;
        if (type.id == TypeId::kDecimal)
            candidate.type = make_decimal(type.precision, type.scale, 16);
        // Without the annotation, which shows as an extension type.
        if (type.annotation == Annotation::kUuid) candidate.type = make_fixed_binary(16);
    }
    return schema;
}

Case make_arrow_case(std::string name, Schema schema) {
    Case result = make_case(std::move(name), std::move(schema));
    result.format = Format::kArrow;
    result.arrow.record_batch_rows = 2'000;
    return result;
}

}  // namespace

std::vector<Case> arrow_cases() {
    std::vector<Case> cases;
    auto add = [&](const char* name, Schema schema, auto change) {
        Case one = make_arrow_case(name, std::move(schema));
        change(one);
        cases.push_back(std::move(one));
    };
    add("arrow_flat", arrow_flat_schema(), [](Case&) {});
    add("arrow_flat_stream", arrow_flat_schema(), [](Case& one) { one.arrow.stream = true; });
    add("arrow_flat_required", arrow_flat_schema(false),
        [](Case& one) { one.schema.fields.pop_back(); });
    add("arrow_flat_all_null", arrow_flat_schema(), [](Case& one) { one.nulls = 1; });
    add("arrow_flat_empty", arrow_flat_schema(), [](Case& one) { one.rows = 0; });
    add("arrow_flat_one_row", arrow_flat_schema(), [](Case& one) { one.rows = 1; });
    add("arrow_flat_dictionary_views", arrow_flat_schema(), [](Case& one) {
        one.variety = 300;
        one.dictionary_views = true;
    });
    add("arrow_large", arrow_flat_schema(), [](Case& one) {
        for (Field& candidate : one.schema.fields)
            if (column::is_bytes(candidate.type->id)) candidate.storage = column::Storage::kLarge;
    });
    for (const int width : {1, 2, 4})
        add(width == 1   ? "arrow_dictionary_1"
            : width == 2 ? "arrow_dictionary_2"
                         : "arrow_dictionary_4",
            arrow_flat_schema(), [width](Case& one) {
                one.variety = 60;
                for (Field& candidate : one.schema.fields)
                    if (column::is_bytes(candidate.type->id))
                        candidate.dictionary_index_width = static_cast<uint8_t>(width);
            });
    add("arrow_nested", nested_schema(), [](Case& one) {
        // The decimal inside needs 128 bits.
        one.schema.fields.pop_back();
    });
    add("arrow_nested_stream", nested_schema(), [](Case& one) {
        one.schema.fields.pop_back();
        one.arrow.stream = true;
    });
    return cases;
}

std::vector<Case> parquet_cases() {
    std::vector<Case> cases;
    add_codecs(cases);
    add_encodings(cases);
    add_shapes(cases);
    return cases;
}

}  // namespace loom::roundtrip
