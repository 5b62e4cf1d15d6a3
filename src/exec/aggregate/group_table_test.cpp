// Numbers of groups of several texts: few and many, so that their combinations outgrow an array.

#include "exec/aggregate/group_table.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/aggregate/test_texts.h"

namespace loom::exec {
namespace {

using Value = TextRows::Value;

// A text of one of so many kinds, or NULL.
Value random_value(std::mt19937& random, uint32_t kinds) {
    if (kinds == 0 || random() % 16 == 0) return std::nullopt;
    const auto kind = static_cast<uint32_t>(random() % kinds);
    return std::string(kind % 3 == 0 ? 40 : 3, 'k') + std::to_string(kind);
}

// The keys of groups as the table shows them.
std::vector<std::vector<Value>> groups_of(const GroupTable& table, size_t keys) {
    std::vector<std::vector<Value>> groups(static_cast<size_t>(table.groups()));
    for (size_t k = 0; k < keys; ++k) {
        base::Buffer values;
        base::Buffer validity;
        const Vector shown = table.view(k, values, validity);
        for (size_t g = 0; g < groups.size(); ++g) {
            const auto& view = shown.as<column::BytesView>()[g];
            groups[g].push_back(shown.is_null(static_cast<int64_t>(g))
                                    ? Value()
                                    : std::string(reinterpret_cast<const char*>(view.data),
                                                  static_cast<size_t>(view.size)));
        }
    }
    return groups;
}

// Two or three keys of so many kinds each, which appear little by little; then the same in codes.
void check_groups(size_t keys, uint32_t kinds) {
    SCOPED_TRACE(testing::Message() << keys << " keys, " << kinds << " kinds");
    std::mt19937 random(static_cast<uint32_t>(keys) * 1000 + kinds);
    GroupTable table(std::vector<plan::Type>(keys, kText), nullptr);
    std::map<std::vector<Value>, uint32_t> known;
    // Nothing but NULL comes first.
    for (const int count : {5, 1, 2, 1023, 1024, 1025, 2048, 2047, 4095, 4096, 4096, 63}) {
        const auto now = std::min(kinds, static_cast<uint32_t>(known.size() * 2));
        std::vector<TextRows> columns;
        std::vector<Vector> vectors;
        std::vector<std::vector<Value>> rows(static_cast<size_t>(count));
        for (size_t k = 0; k < keys; ++k) {
            std::vector<Value> values;
            for (auto& row : rows) {
                values.push_back(random_value(random, now));
                row.push_back(values.back());
            }
            columns.emplace_back(std::move(values));
        }
        for (const TextRows& column : columns) vectors.push_back(column.vector);
        std::vector<uint32_t> ids(static_cast<size_t>(count));
        table.assign(vectors, count, ids.data());
        for (size_t i = 0; i < rows.size(); ++i) {
            const auto [at, fresh] = known.emplace(rows[i], ids[i]);
            ASSERT_EQ(at->second, ids[i]) << "row " << i;
            if (fresh) {
                ASSERT_EQ(ids[i], known.size() - 1);
            }
        }
        ASSERT_EQ(table.groups(), static_cast<int64_t>(known.size()));
    }
    const std::vector<std::vector<Value>> shown = groups_of(table, keys);
    for (const auto& [row, group] : known) EXPECT_EQ(shown[group], row);

    // Codes of a dictionary beside a plain column find the same groups.
    std::vector<Value> entries;
    for (uint32_t kind = 0; kind < kinds; ++kind)
        entries.push_back(std::string(kind % 3 == 0 ? 40 : 3, 'k') + std::to_string(kind));
    entries.push_back(std::nullopt);
    const TextRows dictionary_rows(entries);
    VectorDictionary dictionary;
    dictionary.values = dictionary_rows.vector;
    dictionary.version = 77;
    std::vector<uint32_t> codes;
    std::vector<Value> others;
    std::vector<uint32_t> expected;
    for (const auto& [row, group] : known) {
        if (row.size() != 2 || codes.size() == 2048) continue;
        codes.push_back(static_cast<uint32_t>(std::find(entries.begin(), entries.end(), row[0]) -
                                              entries.begin()));
        others.push_back(row[1]);
        expected.push_back(group);
    }
    if (codes.empty()) return;
    const TextRows plain(others);
    Vector coded;
    coded.type = kText;
    coded.form = Form::kCodes;
    coded.length = static_cast<int64_t>(codes.size());
    coded.code_width = 4;
    coded.values = codes.data();
    coded.dictionary = &dictionary;
    std::vector<uint32_t> ids(codes.size());
    table.assign(std::vector<Vector>{coded, plain.vector}, coded.length, ids.data());
    EXPECT_EQ(ids, expected);
}

TEST(GroupTable, NumbersTuplesOfTexts) {
    for (const size_t keys : {2, 3})
        for (const uint32_t kinds : {1U, 2U, 6U, 31U, 100U, 300U, 1000U}) check_groups(keys, kinds);
}

}  // namespace
}  // namespace loom::exec
