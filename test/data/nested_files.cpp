#include "nested_files.h"

#include "literal_table.h"

namespace loom::test {

using column::Annotation;
using column::Field;
using column::make_decimal;
using column::make_fixed_binary;
using column::make_fixed_list;
using column::make_list;
using column::make_map;
using column::make_struct;
using column::make_type;
using column::Storage;
using column::TimeUnit;
using column::TypeId;
using column::TypePtr;

namespace {

// How the fields of a table are laid out in an Arrow file.
struct Layout {
    Storage texts = Storage::kDefault;
    Storage lists = Storage::kDefault;
    int index_width = 0;                  ///< of texts that are short and few
    Storage numbers = Storage::kDefault;  ///< default or runs
};

constexpr Layout kPlain;
constexpr Layout kEncoded{Storage::kView, Storage::kLarge, 1, Storage::kRunEnd};

TypePtr int4() {
    return make_type(TypeId::kInt32);
}
TypePtr text() {
    return make_type(TypeId::kUtf8);
}

// Five rows with NULLs and empties at every level.
LiteralTable nested(const Layout& layout) {
    const auto name = [&](std::string field) {
        return make_field(std::move(field), text(),
                          layout.index_width == 0 ? layout.texts : Storage::kDefault,
                          layout.index_width);
    };
    const auto words = [&](std::string field) {
        return make_field(std::move(field), text(), layout.texts);
    };
    const auto number = [&](std::string field) {
        return make_field(std::move(field), int4(), layout.numbers);
    };
    const auto list = [&](std::string field, Field element) {
        return make_field(std::move(field), make_list(std::move(element)), layout.lists);
    };
    const auto map = [&](std::string field, Field value) {
        return make_field(std::move(field), make_map(name("key"), std::move(value)));
    };
    LiteralTable table;
    table.add(make_field("id", int4()), {"1", "2", "3", "4", "5"});
    table.add(make_field("st", make_struct(
                                   {number("i"), words("t"), make_field("d", make_decimal(5, 2))})),
              {R"([1,"one",1.50])", "null", "[null,null,null]", R"([4,"",-999.99])",
               R"x([5,"a,b \"q\" (x)",0.00])x"});
    table.add(
        make_field(
            "ss",
            make_struct(
                {number("a"),
                 make_field("inner",
                            make_struct({name("b"), make_field("c", make_type(TypeId::kBool))}))})),
        {R"([1,["x",t]])", "[2,null]", "null", "[null,[null,f]]", "[5,[null,null]]"});
    table.add(list("ls", make_field("element", make_struct({number("k"), words("v")}))),
              {R"([[1,"a"],[2,"b"]])", "[]", "null", "[null]", R"([[null,null],null,[3,"x y"]])"});
    table.add(list("ll", list("element", number("element"))),
              {"[[1,2],[3]]", "[]", "[null,[],[null]]", "null", "[[5]]"});
    table.add(list("lt", name("element")),
              {R"(["a","b"])", "null", R"(["",null,"NULL"])", "[]", R"(["x,y","{z}"])"});
    table.add(make_field("fl", make_fixed_list(number("element"), 2)),
              {"[1,2]", "[null,4]", "null", "[7,8]", "[9,null]"});
    table.add(map("mt", number("value")),
              {R"([["a",1],["b",2]])", "[]", "null", R"([["k",null]])", R"([["d",1],["d",2]])"});
    const Field pair = make_field(
        "value", make_struct({make_field("x", make_type(TypeId::kFloat64)), words("y")}));
    table.add(
        make_field("mi", make_map(make_field("key", int4()), pair)),
        {R"([[1,[1.5,"p"]]])", "null", "[]", "[[-7,null],[8,[null,null]]]", R"([[5,[NaN,"q"]]])"});
    table.add(list("lm", map("element", number("value"))),
              {R"([[["a",1]],[]])", "[]", "[null]", "null", R"([[["z",null]]])"});
    table.add(
        make_field("sl", make_struct({list("l", number("element")), map("m", number("value"))})),
        {R"([[1,2],[["a",1]]])", "[null,null]", "[[],[]]", "null", "[[null],null]"});
    table.add(make_field("js", with_annotation(*text(), Annotation::kJson), layout.texts),
              {R"("{\"a\": [1, 2]}")", "null", R"("null")", R"("[]")", R"("\"text\"")"});
    table.add(make_field("en", with_annotation(*text(), Annotation::kEnum), Storage::kDefault,
                         layout.index_width == 0 ? 0 : 4),
              {R"("red")", R"("green")", "null", R"("red")", R"("blue")"});
    return table;
}

// Scalars whose type is chosen by a hint or by a declaration, and rare ones.
LiteralTable kinds() {
    const auto hinted = [](std::string name, TypePtr type, std::string hint) {
        Field field = make_field(std::move(name), std::move(type));
        field.metadata.push_back({"pg_type", std::move(hint)});
        return field;
    };
    LiteralTable table;
    table.add(make_field("id", int4()), {"1", "2", "3"});
    table.add(hinted("ip4", make_fixed_binary(4), "pg_catalog.inet"),
              {"c0a80001", "null", "00000000"});
    table.add(hinted("ip6", make_fixed_binary(16), "inet"),
              {"20010db8000000000000000000000001", "null", "fe800000000000000000000000000001"});
    table.add(hinted("ip", make_type(TypeId::kBinary), "inet"),
              {R"(\x0a000001)", "null", R"(\x00000000000000000000000000000001)"});
    table.add(hinted("mac", make_fixed_binary(6), "macaddr"),
              {"08002b010203", "null", "ffffffffffff"});
    table.add(make_field("code", make_fixed_binary(4)), {"61626364", "null", "61622020"});
    table.add(make_field("iv", make_type(TypeId::kIntervalMonthDayNano)),
              {"[14,3,3723004000000]", "null", "[0,0,0]"});
    table.add(make_field("du", column::make_duration(TimeUnit::kMilli)),
              {"90061001", "null", "-1"});
    table.add(make_field("f16", make_type(TypeId::kFloat16)), {"1.5", "null", "-65504"});
    table.add(make_field("d64", make_type(TypeId::kDate64)), {"951782400000", "null", "-86400000"});
    return table;
}

TypePtr make_union(TypeId id, std::vector<Field> members) {
    column::DataType type;
    type.id = id;
    for (size_t i = 0; i < members.size(); ++i) type.type_codes.push_back(static_cast<int8_t>(i));
    type.children = std::move(members);
    return std::make_shared<const column::DataType>(std::move(type));
}

// What only Arrow has.
LiteralTable layouts() {
    LiteralTable table;
    table.add(make_field("id", int4()), {"1", "2", "3", "4"});
    table.add(make_field("du", make_union(TypeId::kDenseUnion,
                                          {make_field("n", int4()), make_field("t", text())})),
              {"0:7", R"(1:"x")", "0:null", R"(1:"")"});
    table.add(make_field("su", make_union(TypeId::kSparseUnion,
                                          {make_field("f", make_type(TypeId::kFloat64)),
                                           make_field("l", make_list(make_field("e", int4())))})),
              {"0:0.5", "1:[1,2]", "1:[]", "1:null"});
    const std::vector<std::string_view> few = {R"("b")", R"("a")", "null", R"("b")"};
    for (const int width : {1, 2, 4, 8})
        table.add(make_field("dict" + std::to_string(width), text(), Storage::kDefault, width),
                  few);
    table.add(make_field("dict_n", make_type(TypeId::kInt64), Storage::kDefault, 2),
              {"10", "null", "10", "-10"});
    table.add(make_field("dict_list", make_list(make_field("e", text(), Storage::kDefault, 1))),
              {R"(["b","a"])", "[]", R"([null,"b"])", "null"});
    table.add(make_field("run_n", int4(), Storage::kRunEnd), {"1", "1", "null", "null"});
    table.add(make_field("run_t", text(), Storage::kRunEnd), few);
    table.add(make_field("large_t", text(), Storage::kLarge), few);
    table.add(make_field("large_b", make_type(TypeId::kBinary), Storage::kLarge),
              {R"(\x00ff)", R"(\x)", "null", R"(\x01)"});
    table.add(make_field("large_l", make_list(make_field("e", int4())), Storage::kLarge),
              {"[1]", "null", "[]", "[2,null]"});
    table.add(make_field("view_t", text(), Storage::kView),
              {R"("short")", R"("longer than twelve bytes")", "null", R"("")"});
    table.add(make_field("view_b", make_type(TypeId::kBinary), Storage::kView),
              {R"(\x00ff)", R"(\x000102030405060708090a0b0c0d0e0f)", "null", R"(\x)"});
    table.add(
        make_field("view_l", make_list(make_field("e", text(), Storage::kView)), Storage::kView),
        {R"(["p"])", "null", "[]", R"([null,"longer than twelve bytes"])"});
    table.add(make_field("months", make_type(TypeId::kIntervalMonths)), {"13", "-1", "null", "0"});
    table.add(make_field("day_ms", make_type(TypeId::kIntervalDayTime)),
              {"[1,2500]", "[-1,-1]", "null", "[0,0]"});
    table.add(make_field("mdn", make_type(TypeId::kIntervalMonthDayNano)),
              {"[-1,-2,-1000000]", "[1,-1,1000]", "null", "[0,0,-1]"});
    return table;
}

// Variants as a column, in a list, in a struct and in a map; metadata with the names a and b.
LiteralTable variants() {
    const TypePtr plain =
        with_annotation(*make_struct({make_field("metadata", make_type(TypeId::kBinary)),
                                      make_field("value", make_type(TypeId::kBinary))}),
                        Annotation::kVariant);
    const TypePtr shredded =
        with_annotation(*make_struct({make_field("metadata", make_type(TypeId::kBinary)),
                                      make_field("value", make_type(TypeId::kBinary)),
                                      make_field("typed_value", make_type(TypeId::kInt64))}),
                        Annotation::kVariant);
    // 7, {"b": 5}, a variant's null, "hi"
    const std::string_view seven = R"([\x01020001026162,\x0c07])";
    const std::string_view object = R"([\x01020001026162,\x02010100020c05])";
    const std::string_view none = R"([\x01020001026162,\x00])";
    const std::string_view hello = R"([\x01020001026162,\x096869])";
    const auto in = [](std::string_view before, std::string_view value, std::string_view after) {
        return std::string(before) + std::string(value) + std::string(after);
    };
    LiteralTable table;
    table.add(make_field("id", int4()), {"1", "2", "3", "4"});
    table.add(make_field("v", plain), {seven, object, none, "null"});
    table.add(make_field("sh", shredded), {R"([\x010000,null,-5])", R"([\x010000,\x04,null])",
                                           "null", R"([\x010000,null,9223372036854775807])"});
    const std::string list = in("[", hello, ",null,") + in("", none, "]");
    table.add(make_field("lv", make_list(make_field("element", plain))),
              {list, "[]", "null", in("[", object, "]")});
    const std::string member = in("[1,", object, "]");
    table.add(make_field("sv", make_struct({make_field("n", int4()), make_field("v", plain)})),
              {member, "[2,null]", "null", in("[null,", none, "]")});
    const std::string entry = in(R"([["k",)", seven, "]]");
    table.add(make_field("mv", make_map(make_field("key", text()), make_field("value", plain))),
              {entry, "[]", "null", R"([["k",null]])"});
    return table;
}

}  // namespace

void write_nested_files(const std::string& dir) {
    LiteralTable plain = nested(kPlain);
    plain.write_parquet(dir + "/nested.parquet", 2);
    plain.write_arrow(dir + "/nested.arrow", 2);
    nested(kEncoded).write_arrow(dir + "/nested_encoded.arrow", 3);
    LiteralTable scalars = kinds();
    scalars.write_parquet(dir + "/kinds.parquet", 10);
    scalars.write_arrow(dir + "/kinds.arrow", 10);
    layouts().write_arrow(dir + "/layouts.arrow", 3);
    variants().write_parquet(dir + "/variants.parquet", 10);
}

}  // namespace loom::test
