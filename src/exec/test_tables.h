#pragma once
// Small tables of values for tests of whole plans.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

#include "exec/query.h"

namespace loom::exec {

// A value of the test's tables: NULL, a number or a text; or an average.
using Value = std::variant<std::monostate, int64_t, std::string, double>;
using Row = std::vector<Value>;
using Rows = std::vector<Row>;

inline bool is_null(const Value& value) {
    return std::holds_alternative<std::monostate>(value);
}

struct Table {
    std::vector<plan::Type> types;
    Rows rows;
};

// Feeds a table's rows, `step` at a time.
class TableRows final : public RowSource {
  public:
    TableRows(const Table& table, int64_t step) : table_(table), step_(step) {
        for (size_t c = 0; c < table.types.size(); ++c) columns_.emplace_back();
    }

    int64_t fetch(std::span<Vector> columns) override {
        const int64_t count = std::min(step_, static_cast<int64_t>(table_.rows.size()) - position_);
        for (size_t c = 0; c < columns.size(); ++c) fill(c, count, &columns[c]);
        position_ += count;
        return count;
    }

  private:
    struct Column {
        base::Buffer values;
        base::Buffer validity;
    };

    void fill(size_t c, int64_t count, Vector* vector) {
        Column& column = columns_[c];
        const plan::Type type = table_.types[c];
        const int width = plan::width(physical(type));
        column.values.resize_discarding(static_cast<uint64_t>(count) * width);
        column.validity.resize_discarding(static_cast<uint64_t>(base::bitmap_bytes(count)));
        for (int64_t i = 0; i < count; ++i) {
            const Value& value = table_.rows[static_cast<size_t>(position_ + i)][c];
            uint8_t* place = column.values.data() + i * width;
            std::memset(place, 0xab, static_cast<size_t>(width));
            base::put_bit(column.validity.data(), i, !is_null(value));
            if (const auto* number = std::get_if<int64_t>(&value))
                std::memcpy(place, number, static_cast<size_t>(width));
            else if (const auto* text = std::get_if<std::string>(&value))
                *reinterpret_cast<column::BytesView*>(place) = {
                    reinterpret_cast<const uint8_t*>(text->data()),
                    static_cast<int64_t>(text->size())};
        }
        *vector = Vector{};
        vector->type = type;
        vector->length = count;
        vector->values = column.values.data();
        vector->validity = column.validity.data();
    }

    const Table& table_;
    int64_t step_;
    int64_t position_ = 0;
    std::vector<Column> columns_;
};

class NoHost final : public Host {
  public:
    void check_interrupts() override {}
    Vector evaluate(int, std::span<const Vector>, int64_t) override {
        throw Unrepresentable("there is nobody to ask");
    }
};

inline Value value_at(const Vector& vector, int64_t row) {
    if (vector.is_null(row)) return {};
    switch (physical(vector.type)) {
        case plan::Physical::kBool:
            return int64_t{vector.as<uint8_t>()[row]};
        case plan::Physical::kInt32:
            return int64_t{vector.as<int32_t>()[row]};
        case plan::Physical::kInt64:
            return vector.as<int64_t>()[row];
        case plan::Physical::kFloat64:
            return vector.as<double>()[row];
        case plan::Physical::kBytes:
            return std::string(vector.as<column::BytesView>()[row].text());
        default:
            ADD_FAILURE() << "a type that the test does not know";
            return {};
    }
}

}  // namespace loom::exec
