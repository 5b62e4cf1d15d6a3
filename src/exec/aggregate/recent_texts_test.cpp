// What is remembered of texts: never one that was not there, and each as long as there is room.

#include "exec/aggregate/recent_texts.h"

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bitmap.h"
#include "exec/aggregate/test_texts.h"
#include "exec/mask.h"
#include "exec/vector.h"

namespace loom::exec {
namespace {

using column::BytesView;

constexpr uint64_t kRoom = uint64_t{1} << 20;

// Asks for all texts; says for each whether it was known ('k'), new ('n') or too long ('l').
std::string ask(RecentTexts& recent, const Texts& texts) {
    const auto count = static_cast<int64_t>(texts.values.size());
    uint64_t rows[kMaskWords];
    uint64_t longer[kMaskWords];
    fill_mask(rows, count, true);
    const bool any =
        recent.drop_known(texts.views.data(), texts.hashes.data(), count, rows, longer);
    std::string answers;
    for (int64_t i = 0; i < count; ++i) {
        const bool left = (rows[i >> 6] >> (i & 63) & 1) != 0;
        const bool is_longer = (longer[i >> 6] >> (i & 63) & 1) != 0;
        EXPECT_FALSE(left && is_longer);
        answers += is_longer ? 'l' : left ? 'n' : 'k';
    }
    EXPECT_EQ(any, answers.find('l') != std::string::npos);
    return answers;
}

TEST(RecentTexts, TellsTextsApartThatDifferInOneByteOrInLength) {
    for (int64_t size = 0; size <= RecentTexts::kLongest + 1; ++size) {
        const std::string zeros(static_cast<size_t>(size), '\0');
        std::vector<std::string> values;
        if (size <= RecentTexts::kLongest) values.push_back(zeros);
        for (size_t at = 0; at < zeros.size(); ++at) {
            values.push_back(zeros);
            values.back()[at] = 'x';
        }
        // One line for all, so that keys are compared: each text is known at once, and the next is
        // not.
        RecentTexts recent(1, nullptr);
        const char fresh = size > RecentTexts::kLongest ? 'l' : 'n';
        const char again = size > RecentTexts::kLongest ? 'l' : 'k';
        for (const std::string& value : values) {
            const std::string expected{fresh, again};
            EXPECT_EQ(ask(recent, Texts({value, value})), expected) << size;
        }
        if (size < RecentTexts::kLongest) {
            EXPECT_EQ(ask(recent, Texts({zeros, zeros + '\0'})).back(), 'n') << size;
        }
    }
}

TEST(RecentTexts, KnowsOnlyWhatWasThere) {
    std::mt19937 random(11);
    for (const uint64_t room : {uint64_t{64}, uint64_t{4096}, kRoom}) {
        RecentTexts recent(room, nullptr);
        std::set<std::string> known;
        for (const int count : {0, 1, 23, 24, 25, 63, 64, 65, 1000, 4095, 4096, 4096}) {
            std::vector<std::string> values;
            for (int i = 0; i < count; ++i) {
                const auto kind = static_cast<uint32_t>(random() % 2000);
                values.push_back(std::to_string(kind) + std::string(kind % 36, 'y'));
            }
            const Texts texts(std::move(values));
            const std::string answers = ask(recent, texts);
            for (size_t i = 0; i < answers.size(); ++i) {
                const std::string& value = texts.values[i];
                const bool fresh = known.insert(value).second;
                ASSERT_EQ(answers[i] == 'l', value.size() > RecentTexts::kLongest);
                ASSERT_FALSE(fresh && answers[i] == 'k') << value;
            }
        }
    }
}

TEST(RecentTexts, KeepsWhatWasMetTwice) {
    RecentTexts recent(1, nullptr);
    EXPECT_EQ(ask(recent, Texts({"often", "often", "a", "b", "a", "often", "c"})), "nknnnkn");
    EXPECT_EQ(ask(recent, Texts({"often", "c", "c", "often"})), "kkkk");
}

TEST(RecentTexts, LeavesRowsWithoutABitAlone) {
    RecentTexts recent(kRoom, nullptr);
    const Texts texts({"a", "b"});
    std::vector<BytesView> views = texts.views;
    // Nobody may follow this.
    views[1] = {reinterpret_cast<const uint8_t*>(16), 10};
    uint64_t rows[] = {1};
    uint64_t longer[] = {~uint64_t{0}};
    EXPECT_FALSE(recent.drop_known(views.data(), texts.hashes.data(), 2, rows, longer));
    EXPECT_EQ(rows[0], 1U);
    EXPECT_EQ(longer[0], 0U);
    EXPECT_EQ(ask(recent, texts), "kn");
}

TEST(RecentTexts, CountsItsMemory) {
    base::MemoryBudget budget;
    const RecentTexts recent(kRoom, &budget);
    EXPECT_GE(budget.used(), kRoom);
    EXPECT_LT(budget.used(), 2 * kRoom);
}

}  // namespace
}  // namespace loom::exec
