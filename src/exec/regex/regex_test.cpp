// Patterns against texts; the expected answers are PostgreSQL's.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "exec/regex/automaton.h"

namespace loom::exec::regex {
namespace {

sql::Bytes bytes(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size())};
}

Answer answer(const char* pattern, const std::string& text, Case match_case = Case::kSensitive) {
    const auto automaton = Automaton::compile(pattern, match_case);
    if (automaton == nullptr) {
        ADD_FAILURE() << pattern << " is not compiled";
        return Answer::kUnsure;
    }
    return automaton->match(bytes(text));
}

TEST(Regex, MatchesAnywhereUnlessAnchored) {
    EXPECT_EQ(answer("", ""), Answer::kYes);
    EXPECT_EQ(answer("", "a"), Answer::kYes);
    EXPECT_EQ(answer("b", "abc"), Answer::kYes);
    EXPECT_EQ(answer("^b", "abc"), Answer::kNo);
    EXPECT_EQ(answer("b$", "abc"), Answer::kNo);
    EXPECT_EQ(answer("^abc$", "abc"), Answer::kYes);
    EXPECT_EQ(answer("^$", ""), Answer::kYes);
    EXPECT_EQ(answer("^$", "a"), Answer::kNo);
    EXPECT_EQ(answer("a$|^$", ""), Answer::kYes);
    EXPECT_EQ(answer("a^b", "ab"), Answer::kNo);
    EXPECT_EQ(answer("a$b", "ab"), Answer::kNo);
    EXPECT_EQ(answer("(^|/)x", "a/x"), Answer::kYes);
    EXPECT_EQ(answer("(^|/)x", "ax"), Answer::kNo);
    // Lines mean nothing.
    EXPECT_EQ(answer("^b", "a\nb"), Answer::kNo);
    EXPECT_EQ(answer("a$", "a\n"), Answer::kNo);
    EXPECT_EQ(answer("a.b", "a\nb"), Answer::kYes);
    EXPECT_EQ(answer("a[^x]b", "a\nb"), Answer::kYes);
}

TEST(Regex, RepeatsAndChooses) {
    EXPECT_EQ(answer("^(ab|c)*$", "abcab"), Answer::kYes);
    EXPECT_EQ(answer("^(ab|c)*$", "abca"), Answer::kNo);
    EXPECT_EQ(answer("^a{2,3}$", "a"), Answer::kNo);
    EXPECT_EQ(answer("^a{2,3}$", "aaa"), Answer::kYes);
    EXPECT_EQ(answer("^a{2,3}$", "aaaa"), Answer::kNo);
    EXPECT_EQ(answer("^a{2,}$", "aaaa"), Answer::kYes);
    EXPECT_EQ(answer("^a{0}$", "a"), Answer::kNo);
    EXPECT_EQ(answer("^(a|)+?b$", "b"), Answer::kYes);
    EXPECT_EQ(answer("^(?:(a*)*)*$", "aaa"), Answer::kYes);
    EXPECT_EQ(answer("a{b", "a{b"), Answer::kYes);
}

TEST(Regex, CountsCharactersNotBytes) {
    EXPECT_EQ(answer("^.$", "日"), Answer::kYes);
    EXPECT_EQ(answer("^..$", "日"), Answer::kNo);
    EXPECT_EQ(answer("^[^a]$", "😀"), Answer::kYes);
    EXPECT_EQ(answer("^[à-ý]$", "é"), Answer::kYes);
    EXPECT_EQ(answer("^[à-ý]$", "e"), Answer::kNo);
    EXPECT_EQ(answer("^[߿-ࠀ]$", "ࠀ"), Answer::kYes);
    EXPECT_EQ(answer("^[^߿-ࠀ]$", "߿"), Answer::kNo);
}

TEST(Regex, ReadsBracketsAsPostgresql) {
    EXPECT_EQ(answer("^[]a]+$", "a]"), Answer::kYes);
    EXPECT_EQ(answer("^[^]a]+$", "]"), Answer::kNo);
    EXPECT_EQ(answer("^[a-]+$", "-a"), Answer::kYes);
    EXPECT_EQ(answer("^[-a]+$", "-a"), Answer::kYes);
    EXPECT_EQ(answer("^[a\\]]+$", "]a"), Answer::kYes);
    EXPECT_EQ(answer("^[\\d.]+$", "1.5"), Answer::kYes);
    EXPECT_EQ(answer("^[[:alpha:]_]+$", "a_Z"), Answer::kYes);
    EXPECT_EQ(answer("^[[]$", "["), Answer::kYes);
    EXPECT_EQ(answer("^\\B$", "\\"), Answer::kYes);
    EXPECT_EQ(answer("^\\.$", "x"), Answer::kNo);
}

TEST(Regex, ComparesAsciiWithoutCase) {
    EXPECT_EQ(answer("^aB[c-e]$", "AbD", Case::kInsensitive), Answer::kYes);
    EXPECT_EQ(answer("^[^a]$", "A", Case::kInsensitive), Answer::kNo);
    EXPECT_EQ(answer("k", "\u212A", Case::kInsensitive), Answer::kNo);
    EXPECT_EQ(Automaton::compile("é", Case::kInsensitive), nullptr);
}

TEST(Regex, KnowsWhatTheLocaleDecides) {
    EXPECT_EQ(answer("\\w+x", "abcx"), Answer::kYes);
    EXPECT_EQ(answer("^\\w$", "é"), Answer::kUnsure);
    EXPECT_EQ(answer("^\\W$", "é"), Answer::kUnsure);
    EXPECT_EQ(answer("^\\w$", "-"), Answer::kNo);
    // Decided whatever é is.
    EXPECT_EQ(answer("\\w|é", "é"), Answer::kYes);
    EXPECT_EQ(answer("a\\d", "é"), Answer::kNo);
}

TEST(Regex, TakesClassesOfKnownLocales) {
    const auto answer_in = [](Locale locale, const char* pattern, const std::string& text) {
        return Automaton::compile(pattern, Case::kSensitive, locale)->match(bytes(text));
    };
    EXPECT_EQ(answer_in(Locale::kC, "\\w", "é"), Answer::kNo);
    EXPECT_EQ(answer_in(Locale::kC, "\\W", "é"), Answer::kYes);
    EXPECT_EQ(answer_in(Locale::kC, "\\s", "\u00A0"), Answer::kNo);
    EXPECT_EQ(answer_in(Locale::kProcess, "^\\d$", "٣"), Answer::kNo);
    EXPECT_EQ(answer_in(Locale::kProcess, "^\\w$", "é"), Answer::kUnsure);
    // The process of the test runs in C.
    EXPECT_EQ(answer_in(Locale::kProcess, "^\\s$", "\u2003"), Answer::kNo);
    EXPECT_EQ(answer_in(Locale::kProcess, "^\\s$", "\t"), Answer::kYes);
}

TEST(Regex, LeavesTheRestToPostgresql) {
    for (const char* pattern :
         {"(a)\\1", "(?=a)", "(?!a)",   "(?<=a)b", "(?i)a",    "***=a",       "***:a",   "\\ya",
          "\\ma",   "\\Ma",  "[[.a.]]", "[[=a=]]", "[[:<:]]a", "\\x41",       "\\u0041", "a**",
          "*a",     "^*",    "(^a)*",   "a{2}{3}", "(?#x)a",   "[[:punct:]]", "a)",      "(a",
          "[a",     "a\\",   "a{1",     "a{2,1}",  "a{256}",   "[b-a]"})
        EXPECT_EQ(Automaton::compile(pattern, Case::kSensitive), nullptr) << pattern;
    // Too many states.
    EXPECT_EQ(Automaton::compile("a.{20}b", Case::kSensitive), nullptr);
}

// Through runs of texts, with the filter, as text by text.
TEST(Regex, SearchesManyTextsAtOnce) {
    std::mt19937 random(3);
    for (const char* pattern :
         {"/(news|sport)/.*[13579]$", "Fire[fg]ox", "abc|bcd|é..a", "a{3}[^b]"}) {
        const auto automaton = Automaton::compile(pattern, Case::kSensitive);
        ASSERT_NE(automaton, nullptr);
        ASSERT_TRUE(automaton->searches()) << pattern;
        const char* parts[] = {"a", "b",   "c", "/", "news", "sport", "Fire", "fox",
                               "7", "gox", "é", "4", "x",    "aa",    ""};
        for (int round = 0; round < 100; ++round) {
            std::string page;
            std::vector<std::pair<size_t, size_t>> places;
            for (int i = 0; i < 300; ++i) {
                page.append(random() % 10 == 0 ? 100 : 4, 'a');
                const size_t begin = page.size();
                for (size_t n = random() % 8; n > 0; --n)
                    page += parts[random() % std::size(parts)];
                places.emplace_back(begin, page.size() - begin);
            }
            page.append(base::kBufferSlack, 'a');
            std::vector<sql::Bytes> texts;
            texts.reserve(places.size());
            for (const auto& [begin, size] : places)
                texts.push_back({reinterpret_cast<const uint8_t*>(page.data()) + begin,
                                 static_cast<int64_t>(size)});
            std::vector<Answer> answers(texts.size(), Answer::kNo);
            automaton->match_all(
                {texts.data(), nullptr, static_cast<int64_t>(texts.size())},
                [&](int64_t i, Answer answer) { answers[static_cast<size_t>(i)] = answer; });
            for (size_t i = 0; i < texts.size(); ++i)
                ASSERT_EQ(answers[i], automaton->match(texts[i])) << pattern;
        }
    }
}

}  // namespace
}  // namespace loom::exec::regex
