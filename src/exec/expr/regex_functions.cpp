// Regular expressions: ~, !~, ~*, !~* and what SIMILAR TO becomes, for constant patterns that the
// engine has an automaton for.

#include <cstring>
#include <deque>
#include <mutex>

#include "exec/expr/registry.h"
#include "exec/fault.h"
#include "exec/regex/automaton.h"

namespace loom::exec {

namespace {

using plan::Expr;
using plan::TypeId;
using regex::Answer;
using regex::Automaton;
using regex::Case;
using regex::Locale;
using sql::Bytes;

struct RegexState : BoundState {
    std::shared_ptr<const Automaton> automaton;
};

// A query compiles its patterns several times: to see whether it can, for EXPLAIN, to run. What
// came last is kept, also that there is none.
std::shared_ptr<const Automaton> compiled(const std::string& pattern, Case match_case,
                                          Locale locale) {
    struct Known {
        std::string pattern;
        Case match_case;
        Locale locale;
        std::shared_ptr<const Automaton> automaton;
    };
    constexpr size_t kKeep = 8;
    static std::mutex mutex;
    static std::deque<Known> known;
    const std::lock_guard lock(mutex);
    for (const Known& one : known)
        if (one.match_case == match_case && one.locale == locale && one.pattern == pattern)
            return one.automaton;
    if (known.size() == kKeep) known.pop_front();
    known.push_back({pattern, match_case, locale, Automaton::compile(pattern, match_case, locale)});
    return known.back().automaton;
}

[[noreturn]] void raise_unsure() {
    throw Unrepresentable("a regular expression meets a character whose class the locale decides");
}

template <bool kNegated>
void match(const KernelCall& call) {
    const Automaton& automaton = *static_cast<const RegexState*>(call.state)->automaton;
    const auto* texts = call.args[0].as<Bytes>();
    auto* out = static_cast<bool*>(call.out);
    if (automaton.searches()) {
        std::memset(out, kNegated ? 1 : 0, static_cast<size_t>(call.rows));
        return automaton.match_all({texts, call.validity, call.rows},
                                   [&](int64_t i, Answer answer) {
                                       if (answer == Answer::kUnsure) raise_unsure();
                                       out[i] = !kNegated;
                                   });
    }
    for (int64_t i = 0; i < call.rows; ++i) {
        out[i] = false;
        if (call.validity != nullptr && !base::bit_at(call.validity, i)) continue;
        const Answer answer = automaton.match(texts[i]);
        if (answer == Answer::kUnsure) raise_unsure();
        out[i] = (answer == Answer::kYes) != kNegated;
    }
}

template <bool kNegated, Case kCase>
bool bind_match(std::span<const Expr> args, BoundFunction* bound, std::string* reason) {
    const Expr& pattern = args[1];
    auto state = std::make_shared<RegexState>();
    if (pattern.value.known())
        state->automaton = compiled(pattern.value.bytes, kCase, static_cast<Locale>(pattern.index));
    if (state->automaton == nullptr) {
        *reason = "a regular expression that the engine has no automaton for";
        return false;
    }
    // Rows may be out when a text turns up that the engine cannot decide.
    if (state->automaton->may_be_unsure()) {
        *reason = "a regular expression with classes of characters that the locale decides";
        return false;
    }
    bound->kernel = match<kNegated>;
    bound->state = std::move(state);
    return true;
}

template <bool kNegated, Case kCase>
void add(std::vector<Function>& out, uint32_t oid, const char* name, TypeId text) {
    Function function;
    function.info.oid = oid;
    function.info.name = name;
    function.info.result = TypeId::kBool;
    function.info.arguments = 2;
    function.info.types[0] = text;
    function.info.types[1] = TypeId::kText;
    function.info.constant_arguments = 1 << 1;
    function.bind = bind_match<kNegated, kCase>;
    out.push_back(std::move(function));
}

}  // namespace

void add_regex_functions(std::vector<Function>& out) {
    add<false, Case::kSensitive>(out, 1254, "textregexeq", TypeId::kText);
    add<true, Case::kSensitive>(out, 1256, "textregexne", TypeId::kText);
    add<false, Case::kInsensitive>(out, 1238, "texticregexeq", TypeId::kText);
    add<true, Case::kInsensitive>(out, 1239, "texticregexne", TypeId::kText);
    add<false, Case::kSensitive>(out, 1658, "bpcharregexeq", TypeId::kBpchar);
    add<true, Case::kSensitive>(out, 1659, "bpcharregexne", TypeId::kBpchar);
    add<false, Case::kInsensitive>(out, 1656, "bpcharicregexeq", TypeId::kBpchar);
    add<true, Case::kInsensitive>(out, 1657, "bpcharicregexne", TypeId::kBpchar);
}

}  // namespace loom::exec
