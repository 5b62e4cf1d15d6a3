#include "format/parquet/schema/schema_tree.h"

#include <gtest/gtest.h>

namespace loom::parquet {
namespace {

using column::to_string;

SchemaElement group(std::string name, Repetition repetition, int children,
                    ConvertedType converted = ConvertedType::kNone) {
    SchemaElement element;
    element.name = std::move(name);
    element.repetition = repetition;
    element.child_count = children;
    element.converted = converted;
    return element;
}

SchemaElement leaf(std::string name, Repetition repetition,
                   PhysicalType type = PhysicalType::kInt32,
                   ConvertedType converted = ConvertedType::kNone) {
    SchemaElement element;
    element.name = std::move(name);
    element.repetition = repetition;
    element.physical = static_cast<int32_t>(type);
    element.converted = converted;
    return element;
}

constexpr Repetition kRequired = Repetition::kRequired;
constexpr Repetition kOptional = Repetition::kOptional;
constexpr Repetition kRepeated = Repetition::kRepeated;

SchemaTree one_column(std::vector<SchemaElement> elements) {
    elements.insert(elements.begin(), group("schema", kRequired, 1));
    return build_schema(elements);
}

std::string type_of(std::vector<SchemaElement> elements) {
    return to_string(*one_column(std::move(elements)).schema.fields[0].type);
}

TEST(SchemaTree, ThreeLevelList) {
    const SchemaTree tree = one_column({group("a", kOptional, 1, ConvertedType::kList),
                                        group("list", kRepeated, 1), leaf("element", kOptional)});
    EXPECT_EQ(to_string(*tree.schema.fields[0].type), "list<int32>");
    EXPECT_TRUE(tree.schema.fields[0].nullable);
    const Node& list = tree.columns[0];
    EXPECT_EQ(list.defined_level, 1);
    EXPECT_EQ(list.element_level, 2);
    EXPECT_EQ(list.repetition_level, 1);
    EXPECT_TRUE(list.children[0].nullable);
    EXPECT_EQ(tree.leaves[0].max_definition, 3);
    EXPECT_EQ(tree.leaves[0].max_repetition, 1);
    EXPECT_EQ(tree.leaves[0].path, "a.list.element");
}

TEST(SchemaTree, OlderLists) {
    EXPECT_EQ(type_of({group("a", kOptional, 1, ConvertedType::kList), leaf("element", kRepeated)}),
              "list<int32>");
    EXPECT_EQ(type_of({group("a", kOptional, 1, ConvertedType::kList), group("bag", kRepeated, 1),
                       leaf("array_element", kOptional)}),
              "list<int32>");
    EXPECT_EQ(type_of({group("a", kOptional, 1, ConvertedType::kList), group("array", kRepeated, 1),
                       leaf("x", kRequired)}),
              "list<struct<x: int32>>");
    EXPECT_EQ(type_of({group("a", kOptional, 1, ConvertedType::kList),
                       group("a_tuple", kRepeated, 1), leaf("x", kRequired)}),
              "list<struct<x: int32>>");
    EXPECT_EQ(type_of({group("a", kOptional, 1, ConvertedType::kList),
                       group("element", kRepeated, 2), leaf("x", kRequired), leaf("y", kOptional)}),
              "list<struct<x: int32, y: int32>>");
    EXPECT_EQ(
        type_of({group("a", kOptional, 1, ConvertedType::kList),
                 group("array", kRepeated, 1, ConvertedType::kList), leaf("array", kRepeated)}),
        "list<list<int32>>");
    EXPECT_EQ(type_of({leaf("a", kRepeated)}), "list<int32>");
    EXPECT_EQ(type_of({group("a", kRepeated, 1), leaf("x", kRepeated)}),
              "list<struct<x: list<int32>>>");
    // Not a list at all, whatever the annotation says.
    EXPECT_EQ(type_of({group("a", kOptional, 1, ConvertedType::kList), leaf("x", kOptional)}),
              "struct<x: int32>");
}

TEST(SchemaTree, Maps) {
    EXPECT_EQ(
        type_of({group("m", kOptional, 1, ConvertedType::kMap), group("key_value", kRepeated, 2),
                 leaf("key", kRequired), leaf("value", kOptional, PhysicalType::kDouble)}),
        "map<key: int32, value: float64>");
    EXPECT_EQ(type_of({group("m", kOptional, 1, ConvertedType::kMapKeyValue),
                       group("map", kRepeated, 2), leaf("k", kRequired), leaf("v", kRequired)}),
              "map<k: int32, v: int32>");
    const SchemaTree set = one_column({group("m", kOptional, 1, ConvertedType::kMap),
                                       group("key_value", kRepeated, 1), leaf("key", kRequired)});
    EXPECT_EQ(to_string(*set.schema.fields[0].type), "map<key: int32, value: null>");
    EXPECT_EQ(set.leaves.size(), 1U);
}

TEST(SchemaTree, OddShapes) {
    EXPECT_EQ(build_schema({group("schema", kRequired, 0)}).columns.size(), 0U);
    EXPECT_EQ(type_of({group("e", kOptional, 0)}), "struct<>");
    const SchemaTree twins = build_schema({group("schema", kRequired, 3), leaf("", kOptional),
                                           leaf("x", kOptional), leaf("x", kRequired)});
    EXPECT_EQ(twins.schema.fields[0].name, "");
    EXPECT_EQ(twins.schema.fields[2].name, "x");
    EXPECT_THROW(build_schema({}), base::Error);
    EXPECT_THROW(build_schema({group("schema", kRequired, 2), leaf("x", kOptional)}), base::Error);
    EXPECT_THROW(
        build_schema({group("schema", kRequired, 1), leaf("x", kOptional), leaf("y", kOptional)}),
        base::Error);
    EXPECT_THROW(build_schema({group("schema", kRequired, -1)}), base::Error);
    std::vector<SchemaElement> deep{group("schema", kRequired, 1)};
    for (int i = 0; i < 1000; ++i) deep.push_back(group("g", kRequired, 1));
    deep.push_back(leaf("x", kRequired));
    EXPECT_THROW(build_schema(deep), base::Error);
}

std::string leaf_type(const SchemaElement& element) {
    return to_string(*make_leaf_type(element).type);
}

SchemaElement logical(PhysicalType physical, LogicalType type, int length = 0) {
    SchemaElement element = leaf("x", kOptional, physical);
    element.logical = type;
    element.type_length = length;
    return element;
}

TEST(LeafType, Logical) {
    LogicalType type{LogicalKind::kTimestamp};
    type.unit = 3;
    EXPECT_EQ(leaf_type(logical(PhysicalType::kInt64, type)), "timestamp[ns]");
    type.adjusted_to_utc = true;
    type.unit = 1;
    EXPECT_EQ(leaf_type(logical(PhysicalType::kInt64, type)), "timestamp[ms, UTC]");
    type = {LogicalKind::kInteger};
    type.bit_width = 16;
    type.is_signed = false;
    EXPECT_EQ(leaf_type(logical(PhysicalType::kInt32, type)), "uint16");
    EXPECT_EQ(leaf_type(logical(PhysicalType::kInt64, type)), "int64");  // does not suit
    type = {LogicalKind::kDecimal};
    type.precision = 20;
    type.scale = 2;
    EXPECT_EQ(make_leaf_type(logical(PhysicalType::kByteArray, type)).logical_width(), 16);
    EXPECT_EQ(leaf_type(logical(PhysicalType::kFloat, type)), "float32");
    EXPECT_EQ(leaf_type(logical(PhysicalType::kFixedLenByteArray, {LogicalKind::kUuid}, 16)),
              "uuid:fixed_binary(16)");
    EXPECT_EQ(leaf_type(logical(PhysicalType::kFixedLenByteArray, {LogicalKind::kFloat16}, 2)),
              "float16");
    EXPECT_EQ(leaf_type(logical(PhysicalType::kByteArray, {LogicalKind::kUnknownFuture})),
              "binary");
    EXPECT_EQ(leaf_type(logical(PhysicalType::kInt32, {LogicalKind::kNull})), "null");
}

TEST(LeafType, Converted) {
    SchemaElement decimal = leaf("d", kOptional, PhysicalType::kInt32, ConvertedType::kDecimal);
    decimal.precision = 9;
    EXPECT_EQ(leaf_type(decimal), "decimal(9,0)");  // a scale that is not stated is 0
    decimal.precision = 77;
    EXPECT_EQ(make_leaf_type(decimal).conversion, Conversion::kRefused);
    SchemaElement interval =
        leaf("i", kOptional, PhysicalType::kFixedLenByteArray, ConvertedType::kInterval);
    interval.type_length = 12;
    EXPECT_EQ(leaf_type(interval), "interval[months, days, ns]");
    EXPECT_EQ(leaf_type(leaf("t", kOptional, PhysicalType::kInt96)), "timestamp[us]");
    EXPECT_EQ(leaf_type(leaf("t", kOptional, PhysicalType::kByteArray, ConvertedType::kJson)),
              "json:utf8");
    SchemaElement unknown = leaf("u", kOptional);
    unknown.physical = 8;
    EXPECT_THROW(make_leaf_type(unknown), base::Error);
    unknown.physical = 7;
    unknown.type_length = -1;
    EXPECT_THROW(make_leaf_type(unknown), base::Error);
}

}  // namespace
}  // namespace loom::parquet
