// Arrays and composites byte by byte. That PostgreSQL takes them for its own is tested in
// test/regress/sql/engine_nested.sql.
#include "exec/scan/load_nested.h"

#include <cstring>

#include <gtest/gtest.h>

#include "exec/fault.h"

namespace loom::exec {
namespace {

using column::ColumnBuilder;
using column::ColumnView;
using column::make_type;
using plan::Layout;
using plan::TypeId;

Layout value_layout(TypeId id, uint32_t oid, int16_t length, uint8_t alignment) {
    Layout layout;
    layout.type = plan::make_type(id);
    layout.oid = oid;
    layout.length = length;
    layout.alignment = alignment;
    layout.is_packed = length < 0;
    return layout;
}

Layout array_of(Layout element) {
    Layout layout;
    layout.kind = Layout::Kind::kArray;
    layout.type = plan::make_opaque(element.oid + 1000, -1, false);
    layout.oid = element.oid + 1000;
    layout.length = -1;
    layout.alignment = 4;
    layout.parts.push_back(std::move(element));
    return layout;
}

const Layout kInt4 = value_layout(TypeId::kInt4, 23, 4, 4);
const Layout kInt8 = value_layout(TypeId::kInt8, 20, 8, 8);
const Layout kBool = value_layout(TypeId::kBool, 16, 1, 1);
const Layout kText = value_layout(TypeId::kText, 25, -1, 4);
const Layout kNumeric = value_layout(TypeId::kNumeric, 1700, -1, 4);

// The value with its header, in memory that is aligned as PostgreSQL's.
class Datum {
  public:
    Datum(const Vector& vector, int64_t row) {
        const auto& bytes = vector.as<column::BytesView>()[row];
        memory_.resize(static_cast<uint64_t>(bytes.size) + 4);
        std::memcpy(memory_.data() + 4, bytes.data, static_cast<size_t>(bytes.size));
    }
    template <typename T>
    T at(size_t place) const {
        T value;
        std::memcpy(&value, memory_.data() + place, sizeof value);
        return value;
    }
    size_t size() const { return memory_.size(); }
    std::string text(size_t place, size_t count) const {
        return {reinterpret_cast<const char*>(memory_.data()) + place, count};
    }

  private:
    base::Buffer memory_;
};

// Rows of 0, 1, 2, ... elements, from 0 to `most` and from there again; every fifth one is NULL.
template <typename Append>
column::Column lists(column::TypePtr element, int rows, int most, Append&& append) {
    ColumnBuilder builder(column::make_list({"element", std::move(element)}));
    int number = 0;
    for (int row = 0; row < rows; ++row) {
        for (int i = 0; i < row % (most + 1); ++i, ++number) {
            if (number % 5 == 4)
                builder.child(0).append_null();
            else
                append(builder.child(0), number);
        }
        builder.append_nested();
    }
    return builder.finish();
}

// The same view from row `begin` on.
ColumnView from(ColumnView view, int64_t begin) {
    view.offsets += begin;
    view.length -= begin;
    return view;
}

TEST(NestedLoader, MakesArraysFromAnyRowOn) {
    column::Column column =
        lists(make_type(column::TypeId::kInt32), 300, 19,
              [](ColumnBuilder& child, int number) { child.append<int32_t>(number); });
    const Layout layout = array_of(kInt8);
    NestedLoader loader(*column.type, layout, nullptr);
    for (const int64_t begin : {0, 1, 3, 8, 17, 299}) {
        const ColumnView view = from(column.view(), begin);
        const Vector vector = loader.load(view);
        ASSERT_EQ(vector.length, 300 - begin);
        for (int64_t row = 0; row < vector.length; ++row) {
            const Datum datum(vector, row);
            const auto count = static_cast<int32_t>(view.offsets[row + 1] - view.offsets[row]);
            ASSERT_EQ(datum.at<uint32_t>(12), 20U);
            if (count == 0) {
                ASSERT_EQ(datum.size(), 16U);
                ASSERT_EQ(datum.at<int32_t>(4), 0);
                continue;
            }
            ASSERT_EQ(datum.at<int32_t>(4), 1);
            ASSERT_EQ(datum.at<int32_t>(16), count);
            ASSERT_EQ(datum.at<int32_t>(20), 1);
            const auto data = datum.at<int32_t>(8);
            size_t place = data == 0 ? 24 : static_cast<size_t>(data);
            for (int32_t i = 0; i < count; ++i) {
                const int64_t number = view.offsets[row] + i;
                const bool present = data == 0 || (datum.at<uint8_t>(24 + i / 8) >> (i % 8) & 1);
                ASSERT_EQ(present, number % 5 != 4);
                if (!present) continue;
                ASSERT_EQ(datum.at<int64_t>(place), number);
                place += 8;
            }
            ASSERT_EQ(place, datum.size());
        }
    }
}

TEST(NestedLoader, AlignsTextsAndReadsBits) {
    column::Column texts = lists(
        make_type(column::TypeId::kUtf8), 20, 4,
        [](ColumnBuilder& child, int number) { child.append_bytes(std::string(number % 3, 'x')); });
    const Layout text_array = array_of(kText);
    NestedLoader text_loader(*texts.type, text_array, nullptr);
    const Datum four(text_loader.load(texts.view()), 3);  // elements 3, NULL, 5
    EXPECT_EQ(four.at<int32_t>(8), 32);
    EXPECT_EQ(four.at<uint8_t>(24), 0b101);
    EXPECT_EQ(four.at<uint32_t>(32), 4U << 2);
    EXPECT_EQ(four.at<uint32_t>(36), 6U << 2);
    EXPECT_EQ(four.text(40, 4), std::string("xx\0\0", 4));
    EXPECT_EQ(four.size(), 44U);

    column::Column bits =
        lists(make_type(column::TypeId::kBool), 40, 9,
              [](ColumnBuilder& child, int number) { child.append_bool(number % 3 == 0); });
    const Layout bit_array = array_of(kBool);
    NestedLoader bit_loader(*bits.type, bit_array, nullptr);
    const ColumnView view = from(bits.view(), 5);
    const Datum last(bit_loader.load(view), view.length - 1);
    const auto data = static_cast<size_t>(last.at<int32_t>(8));
    size_t place = data;
    for (int64_t number = view.offsets[view.length - 1]; number < view.offsets[view.length];
         ++number)
        if (number % 5 != 4) {
            ASSERT_EQ(last.at<uint8_t>(place++), number % 3 == 0 ? 1 : 0);
        }
    EXPECT_EQ(place, last.size());
}

TEST(NestedLoader, MakesRows) {
    ColumnBuilder builder(column::make_struct({{"B", make_type(column::TypeId::kUtf8)},
                                               {"n", column::make_decimal(5, 2)},
                                               {"a", make_type(column::TypeId::kInt32)}}));
    builder.child(0).append_bytes("hey");
    builder.child(1).append<int32_t>(150);
    builder.child(2).append<int32_t>(7);
    builder.append_nested();
    builder.child(0).append_bytes(std::string(200, 'y'));
    builder.child(1).append_null();
    builder.child(2).append<int32_t>(8);
    builder.append_nested();
    for (int i = 0; i < 3; ++i) builder.child(i).append_null();
    builder.append_null();
    column::Column column = builder.finish();

    Layout layout;
    layout.kind = Layout::Kind::kComposite;
    layout.type = plan::make_opaque(5000, -1, false);
    layout.header.assign(plan::kRowHeader, 'h');
    for (const auto& [name, part] : {std::pair("a", kInt4), std::pair("gone", kInt4),
                                     std::pair("b", kText), std::pair("n", kNumeric)}) {
        layout.parts.push_back(part);
        layout.parts.back().name = name;
    }
    layout.parts[1].is_dropped = true;
    layout.parts[3].type = plan::make_decimal();
    NestedLoader loader(*column.type, layout, nullptr);
    const Vector vector = loader.load(column.view());
    EXPECT_TRUE(vector.is_null(2));

    const Datum first(vector, 0);
    EXPECT_EQ(first.text(4, 16), std::string(16, 'h'));
    EXPECT_EQ(first.at<uint16_t>(20) & 3, 3);  // NULLs, and values of any length
    EXPECT_EQ(first.at<uint8_t>(22), 24);
    EXPECT_EQ(first.at<uint8_t>(23), 0b1101);
    EXPECT_EQ(first.at<int32_t>(24), 7);
    EXPECT_EQ(first.at<uint8_t>(28), 4 << 1 | 1);  // a header of one byte, unaligned
    EXPECT_EQ(first.text(29, 3), "hey");
    EXPECT_EQ(first.at<uint8_t>(32), 7 << 1 | 1);
    EXPECT_EQ(first.at<uint16_t>(33), 0x8000 | 2 << 7);  // 1.50: two digits behind the point
    EXPECT_EQ(first.at<int16_t>(35), 1);
    EXPECT_EQ(first.at<int16_t>(37), 5000);
    EXPECT_EQ(first.size(), 39U);

    const Datum second(vector, 1);
    EXPECT_EQ(second.at<uint8_t>(23), 0b0101);
    EXPECT_EQ(second.at<uint32_t>(28), 204U << 2);
    EXPECT_EQ(second.size(), 232U);
}

TEST(NestedLoader, RefusesWhatDoesNotFit) {
    const Layout numbers = array_of(kInt4);
    const column::TypePtr texts = column::make_list({"element", make_type(column::TypeId::kUtf8)});
    EXPECT_FALSE(can_load(*texts, numbers));
    EXPECT_FALSE(can_load(*make_type(column::TypeId::kInt32), numbers));
    EXPECT_THROW(NestedLoader(*texts, numbers, nullptr), Unrepresentable);

    column::Column bad = lists(make_type(column::TypeId::kUtf8), 3, 2,
                               [](ColumnBuilder& child, int) { child.append_bytes("\xff"); });
    const Layout text_array = array_of(kText);
    NestedLoader loader(*bad.type, text_array, nullptr);
    EXPECT_THROW(loader.load(bad.view()), Unrepresentable);
}

}  // namespace
}  // namespace loom::exec
