#include "regex_values.h"

#include <iterator>

namespace loom::test {

namespace {

constexpr const char* kCharacters[] = {"a",  "b", "c", "A", "B", "-",  "_", "7", "0", " ",
                                       "\n", "/", ".", "é", "É", "日", "😀", "k", "]", "\t"};
constexpr const char* kLiterals[] = {
    "a",   "b",  "c", "B", "7", "-",  "_", "/", "é",   "日", "\\.", "\\/", "\\n", "\\B",
    "\\t", "\n", "}", "]", "{", "{x", "k", "😀", "\\-", ",",  "\\e", "\\é", "ab",  "a-b"};
constexpr const char* kSets[] = {".",
                                 "[abc]",
                                 "[^a]",
                                 "[a-c]",
                                 "[]a]",
                                 "[^]a]",
                                 "[a-]",
                                 "[-a]",
                                 "[^-_]",
                                 "[0-9]",
                                 "[à-ÿ]",
                                 "[^à-ÿ]",
                                 "[߀-ﹰ]",
                                 "[a\\]]",
                                 "[\\d_]",
                                 "[\\w/]",
                                 "[^\\s]",
                                 "[[:alpha:]]",
                                 "[^[:digit:]]",
                                 "[[:upper:]-]",
                                 "[[:lower:]7]",
                                 "[[:xdigit:]]",
                                 "[[:space:][:alnum:]]",
                                 "[[:word:]]",
                                 "[[a]",
                                 "[!-/]",
                                 "[--/]",
                                 "[\\t-\\r]",
                                 "[日é]",
                                 "[^日]",
                                 "[\\n\\\\]",
                                 "\\d",
                                 "\\D",
                                 "\\s",
                                 "\\S",
                                 "\\w",
                                 "\\W"};
// What PostgreSQL refuses, or the engine leaves to it.
constexpr const char* kRare[] = {
    "\\1",  "(?=a)", "(?!b)",       "\\y",   "\\m",   "[[.a.]]", "[[=a=]]", "*",
    "{2}",  "\\x41", "[[:punct:]]", "(?#x)", "[b-a]", "(",       "[",       "\\u00e9",
    "(?i)", "***=",  "[[:<:]]",     "^*",    "\\",    "(^a)*"};
constexpr const char* kAnchors[] = {"^", "$", "\\A", "\\Z"};
constexpr const char* kQuantifiers[] = {"*",   "+",    "?",     "*?",  "+?",     "??",
                                        "{2}", "{1,}", "{0,2}", "{0}", "{2,3}?", "{1}"};

template <size_t n>
const char* pick(std::mt19937& random, const char* const (&from)[n]) {
    return from[random() % n];
}

std::string atom(std::mt19937& random, int depth) {
    const unsigned choice = random() % 100;
    if (choice < 45) return pick(random, kLiterals);
    if (choice < 65) return pick(random, kSets);
    if (choice < 70) return pick(random, kAnchors);
    if (choice < 71) return pick(random, kRare);
    if (depth == 0) return "a";
    return (random() % 2 == 0 ? "(" : "(?:") + random_regex(random, depth - 1) + ")";
}

}  // namespace

std::string random_regex(std::mt19937& random, int depth) {
    std::string pattern;
    if (random() % 8 == 0) pattern += '^';
    for (unsigned branches = random() % 4 == 0 ? 1 + random() % 3 : 1; branches > 0; --branches) {
        for (unsigned pieces = random() % 5; pieces > 0; --pieces) {
            pattern += atom(random, depth);
            if (random() % 4 == 0) pattern += pick(random, kQuantifiers);
        }
        if (branches > 1) pattern += '|';
    }
    if (random() % 8 == 0) pattern += '$';
    return pattern;
}

std::string random_subject(std::mt19937& random) {
    std::string text;
    for (unsigned n = random() % 3 == 0 ? random() % 40 : random() % 8; n > 0; --n)
        text += kCharacters[random() % (random() % 2 == 0 ? 3 : std::size(kCharacters))];
    return text;
}

}  // namespace loom::test
