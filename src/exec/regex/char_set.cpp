#include "exec/regex/char_set.h"

#include <algorithm>

namespace loom::exec::regex {

namespace {

void sort_and_join(std::vector<CodeRange>& ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const CodeRange& a, const CodeRange& b) { return a.first < b.first; });
    std::vector<CodeRange> joined;
    for (const CodeRange& range : ranges) {
        if (!joined.empty() && range.first <= joined.back().last + 1)
            joined.back().last = std::max(joined.back().last, range.last);
        else
            joined.push_back(range);
    }
    ranges = std::move(joined);
}

// What is in neither of two sets that sort_and_join() has passed over, or in one of them.
std::vector<CodeRange> outside(const std::vector<CodeRange>& ranges) {
    std::vector<CodeRange> out;
    uint32_t next = 0;
    for (const CodeRange& range : ranges) {
        if (range.first > next) out.push_back({next, range.first - 1});
        next = range.last + 1;
    }
    if (next <= kLastCodePoint) out.push_back({next, kLastCodePoint});
    return out;
}

std::vector<CodeRange> common(const std::vector<CodeRange>& a, const std::vector<CodeRange>& b) {
    std::vector<CodeRange> out;
    for (const CodeRange& x : a)
        for (const CodeRange& y : b) {
            const CodeRange both{std::max(x.first, y.first), std::min(x.last, y.last)};
            if (both.first <= both.last) out.push_back(both);
        }
    return out;
}

}  // namespace

void CharSet::add(const CharSet& other) {
    sure_.insert(sure_.end(), other.sure_.begin(), other.sure_.end());
    unsure_.insert(unsure_.end(), other.unsure_.begin(), other.unsure_.end());
}

void CharSet::add_other_case() {
    const std::vector<CodeRange> upper{{'A', 'Z'}};
    const std::vector<CodeRange> lower{{'a', 'z'}};
    const std::vector<CodeRange> ranges = sure_;
    for (const CodeRange& range : common(ranges, upper)) add(range.first + 32, range.last + 32);
    for (const CodeRange& range : common(ranges, lower)) add(range.first - 32, range.last - 32);
}

void CharSet::complement() {
    normalise();
    std::vector<CodeRange> either = sure_;
    either.insert(either.end(), unsure_.begin(), unsure_.end());
    sort_and_join(either);
    sure_ = outside(either);
}

void CharSet::normalise() {
    sort_and_join(sure_);
    sort_and_join(unsure_);
    if (!unsure_.empty()) unsure_ = common(unsure_, outside(sure_));
}

}  // namespace loom::exec::regex
