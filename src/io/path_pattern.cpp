#include "io/path_pattern.h"

#include <algorithm>

#include "base/error.h"

namespace loom::io {

PathPattern::PathPattern(std::string_view text) {
    auto literal = [&]() -> std::string& {
        if (parts_.empty() || parts_.back().kind != Kind::kLiteral)
            parts_.push_back({Kind::kLiteral, {}});
        return parts_.back().literal;
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '?') {
            parts_.push_back({Kind::kAny, {}});
        } else if (c == '*') {
            parts_.push_back({Kind::kStar, {}});
        } else if ((c == '$' || c == '@') && i + 1 < text.size() && text[i + 1] == '{') {
            const size_t end = text.find('}', i);
            if (end == std::string_view::npos || end == i + 2)
                base::raise(base::ErrorKind::kBadOption, "pattern \"{}\" has {} key", text,
                            end == std::string_view::npos ? "an unclosed" : "an empty");
            std::string name(text.substr(i + 2, end - i - 2));
            for (const Key& key : keys_)
                if (key.name == name)
                    base::raise(base::ErrorKind::kBadOption,
                                "pattern \"{}\" names key \"{}\" twice", text, name);
            keys_.push_back({std::move(name), c == '@'});
            parts_.push_back({c == '@' ? Kind::kDigits : Kind::kText, {}});
            i = end;
        } else {
            literal() += c;
        }
    }
}

// Backtracking over few parts; the budget bounds hostile combinations such as many stars.
bool PathPattern::match_from(size_t part, std::string_view rest, std::vector<std::string>& values,
                             int& budget) const {
    if (--budget < 0) return false;
    if (part == parts_.size()) return rest.empty();
    const Part& current = parts_[part];
    switch (current.kind) {
        case Kind::kLiteral:
            return rest.starts_with(current.literal) &&
                   match_from(part + 1, rest.substr(current.literal.size()), values, budget);
        case Kind::kAny:
            return !rest.empty() && match_from(part + 1, rest.substr(1), values, budget);
        case Kind::kStar:
            for (size_t n = 0; n <= rest.size(); ++n)
                if (match_from(part + 1, rest.substr(n), values, budget)) return true;
            return false;
        case Kind::kText:
        case Kind::kDigits:
            for (size_t n = 1; n <= rest.size(); ++n) {
                if (current.kind == Kind::kDigits && (rest[n - 1] < '0' || rest[n - 1] > '9'))
                    return false;
                values.emplace_back(rest.substr(0, n));
                if (match_from(part + 1, rest.substr(n), values, budget)) return true;
                values.pop_back();
            }
            return false;
    }
    return false;
}

std::optional<std::vector<std::string>> PathPattern::match(std::string_view name) const {
    std::vector<std::string> values;
    int budget = 1'000'000;
    if (!match_from(0, name, values, budget)) return std::nullopt;
    return values;
}

}  // namespace loom::io
