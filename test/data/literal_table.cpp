#include "literal_table.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "io/file.h"
#include "text_table.h"

namespace loom::test {

using column::ColumnBuilder;
using column::DataType;
using column::Field;
using column::TypeId;

namespace {

// Exact for the numbers of tests: normal ones that a half holds.
uint16_t half_of(float value) {
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    if (std::isnan(value)) return 0x7E00;
    if (std::isinf(value)) return sign | 0x7C00;
    if (value == 0) return sign;
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent);
    const auto mantissa = static_cast<int>((fraction * 2 - 1) * 1024);
    return static_cast<uint16_t>(sign | (exponent + 14) << 10 | mantissa);
}

class LiteralParser {
  public:
    explicit LiteralParser(std::string_view text) : text_(text) {}

    void append(ColumnBuilder& builder, const DataType& type) {
        if (text_.substr(at_).starts_with("null")) {
            at_ += 4;
            return builder.append_null();
        }
        switch (type.id) {
            case TypeId::kList:
            case TypeId::kFixedList:
            case TypeId::kMap:
                each([&] { append(builder.child(0), *type.children[0].type); });
                return builder.append_nested();
            case TypeId::kStruct: {
                size_t member = 0;
                each([&] {
                    append(builder.child(static_cast<int>(member)), *type.children[member].type);
                    ++member;
                });
                if (member != type.children.size()) fail();
                return builder.append_nested();
            }
            case TypeId::kSparseUnion:
            case TypeId::kDenseUnion: {
                const int index = static_cast<int>(number(word(":")));
                take(':');
                append(builder.child(index), *type.children[static_cast<size_t>(index)].type);
                return builder.append_union(index);
            }
            case TypeId::kIntervalDayTime:
            case TypeId::kIntervalMonthDayNano:
                return append_interval(builder, type);
            default:
                return append_scalar(builder, type);
        }
    }

    void end() const {
        if (at_ != text_.size()) fail();
    }

  private:
    [[noreturn]] void fail() const {
        base::raise(base::ErrorKind::kBug, "the literal {} at {}", text_, at_);
    }
    void take(char c) {
        if (at_ >= text_.size() || text_[at_] != c) fail();
        ++at_;
    }
    bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }

    template <typename Item>
    void each(Item&& item) {
        take('[');
        for (bool first = true; !next_is(']'); first = false) {
            if (!first) take(',');
            item();
        }
        take(']');
    }

    std::string_view word(std::string_view ends) {
        const size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
        const std::string_view part = text_.substr(at_, end - at_);
        at_ = end;
        return part;
    }
    int64_t number(std::string_view text) const {
        int64_t value = 0;
        const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
        if (result.ec != std::errc() || result.ptr != text.data() + text.size()) fail();
        return value;
    }

    std::string quoted() {
        take('"');
        std::string text;
        while (!next_is('"')) {
            if (next_is('\\')) ++at_;
            if (at_ >= text_.size()) fail();
            text += text_[at_++];
        }
        take('"');
        return text;
    }

    void append_interval(ColumnBuilder& builder, const DataType& type) {
        std::vector<int64_t> parts;
        each([&] { parts.push_back(number(word(",]"))); });
        const bool nanos = type.id == TypeId::kIntervalMonthDayNano;
        if (parts.size() != (nanos ? 3U : 2U)) fail();
        struct {
            int32_t first, second;
            int64_t nanos;
        } value{static_cast<int32_t>(parts[0]), static_cast<int32_t>(parts[1]),
                nanos ? parts[2] : 0};
        builder.append_fixed(&value, nanos ? 16 : 8);
    }

    void append_scalar(ColumnBuilder& builder, const DataType& type) {
        const std::string text = next_is('"') ? quoted() : std::string(word(",]"));
        switch (type.id) {
            case TypeId::kFloat16:
                return builder.append(half_of(std::strtof(text.c_str(), nullptr)));
            case TypeId::kDate64:
            case TypeId::kDuration:
                return builder.append(number(text));
            case TypeId::kIntervalMonths:
                return builder.append(static_cast<int32_t>(number(text)));
            default:
                return append_text(builder, type, text);
        }
    }

    std::string_view text_;
    size_t at_ = 0;
};

}  // namespace

Field make_field(std::string name, column::TypePtr type, column::Storage storage, int index_width) {
    Field field;
    field.name = std::move(name);
    field.type = std::move(type);
    field.storage = storage;
    field.dictionary_index_width = static_cast<uint8_t>(index_width);
    return field;
}

void append_literal(ColumnBuilder& builder, const DataType& type, std::string_view literal) {
    LiteralParser parser(literal);
    parser.append(builder, type);
    parser.end();
}

void LiteralTable::add(Field field, const std::vector<std::string_view>& literals) {
    ColumnBuilder builder(field.type);
    for (const std::string_view literal : literals) append_literal(builder, *field.type, literal);
    columns_.push_back(builder.finish());
    schema_.fields.push_back(std::move(field));
}

std::vector<column::ColumnView> LiteralTable::views() {
    std::vector<column::ColumnView> views;
    for (column::Column& column : columns_) views.push_back(column.view());
    return views;
}

void LiteralTable::write_parquet(const std::string& path, int64_t row_group_rows) {
    parquet::WriterOptions options;
    options.row_group_rows = row_group_rows;
    parquet::Writer writer(schema_, std::move(options), io::create_local_file(path));
    writer.write(views(), columns_.front().length);
    writer.finish();
}

void LiteralTable::write_arrow(const std::string& path, int64_t record_batch_rows) {
    arrow::WriterOptions options;
    options.record_batch_rows = record_batch_rows;
    arrow::Writer writer(schema_, std::move(options), io::create_local_file(path));
    writer.write(views(), columns_.front().length);
    writer.finish();
}

}  // namespace loom::test
