#include "exec/regex/prefix_filter.h"

#include <algorithm>
#include <bitset>
#include <vector>

#include "exec/regex/automaton.h"

namespace loom::exec::regex {

namespace {

// More classes than this make too many triples to try; such patterns begin with anything.
constexpr uint32_t kMaxClasses = 64;
constexpr size_t kMaxCombinations = 8;
// Places in text that may pass for a beginning: each costs about as much as twenty bytes passed by.
constexpr double kMaxShare = 0.05;

using Classes = std::bitset<kMaxClasses>;

struct Combination {
    Classes places[3];
};

// How often a byte comes in text, roughly: small letters, digits and blanks are most of it.
double share_of(int byte) {
    if (byte >= 'a' && byte <= 'z') return 1.0 / 40;
    if ((byte >= '0' && byte <= '9') || byte == ' ') return 1.0 / 60;
    return byte > ' ' && byte < 0x7F ? 1.0 / 120 : 1.0 / 500;
}

}  // namespace

// A triple cannot begin a match if, after it, the automaton stands where it would stand had the
// first byte not been there: then nothing that began with that byte is left. A place from which on
// no triple can begin a match is as good as the start, as long as the two bytes before the end,
// which no triple was asked for, are still read.
PrefixFilter::PrefixFilter(const Automaton& automaton) {
    const uint32_t idle = automaton.idle_;
    const uint32_t classes = automaton.classes_;
    if (idle == Automaton::kDead || classes == 0 || classes > kMaxClasses) return;
    const auto next = [&](uint32_t state, uint32_t c) { return automaton.next_[state + c]; };

    std::vector<Combination> found;
    for (uint32_t a = 0; a < classes; ++a) {
        const uint32_t first = next(idle, a);
        if (first == idle) continue;
        // Second bytes that the same third bytes may follow are one combination.
        for (uint32_t b = 0; b < classes; ++b) {
            Classes thirds;
            for (uint32_t c = 0; c < classes; ++c)
                thirds[c] = next(next(first, b), c) != next(next(idle, b), c);
            if (thirds.none()) continue;
            const auto same = std::find_if(found.begin(), found.end(), [&](const auto& known) {
                return known.places[0][a] && known.places[2] == thirds;
            });
            if (same != found.end()) {
                same->places[1].set(b);
                continue;
            }
            Combination& fresh = found.emplace_back();
            fresh.places[0].set(a);
            fresh.places[1].set(b);
            fresh.places[2] = thirds;
        }
    }
    // First bytes that go on alike share a combination.
    std::vector<Combination> combinations;
    for (const Combination& one : found) {
        const auto same =
            std::find_if(combinations.begin(), combinations.end(), [&](const Combination& known) {
                return known.places[1] == one.places[1] && known.places[2] == one.places[2];
            });
        if (same != combinations.end())
            same->places[0] |= one.places[0];
        else if (combinations.size() < kMaxCombinations)
            combinations.push_back(one);
        else
            for (int place = 0; place < 3; ++place)
                combinations.back().places[place] |= one.places[place];
    }
    double share = 0;
    for (size_t i = 0; i < combinations.size(); ++i) {
        double product = 1;
        for (int place = 0; place < 3; ++place) {
            double sum = 0;
            for (int byte = 0; byte < 256; ++byte) {
                if (!combinations[i].places[place][automaton.class_[byte]]) continue;
                sum += share_of(byte);
                triples_.add(static_cast<int>(i), place, static_cast<uint8_t>(byte));
            }
            product *= std::min(sum, 1.0);
        }
        share += product;
    }
    useful_ = share < kMaxShare;
    const auto ends_in_no = [&](uint32_t state) {
        return automaton.ends_[state / classes] == Answer::kNo;
    };
    decides_ =
        useful_ && automaton.start_ == idle && automaton.empty_ == Answer::kNo && ends_in_no(idle);
    for (uint32_t a = 0; decides_ && a < classes; ++a) {
        decides_ = ends_in_no(next(idle, a));
        for (uint32_t b = 0; decides_ && b < classes; ++b)
            decides_ = ends_in_no(next(next(idle, a), b));
    }
}

}  // namespace loom::exec::regex
