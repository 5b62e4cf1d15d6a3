#include "base/bytes.h"

namespace loom::base {

std::string printable(std::string_view text) {
    constexpr size_t kMaxLength = 80;
    std::string result;
    for (char c : text) {
        if (result.size() >= kMaxLength) return result + "...";
        if (c >= ' ' && c <= '~')
            result += c;
        else
            result += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    }
    return result;
}

}  // namespace loom::base
