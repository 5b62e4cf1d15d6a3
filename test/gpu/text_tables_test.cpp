// Tables of texts that serve again, and those that must not.

#include "gpu/run/text_tables.h"

#include <gtest/gtest.h>

#include "made_tables.h"
#include "random_plans.h"

namespace loom::gpu {
namespace {

DeviceColumn column_of(std::initializer_list<const char*> texts) {
    DeviceColumn column;
    column.facts.type = kText;
    column.texts = std::make_shared<TextDictionary>();
    for (const char* text : texts) column.texts->code(text);
    return column;
}

plan::Expr text(const char* value) {
    return plan::make_constant(kText, column::Scalar::of_bytes(value));
}

// substring(column 0 from 1 for length)
plan::Expr start(int length) {
    return function_call(
        877, {plan::make_column(0, kText), plan::make_constant(kInt4, column::Scalar::of_int(1)),
              plan::make_constant(kInt4, column::Scalar::of_int(length))});
}

plan::Expr parameter(int at) {
    plan::Expr expr;
    expr.kind = plan::ExprKind::kParameter;
    expr.index = at;
    expr.type = kText;
    return expr;
}

plan::Expr equals(plan::Expr right) {
    return plan::make_call(comparison(kText, 0), kBool,
                           {plan::make_column(0, kText), std::move(right)});
}

}  // namespace

TEST(TextTables, ServeAgain) {
    TextTables tables;
    const DeviceColumn column = column_of({"ab", "b", "ac"});
    const auto first = tables.answers(equals(text("b")), 0, column, {});
    EXPECT_EQ(*first, (TextTables::Answers{0, 1, 0, 2}));
    EXPECT_EQ(tables.answers(equals(text("b")), 0, column, {}), first);
    EXPECT_EQ(tables.hits(), 1U);
    const auto made = tables.texts(start(1), 0, column, {});
    EXPECT_EQ(made->texts, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(made->codes, (std::vector<uint32_t>{0, 1, 0, 2}));
    EXPECT_EQ(tables.texts(start(1), 0, column, {}), made);
    EXPECT_EQ(tables.hits(), 2U);
}

TEST(TextTables, AreOfOneExpressionItsParametersAndOneDictionary) {
    TextTables tables;
    DeviceColumn column = column_of({"ab", "b", "ac"});
    EXPECT_EQ(*tables.answers(equals(text("b")), 0, column, {}), (TextTables::Answers{0, 1, 0, 2}));
    EXPECT_EQ(*tables.answers(equals(text("ac")), 0, column, {}),
              (TextTables::Answers{0, 0, 1, 2}));
    const plan::Expr with_parameter = equals(parameter(0));
    std::vector<plan::ParameterValue> parameters(1);
    for (const char* value : {"ab", "ac", "ab"}) {
        parameters[0].value = column::Scalar::of_bytes(value);
        const bool is_first = std::string_view(value) == "ab";
        EXPECT_EQ(*tables.answers(with_parameter, 0, column, parameters),
                  (is_first ? TextTables::Answers{1, 0, 0, 2} : TextTables::Answers{0, 0, 1, 2}));
    }
    // NULL.
    parameters[0].value = {};
    EXPECT_EQ(*tables.answers(with_parameter, 0, column, parameters),
              (TextTables::Answers{2, 2, 2, 2}));
    EXPECT_EQ(tables.hits(), 1U);
    // It grows as other files are loaded.
    column.texts->code("d");
    EXPECT_EQ(*tables.answers(equals(text("b")), 0, column, {}),
              (TextTables::Answers{0, 1, 0, 0, 2}));
    // Others may come to be where it was.
    for (int i = 0; i < 100; ++i) {
        column = column_of({i % 2 == 0 ? "b" : "x"});
        EXPECT_EQ(*tables.answers(equals(text("b")), 0, column, {}),
                  (TextTables::Answers{static_cast<uint8_t>(i % 2 == 0), 2}));
    }
    EXPECT_EQ(tables.hits(), 1U);
}

TEST(TextTables, KeepToTheirBytes) {
    const DeviceColumn column = column_of({"ab", "b", "ac"});
    TextTables few(3000);
    for (int round = 0; round < 2; ++round)
        for (int length = 0; length < 20; ++length) {
            const auto made = few.texts(start(length), 0, column, {});
            EXPECT_EQ(made->texts.size(), length == 0 ? 1U : length == 1 ? 2U : 3U);
        }
    EXPECT_EQ(few.hits(), 0U);
    static_cast<void>(few.texts(start(19), 0, column, {}));
    EXPECT_EQ(few.hits(), 1U);
    TextTables none(0);
    for (int round = 0; round < 2; ++round) static_cast<void>(none.texts(start(1), 0, column, {}));
    EXPECT_EQ(none.hits(), 0U);
}

}  // namespace loom::gpu
