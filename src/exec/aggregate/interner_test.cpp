// Numbers of distinct values: short and long bytes, in batches of all sizes.

#include "exec/aggregate/interner.h"

#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/aggregate/test_texts.h"
#include "exec/key_hasher.h"

namespace loom::exec {
namespace {

using Value = TextRows::Value;

std::string random_text(std::mt19937& random, uint32_t kinds) {
    constexpr size_t kSizes[] = {0,  1,  2,  3,  4,  7,  8,  9,   12,  13,  15,  16,
                                 17, 24, 31, 32, 33, 64, 65, 100, 255, 256, 257, 300};
    std::string text(kSizes[random() % std::size(kSizes)], 'x');
    const auto kind = static_cast<uint32_t>(random() % kinds);
    // What differs stands at either end, or is the number of zero bytes.
    for (size_t i = 0; i < 4 && i < text.size(); ++i)
        text[kind % 2 == 0 ? i : text.size() - 1 - i] = static_cast<char>(kind >> 1 >> 8 * i);
    return text;
}

TEST(Interner, NumbersTextsAsAMapDoes) {
    std::mt19937 random(7);
    for (const int count :
         {0, 1, 63, 64, 65, 127, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096}) {
        Interner interner(kText, nullptr);
        KeyHasher hasher({kText}, nullptr);
        std::map<std::string, uint64_t> known;
        for (int round = 0; round < 6; ++round) {
            std::vector<Value> values;
            for (int i = 0; i < count; ++i) {
                values.emplace_back(random_text(random, round % 2 == 0 ? 20 : 3000));
                if (round >= 3 && random() % 8 == 0) values.back().reset();
            }
            const TextRows rows(std::move(values));
            std::vector<uint64_t> hashes(static_cast<size_t>(count) + 1);
            hasher.hash({&rows.vector, 1}, count, hashes.data());
            // First those that are there already.
            for (int64_t begin = 0; begin < count; begin += Interner::kAhead) {
                int64_t found[Interner::kAhead];
                const int64_t part = std::min<int64_t>(Interner::kAhead, count - begin);
                interner.find_all(rows.vector, begin, part, hashes.data() + begin, found);
                for (int64_t i = 0; i < part; ++i) {
                    const Value& value = rows.values[static_cast<size_t>(begin + i)];
                    if (!value) continue;
                    const auto at = known.find(*value);
                    ASSERT_EQ(found[i], at == known.end() ? -1 : static_cast<int64_t>(at->second));
                }
            }
            std::vector<uint64_t> numbers(static_cast<size_t>(count) + 1);
            interner.intern_all(rows.vector, numbers.data());
            for (size_t i = 0; i < rows.values.size(); ++i) {
                if (!rows.values[i]) continue;
                const auto [at, fresh] = known.try_emplace(*rows.values[i], known.size());
                ASSERT_EQ(numbers[i], at->second);
                ASSERT_EQ(interner.hash_of(numbers[i]), hashes[i]);
                ASSERT_EQ(interner.intern(rows.vector, static_cast<int64_t>(i)), at->second);
            }
        }
        ASSERT_EQ(interner.entries().length(), static_cast<int64_t>(known.size()));
        const auto* entries = interner.entries().values<column::BytesView>();
        for (const auto& [text, number] : known) ASSERT_EQ(entries[number].text(), text);
    }
}

TEST(Interner, TakesEntriesOfAnother) {
    std::mt19937 random(11);
    Interner from(kText, nullptr);
    Interner to(kText, nullptr);
    for (Interner* interner : {&from, &to}) {
        std::vector<Value> values;
        for (int i = 0; i < 3000; ++i) values.emplace_back(random_text(random, 3000));
        const TextRows rows(std::move(values));
        std::vector<uint64_t> numbers(rows.values.size());
        interner->intern_all(rows.vector, numbers.data());
    }
    std::vector<uint64_t> entries;
    for (int i = 0; i < 1000; ++i)
        entries.push_back(random() % static_cast<uint64_t>(from.entries().length()));
    std::vector<uint64_t> numbers(entries.size());
    to.intern_entries(from, entries, numbers.data());
    const auto* theirs = from.entries().values<column::BytesView>();
    const auto* ours = to.entries().values<column::BytesView>();
    for (size_t i = 0; i < entries.size(); ++i) {
        ASSERT_EQ(ours[numbers[i]].text(), theirs[entries[i]].text());
        ASSERT_EQ(to.hash_of(numbers[i]), from.hash_of(entries[i]));
        // Whatever was there has kept its number.
        ASSERT_EQ(to.intern(from.entries().view(), static_cast<int64_t>(entries[i])), numbers[i]);
    }
}

TEST(Hash, InlineBytesAreTheirBytes) {
    for (int64_t size = 0; size <= kMaxInlineBytes; ++size)
        for (int64_t at = 0; at < size; ++at) {
            std::vector<uint8_t> bytes(static_cast<size_t>(size), 0);
            bytes[static_cast<size_t>(at)] = 0xa5;
            const InlineBytes given = inline_bytes(bytes.data(), size);
            uint8_t out[16];
            std::memcpy(out, &given, sizeof out);
            for (int64_t i = 0; i < 15; ++i) ASSERT_EQ(out[i], i == at ? 0xa5 : 0) << size;
            ASSERT_EQ(out[15], size);
        }
}

}  // namespace
}  // namespace loom::exec
