#pragma once
// A compiled regular expression: a deterministic automaton over bytes.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "exec/regex/prefix_filter.h"
#include "exec/regex/syntax.h"
#include "exec/text_run.h"
#include "sql/definition.h"

namespace loom::exec::regex {

enum class Answer : uint8_t {
    kNo,
    kYes,
    kUnsure  ///< the locale decides
};

/// Immutable; threads share it.
class Automaton {
  public:
    /// Compiles a pattern that PostgreSQL takes; null if it is left to PostgreSQL (syntax.h), or
    /// needs too many states.
    static std::shared_ptr<const Automaton> compile(std::string_view pattern, Case match_case,
                                                    Locale locale = Locale::kUnknown);

    /// Tells whether the pattern matches anywhere in a text of valid UTF-8.
    Answer match(sql::Bytes text) const noexcept;
    /// Whether match_all() may be asked.
    bool searches() const noexcept { return filter_.decides(); }
    /// Asks many texts at once: calls give(row, answer) for each that does not get kNo.
    template <typename Give>
    void match_all(const TextRows& rows, const Give& give) const;
    /// Whether there are texts that get kUnsure.
    bool may_be_unsure() const noexcept { return may_be_unsure_; }
    int64_t states() const noexcept { return static_cast<int64_t>(ends_.size()); }

  private:
    friend class Determiniser;
    friend class PrefixFilter;

    // States are places in next_: their number times the number of byte classes. The first is that
    // of no match any more, the second that of a match.
    static constexpr uint32_t kDead = 0;
    uint32_t matched() const noexcept { return classes_; }
    void find_last_bytes();
    bool can_end_in(uint8_t byte) const noexcept { return !has_last_ || last_[byte]; }
    Answer run(uint32_t state, const uint8_t* from, const uint8_t* end) const noexcept;

    uint32_t classes_ = 0;
    uint32_t start_ = 0;
    uint32_t idle_ = kDead;  ///< nothing has begun; kDead if matches begin at the start only
    bool may_be_unsure_ = false;
    Answer empty_ = Answer::kNo;  ///< that of the empty text
    uint8_t class_[256] = {};
    std::vector<uint32_t> next_;
    std::vector<Answer> ends_;  ///< by number: the answer if the text ends there
    PrefixFilter filter_;
    /// Whether a match reaches to the end of the text always; then the text's last byte must be one
    /// of `last_`.
    bool has_last_ = false;
    bool last_[256] = {};
};

template <typename Give>
void Automaton::match_all(const TextRows& rows, const Give& give) const {
    search_texts(
        rows, [&](const uint8_t* from, const uint8_t* end) { return filter_.find(from, end); },
        [&](int64_t i, const uint8_t* place) {
            const uint8_t* const end = rows.end(i);
            if (!can_end_in(end[-1])) return end;
            const Answer answer = run(idle_, place, end);
            if (answer != Answer::kNo) give(i, answer);
            return end;
        },
        [&](int64_t i) {
            const Answer answer = match(rows.texts[i]);
            if (answer != Answer::kNo) give(i, answer);
        });
}

}  // namespace loom::exec::regex
