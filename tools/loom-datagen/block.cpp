#include "block.h"

#include <cstring>

namespace loom::datagen {

using column::BytesView;
using column::Column;
using column::TypeId;

std::vector<column::ColumnView> Block::views() {
    std::vector<column::ColumnView> result;
    result.reserve(columns.size());
    for (Column& column : columns) result.push_back(column.view());
    return result;
}

namespace {

template <typename Texts>
std::shared_ptr<Column> column_of(const Texts& texts) {
    column::ColumnBuilder builder(column::make_type(TypeId::kUtf8));
    for (const auto& text : texts) builder.append_bytes(text);
    return std::make_shared<Column>(builder.finish());
}

}  // namespace

Words::Words(std::span<const std::string_view> words) {
    auto column = column_of(words);
    dictionary_.values = column->view();
    dictionary_.version = column::next_dictionary_version();
    column_ = std::move(column);
}

Words::Words(const std::vector<std::string>& words) {
    auto column = column_of(words);
    dictionary_.values = column->view();
    dictionary_.version = column::next_dictionary_version();
    column_ = std::move(column);
}

Column Words::make_column(int64_t rows) const {
    Column column(column_->type);
    column.encoding = column::Encoding::kDictionary;
    column.code_width = size() <= 256 ? 1 : 2;
    column.length = rows;
    column.values.resize(rows * column.code_width);
    column.dictionary_column = column_;
    column.dictionary = dictionary_;
    return column;
}

Column make_fixed(column::TypePtr type, int64_t rows) {
    Column column(std::move(type));
    column.length = rows;
    column.values.resize(rows * byte_width(*column.type));
    return column;
}

BytesFiller::BytesFiller(column::TypePtr type, int64_t rows, int64_t bytes_a_row)
    : column_(std::move(type)) {
    column_.length = rows;
    heap_.reserve(rows * bytes_a_row);
    ends_.reserve(rows);
}

void BytesFiller::add(std::string_view value) {
    heap_ += value;
    ends_.push_back(static_cast<int64_t>(heap_.size()));
}

void BytesFiller::add_null() {
    nulls_.push_back(static_cast<int64_t>(ends_.size()));
    ends_.push_back(static_cast<int64_t>(heap_.size()));
}

Column BytesFiller::finish() {
    column_.heap.resize(heap_.size());
    if (!heap_.empty()) std::memcpy(column_.heap.data(), heap_.data(), heap_.size());
    column_.values.resize(ends_.size() * sizeof(BytesView));
    auto* views = column_.values.as<BytesView>();
    int64_t begin = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
        views[i] = {column_.heap.data() + begin, ends_[i] - begin};
        begin = ends_[i];
    }
    set_nulls(column_, nulls_);
    return std::move(column_);
}

void set_nulls(Column& column, std::span<const int64_t> rows) {
    if (rows.empty()) return;
    column.validity.resize(base::bitmap_bytes(column.length));
    base::fill_bits(column.validity.data(), 0, column.length, true);
    for (int64_t row : rows) base::clear_bit(column.validity.data(), row);
    column.null_count = static_cast<int64_t>(rows.size());
}

Column take_rows(Column& from, std::span<const int64_t> rows) {
    Column to(from.type);
    to.encoding = from.encoding;
    to.code_width = from.code_width;
    to.length = static_cast<int64_t>(rows.size());
    to.dictionary_column = from.dictionary_column;
    to.dictionary = from.dictionary;
    const size_t width = from.encoding == column::Encoding::kDictionary ? from.code_width
                         : column::is_bytes(from.type->id)              ? sizeof(BytesView)
                                                                        : byte_width(*from.type);
    to.values.resize(rows.size() * width);
    for (size_t i = 0; i < rows.size(); ++i)
        std::memcpy(to.values.data() + i * width, from.values.data() + rows[i] * width, width);
    if (from.validity.size() != 0) {
        std::vector<int64_t> nulls;
        for (size_t i = 0; i < rows.size(); ++i)
            if (!base::bit_at(from.validity.data(), rows[i]))
                nulls.push_back(static_cast<int64_t>(i));
        set_nulls(to, nulls);
    }
    return to;  // BytesViews still point into `from`
}

}  // namespace loom::datagen
