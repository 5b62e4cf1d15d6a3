#include "exec/regex/automaton.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <utility>

#include "exec/regex/byte_nfa.h"

namespace loom::exec::regex {

namespace {

// Few patterns need a hundred; those that need thousands grow without bound.
constexpr size_t kMaxStates = 1500;

using Kind = ByteNfa::Kind;

}  // namespace

// Turns sets of states of the nondeterministic automaton into states.
class Determiniser {
  public:
    Determiniser(const ByteNfa& nfa, Automaton* out)
        : nfa_(nfa), out_(*out), seen_(nfa.states.size(), 0) {}

    bool run();

  private:
    // Ascending states that wait for a byte or for the end of the text. What has matched is one
    // set of its own.
    struct Set {
        std::vector<int32_t> states;
        bool matched = false;
        bool operator<(const Set& other) const {
            return matched != other.matched ? other.matched : states < other.states;
        }
    };
    struct Where {
        bool begin = false;
        bool end = false;
    };

    void find_classes();
    void follow(int32_t state, Where where, Set& set);
    Set after(const Set& set, uint8_t byte);
    uint32_t number_of(Set set);
    Answer end_of(const Set& set, bool begin);

    const ByteNfa& nfa_;
    Automaton& out_;
    std::vector<uint32_t> seen_;  // by state: the last walk that met it
    uint32_t walk_ = 0;
    std::map<Set, uint32_t> numbers_;
    std::vector<Set> sets_;
    std::vector<uint8_t> bytes_;  // one of each class
};

// Bytes that no state tells apart are one class.
void Determiniser::find_classes() {
    std::bitset<257> starts;
    starts.set(0);
    for (const ByteNfa::State& state : nfa_.states) {
        if (state.kind != Kind::kBytes) continue;
        starts.set(state.first);
        starts.set(state.last + size_t{1});
    }
    for (size_t byte = 0; byte < 256; ++byte) {
        if (starts[byte]) bytes_.push_back(static_cast<uint8_t>(byte));
        out_.class_[byte] = static_cast<uint8_t>(bytes_.size() - 1);
    }
    out_.classes_ = static_cast<uint32_t>(bytes_.size());
}

// Adds what can be reached from a state without a byte. Begin a new walk_ before the first.
void Determiniser::follow(int32_t first, Where where, Set& set) {
    std::vector<int32_t> open{first};
    while (!open.empty()) {
        const int32_t at = open.back();
        open.pop_back();
        if (std::exchange(seen_[static_cast<size_t>(at)], walk_) == walk_) continue;
        const ByteNfa::State& state = nfa_.states[static_cast<size_t>(at)];
        switch (state.kind) {
            case Kind::kAccept:
                set.matched = true;
                break;
            case Kind::kSplit:
                open.push_back(state.other);
                open.push_back(state.next);
                break;
            case Kind::kBegin:
                if (where.begin) open.push_back(state.next);
                break;
            case Kind::kEnd:
                if (where.end)
                    open.push_back(state.next);
                else
                    set.states.push_back(at);
                break;
            case Kind::kBytes:
            case Kind::kUnsure:
                set.states.push_back(at);
                break;
        }
    }
}

Determiniser::Set Determiniser::after(const Set& set, uint8_t byte) {
    Set next;
    if (set.matched) {
        next.matched = true;
        return next;
    }
    ++walk_;
    for (const int32_t at : set.states) {
        const ByteNfa::State& state = nfa_.states[static_cast<size_t>(at)];
        if (state.kind == Kind::kUnsure)
            follow(at, {}, next);
        else if (state.kind == Kind::kBytes && state.first <= byte && byte <= state.last)
            follow(state.next, {}, next);
    }
    // A match may begin anywhere.
    follow(nfa_.start, {}, next);
    return next;
}

uint32_t Determiniser::number_of(Set set) {
    if (set.matched)
        set.states.clear();
    else
        std::sort(set.states.begin(), set.states.end());
    const auto [known, added] = numbers_.try_emplace(set, static_cast<uint32_t>(sets_.size()));
    if (added) sets_.push_back(std::move(set));
    return known->second * out_.classes_;
}

Answer Determiniser::end_of(const Set& set, bool begin) {
    if (set.matched) return Answer::kYes;
    ++walk_;
    Set end;
    bool unsure = false;
    for (const int32_t at : set.states) {
        const ByteNfa::State& state = nfa_.states[static_cast<size_t>(at)];
        unsure |= state.kind == Kind::kUnsure;
        if (state.kind == Kind::kEnd) follow(state.next, {begin, true}, end);
    }
    return end.matched ? Answer::kYes : unsure ? Answer::kUnsure : Answer::kNo;
}

bool Determiniser::run() {
    find_classes();
    Set matched;
    matched.matched = true;
    number_of({});
    number_of(std::move(matched));
    ++walk_;
    Set start;
    follow(nfa_.start, {.begin = true}, start);
    ++walk_;
    Set idle;
    follow(nfa_.start, {}, idle);
    // The start is no other state's equal if the text may end at once: ^ holds there still.
    std::sort(start.states.begin(), start.states.end());
    const Answer empty = end_of(start, true);
    out_.start_ = number_of(start);
    out_.idle_ = number_of(std::move(idle));
    for (size_t i = 0; i < sets_.size(); ++i) {
        if (sets_.size() > kMaxStates) return false;
        for (const uint8_t byte : bytes_) {
            const Set from = sets_[i];
            out_.next_.push_back(number_of(after(from, byte)));
        }
        out_.ends_.push_back(end_of(sets_[i], false));
        out_.may_be_unsure_ |= out_.ends_.back() == Answer::kUnsure;
    }
    out_.empty_ = empty;
    return true;
}

std::shared_ptr<const Automaton> Automaton::compile(std::string_view pattern, Case match_case,
                                                    Locale locale) {
    const std::optional<Tree> tree = parse(pattern, match_case, locale);
    if (!tree) return nullptr;
    const std::optional<ByteNfa> nfa = make_nfa(*tree);
    if (!nfa) return nullptr;
    auto automaton = std::make_shared<Automaton>();
    if (!Determiniser(*nfa, automaton.get()).run()) return nullptr;
    automaton->find_last_bytes();
    automaton->filter_ = PrefixFilter(*automaton);
    return automaton;
}

// Nothing is known of the end if a match is found before it: the matched state is then reached.
void Automaton::find_last_bytes() {
    has_last_ = start_ != matched() &&
                std::find(next_.begin() + 2 * classes_, next_.end(), matched()) == next_.end();
    for (int byte = 0; has_last_ && byte < 256; ++byte)
        for (size_t state = 2 * classes_; state < next_.size(); state += classes_)
            last_[byte] |= ends_[next_[state + class_[byte]] / classes_] != Answer::kNo;
}

Answer Automaton::match(sql::Bytes text) const noexcept {
    if (text.size == 0) return empty_;
    if (!can_end_in(text.data[text.size - 1])) return Answer::kNo;
    return run(start_, text.data, text.data + text.size);
}

Answer Automaton::run(uint32_t state, const uint8_t* from, const uint8_t* end) const noexcept {
    const uint32_t* next = next_.data();
    while (from < end) {
        if (state <= matched()) break;
        if (state == idle_ && filter_.useful()) from = filter_.skip(from, end);
        do state = next[state + class_[*from++]];
        while (from < end && state > matched() && state != idle_);
    }
    return ends_[state / classes_];
}

}  // namespace loom::exec::regex
