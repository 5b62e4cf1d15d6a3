#pragma once
// What compilers say, short enough for an error.

#include <string>
#include <string_view>

namespace loom::gpu {

/// Returns the first `lines` lines of a text, without the end of the last one.
inline std::string first_lines(std::string_view text, int lines = 40) {
    size_t end = 0;
    while (lines-- > 0 && end < text.size()) {
        const size_t next = text.find('\n', end);
        end = next == std::string_view::npos ? text.size() : next + 1;
    }
    while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == 0)) --end;
    return std::string(text.substr(0, end));
}

}  // namespace loom::gpu
