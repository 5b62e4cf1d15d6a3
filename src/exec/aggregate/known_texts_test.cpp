// What is found of texts: the number that came with them, or nothing.

#include "exec/aggregate/known_texts.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bitmap.h"
#include "exec/aggregate/test_texts.h"

namespace loom::exec {
namespace {

std::vector<uint32_t> find(const KnownTexts& known, const Texts& texts,
                           const uint8_t* validity = nullptr) {
    std::vector<uint32_t> numbers(texts.values.size());
    known.find(texts.views.data(), validity, texts.hashes.data(),
               static_cast<int64_t>(numbers.size()), numbers.data());
    return numbers;
}

void add(KnownTexts& known, const Texts& texts, uint32_t first = 0) {
    for (size_t i = 0; i < texts.values.size(); ++i)
        known.add(texts.views[i], texts.hashes[i], first + static_cast<uint32_t>(i));
}

TEST(KnownTexts, FindsTextsOfAllLengthsThatItKeeps) {
    for (size_t size = 0; size <= 40; ++size) {
        KnownTexts known(1 << 20, nullptr);
        const Texts texts({std::string(size, 'a')});
        EXPECT_EQ(find(known, texts)[0], KnownTexts::kNone);
        add(known, texts, 7);
        const bool kept = static_cast<int64_t>(size) <= KnownTexts::kLongest;
        EXPECT_EQ(find(known, texts)[0], kept ? 7 : KnownTexts::kNone) << size;
    }
}

// All have one hash.
TEST(KnownTexts, TellsTextsApartThatDifferInOneByteOrInLength) {
    for (size_t size = 0; size <= 31; ++size) {
        KnownTexts known(1 << 20, nullptr);
        Texts text({std::string(size, '\0')});
        add(known, text);
        std::vector<std::string> others;
        for (size_t other = 0; other <= 32; ++other)
            if (other != size) others.emplace_back(other, '\0');
        for (size_t at = 0; at < size; ++at) {
            others.push_back(text.values[0]);
            others.back()[at] = 1;
        }
        Texts rows(others);
        for (uint64_t& hash : rows.hashes) hash = text.hashes[0];
        for (const uint32_t number : find(known, rows)) EXPECT_EQ(number, KnownTexts::kNone);
    }
}

TEST(KnownTexts, NeverGivesANumberOfAnother) {
    std::mt19937 random(3);
    // From one line to room for all.
    for (const uint64_t bytes : {1, 64, 4096, 1 << 24}) {
        KnownTexts known(bytes, nullptr);
        std::map<std::string, uint32_t> numbers;
        for (uint32_t i = 0; i < 3000; ++i) {
            const Texts text({std::string(random() % 25, 'x') + std::to_string(i)});
            add(known, text, i);
            numbers[text.values[0]] = i;
        }
        std::vector<std::string> some;
        for (const auto& [text, number] : numbers) some.push_back(text);
        for (int i = 0; i < 1000; ++i) some.push_back("y" + std::to_string(i));
        size_t found = 0;
        const Texts rows(some);
        const std::vector<uint32_t> answers = find(known, rows);
        for (size_t i = 0; i < some.size(); ++i) {
            if (answers[i] == KnownTexts::kNone) continue;
            ++found;
            ASSERT_EQ(numbers.at(some[i]), answers[i]);
        }
        EXPECT_GE(found, std::min<uint64_t>(std::max<uint64_t>(bytes / 64, 2), 2900));
    }
}

TEST(KnownTexts, DoesNotLookAtNulls) {
    KnownTexts known(1 << 20, nullptr);
    Texts texts({"one", "two", "three"});
    add(known, texts);
    texts.views[1] = {reinterpret_cast<const uint8_t*>(16), 10};
    const uint8_t validity[16] = {0b101};
    EXPECT_EQ(find(known, texts, validity), (std::vector<uint32_t>{0, KnownTexts::kNone, 2}));
}

TEST(KnownTexts, CountsItsMemory) {
    base::MemoryBudget budget;
    const KnownTexts known(1 << 20, &budget);
    EXPECT_GE(budget.used(), uint64_t{1} << 20);
    EXPECT_LE(budget.used(), uint64_t{3} << 19);
}

}  // namespace
}  // namespace loom::exec
