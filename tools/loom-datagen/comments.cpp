#include "comments.h"

#include <span>
#include <vector>

namespace loom::datagen {

namespace {

// Short enough to be made in a moment, long enough that comments hardly ever repeat.
constexpr size_t kPoolBytes = size_t{8} << 20;

constexpr std::string_view kCommonNouns[] = {"packages", "requests", "accounts", "deposits"};
constexpr std::string_view kUsualNouns[] = {"foxes",       "ideas",        "theodolites",
                                            "pinto beans", "instructions", "dependencies",
                                            "excuses",     "platelets",    "asymptotes"};
constexpr std::string_view kRareNouns[] = {
    "courts",   "dolphins",       "multipliers", "sauternes", "warthogs", "frets",
    "dinos",    "attainments",    "somas",       "Tiresias",  "patterns", "forges",
    "braids",   "hockey players", "frays",       "warhorses", "dugouts",  "notornis",
    "epitaphs", "pearls",         "tithes",      "waters",    "orbits",   "gifts",
    "sheaves",  "depths",         "sentiments",  "decoys",    "realms",   "pains",
    "grouches", "escapades"};
constexpr std::string_view kCommonVerbs[] = {"sleep",  "wake", "are", "cajole",
                                             "haggle", "nag",  "use", "boost"};
constexpr std::string_view kRareVerbs[] = {
    "affix",  "detect", "integrate", "maintain", "nod",    "was",   "lose",    "sublate",
    "solve",  "thrash", "promise",   "engage",   "hinder", "print", "x-ray",   "breach",
    "eat",    "grow",   "impress",   "mold",     "poach",  "serve", "run",     "dazzle",
    "snooze", "doze",   "unwind",    "kindle",   "play",   "hang",  "believe", "doubt"};
constexpr std::string_view kCommonAdjectives[] = {"regular", "final", "ironic", "even", "bold"};
constexpr std::string_view kUsualAdjectives[] = {"special", "pending", "unusual", "express"};
constexpr std::string_view kRareAdjectives[] = {
    "silent", "furious",  "sly",       "careful",  "blithe", "quick",  "fluffy",
    "slow",   "quiet",    "ruthless",  "thin",     "close",  "dogged", "daring",
    "brave",  "stealthy", "permanent", "enticing", "idle",   "busy"};
constexpr std::string_view kCommonAdverbs[] = {"furiously", "slyly",   "carefully",
                                               "blithely",  "quickly", "fluffily"};
constexpr std::string_view kRareAdverbs[] = {
    "sometimes",   "always",     "never",    "slowly",   "quietly",   "ruthlessly",
    "thinly",      "closely",    "doggedly", "daringly", "bravely",   "stealthily",
    "permanently", "enticingly", "idly",     "busily",   "regularly", "finally",
    "ironically",  "evenly",     "boldly",   "silently"};
constexpr std::string_view kPrepositions[] = {
    "about",        "above",   "according to", "across",  "after",       "against", "along",
    "alongside of", "among",   "around",       "at",      "atop",        "before",  "behind",
    "beneath",      "beside",  "besides",      "between", "beyond",      "by",      "despite",
    "during",       "except",  "for",          "from",    "in place of", "inside",  "instead of",
    "into",         "near",    "of",           "on",      "outside",     "over",    "past",
    "since",        "through", "throughout",   "to",      "toward",      "under",   "until",
    "up",           "upon",    "without",      "with",    "within"};
constexpr std::string_view kAuxiliaries[] = {
    "do",           "may",          "might",         "shall",         "will",
    "would",        "can",          "could",         "should",        "ought to",
    "must",         "will have to", "shall have to", "could have to", "should have to",
    "must have to", "need to",      "try to"};
constexpr std::string_view kTerminators[] = {".", ";", ":", "?", "!", "--"};

/// Words of which some are met more often: each stands in `words` as many times. The numbers are
/// such that one order in 100 speaks of special requests, in the sense of query 13.
struct Lot {
    std::vector<std::string_view> words;

    Lot& add(std::span<const std::string_view> more, int times = 1) {
        for (int i = 0; i < times; ++i) words.insert(words.end(), more.begin(), more.end());
        return *this;
    }
};

/// Writes sentences; each choice takes the next random number.
class Writer {
  public:
    Writer(const Sequence& random, std::string& text) : random_(random), text_(text) {
        nouns_.add(kCommonNouns, 40).add(kUsualNouns, 15).add(kRareNouns);
        verbs_.add(kCommonVerbs, 20).add(kRareVerbs);
        adjectives_.add(kCommonAdjectives, 30).add(kUsualAdjectives, 13).add(kRareAdjectives);
        adverbs_.add(kCommonAdverbs, 20).add(kRareAdverbs);
        prepositions_.add(kPrepositions);
        auxiliaries_.add(kAuxiliaries);
        terminators_.add(kTerminators).add(std::span(kTerminators).first(1), 20);
    }

    void sentence() {
        noun_phrase();
        switch (choice(10)) {
            case 0:
                preposition_phrase();
                verb_phrase();
                noun_phrase();
                break;
            case 1:
                preposition_phrase();
                verb_phrase();
                preposition_phrase();
                break;
            case 2:
            case 3:
                verb_phrase();
                break;
            case 4:
            case 5:
            case 6:
                verb_phrase();
                preposition_phrase();
                break;
            default:
                verb_phrase();
                noun_phrase();
        }
        text_.pop_back();
        word(terminators_);
    }

  private:
    uint32_t choice(uint32_t n) { return random_.below(position_++, n); }
    void word(const Lot& lot) {
        text_ += lot.words[choice(static_cast<uint32_t>(lot.words.size()))];
        text_ += ' ';
    }
    void noun_phrase() {
        const uint32_t form = choice(8);
        if (form == 1) {
            word(adjectives_);
            text_.back() = ',';
            text_ += ' ';
        }
        if (form >= 4) word(adverbs_);
        if (form != 0) word(adjectives_);
        word(nouns_);
    }
    void verb_phrase() {
        const uint32_t form = choice(16);
        if (form <= 1) word(auxiliaries_);
        word(verbs_);
        if (form >= 1 && form <= 8) word(adverbs_);
    }
    void preposition_phrase() {
        word(prepositions_);
        text_ += "the ";
        noun_phrase();
    }

    const Sequence& random_;
    std::string& text_;
    uint64_t position_ = 0;
    Lot nouns_, verbs_, adjectives_, adverbs_, prepositions_, auxiliaries_, terminators_;
};

}  // namespace

void CommentPool::write() const {
    text_.reserve(kPoolBytes + 1'024);
    Writer writer(random_, text_);
    while (text_.size() < kPoolBytes) writer.sentence();
}

std::string_view CommentPool::cut(const Sequence& random, uint64_t position, int32_t low,
                                  int32_t high) const {
    std::call_once(once_, [this] { write(); });
    const uint64_t bits = random.bits(position);
    const size_t length = low + (bits & 0xffff) * (high - low + 1) / 0x10000;
    return std::string_view(text_).substr((bits >> 32) * (kPoolBytes - length) >> 32, length);
}

}  // namespace loom::datagen
