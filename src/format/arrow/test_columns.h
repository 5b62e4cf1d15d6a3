#pragma once
// Random columns of every type, and rows as text, for the tests of this folder.

#include <random>
#include <string>
#include <vector>

#include "column/column.h"
#include "column/text.h"

namespace loom::arrow::testing {

/// Appends one random value of the builder's type, NULL with probability `nulls`.
inline void append_random(column::ColumnBuilder& builder, const column::DataType& type,
                          std::mt19937_64& random, double nulls) {
    using column::TypeId;
    const bool is_union = type.id == TypeId::kSparseUnion || type.id == TypeId::kDenseUnion;
    if (type.id == TypeId::kNull ||
        (!is_union && std::uniform_real_distribution<>(0, 1)(random) < nulls))
        return builder.append_null();
    auto pick = [&](int64_t limit) {
        return static_cast<int>(random() % static_cast<uint64_t>(limit));
    };
    switch (type.id) {
        case TypeId::kBool:
            return builder.append_bool((random() & 1) != 0);
        case TypeId::kUtf8:
        case TypeId::kBinary: {
            // Some longer than a view holds inline, many equal.
            const int size = pick(3) == 0 ? pick(40) : pick(4);
            std::string text;
            for (int i = 0; i < size; ++i) text += static_cast<char>('a' + pick(3));
            return builder.append_bytes(text);
        }
        case TypeId::kList:
        case TypeId::kMap:
        case TypeId::kFixedList: {
            const int size = type.id == TypeId::kFixedList ? type.list_size : pick(4);
            for (int i = 0; i < size; ++i)
                append_random(builder.child(0), *type.children[0].type, random,
                              type.id == TypeId::kMap ? 0 : nulls);
            return builder.append_nested();
        }
        case TypeId::kStruct:
            for (size_t i = 0; i < type.children.size(); ++i)
                append_random(builder.child(static_cast<int>(i)), *type.children[i].type, random,
                              nulls);
            return builder.append_nested();
        case TypeId::kSparseUnion:
        case TypeId::kDenseUnion: {
            const int member = pick(static_cast<int64_t>(type.children.size()));
            append_random(builder.child(member), *type.children[static_cast<size_t>(member)].type,
                          random, nulls);
            return builder.append_union(member);
        }
        default: {
            std::string bytes(static_cast<size_t>(column::byte_width(type)), '\0');
            // Few distinct values, so that runs and dictionaries have something to find.
            if (pick(3) != 0 && !bytes.empty())
                bytes[0] = static_cast<char>(pick(4));
            else
                for (char& byte : bytes) byte = static_cast<char>(random() & 0x3F);
            return builder.append_fixed(bytes.data(), bytes.size());
        }
    }
}

inline column::Column random_column(const column::TypePtr& type, int64_t rows, double nulls,
                                    uint64_t seed) {
    std::mt19937_64 random(seed);
    column::ColumnBuilder builder(type);
    for (int64_t i = 0; i < rows; ++i) append_random(builder, *type, random, nulls);
    return builder.finish();
}

/// Appends the rows of a view as JSON, exact for every type.
inline void append_rows(const column::ColumnView& view, std::vector<std::string>& out) {
    column::TextStyle style;
    style.raw_integers = true;
    for (int64_t row = 0; row < view.length; ++row) {
        out.emplace_back();
        column::append_json(view, row, style, out.back());
    }
}

}  // namespace loom::arrow::testing
