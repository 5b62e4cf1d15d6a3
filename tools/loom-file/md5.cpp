#include "md5.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/bytes.h"

namespace loom::file_tool {

namespace {

// RFC 1321, 3.4: constant i is the integer part of 2^32 * |sin(i + 1)|.
const std::array<uint32_t, 64>& sines() {
    static const std::array<uint32_t, 64> kSines = [] {
        std::array<uint32_t, 64> table{};
        for (size_t i = 0; i < table.size(); ++i)
            table[i] = static_cast<uint32_t>(std::fabs(std::sin(static_cast<double>(i + 1))) *
                                             4294967296.0);
        return table;
    }();
    return kSines;
}

constexpr int kShifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

}  // namespace

void Md5::block(const uint8_t* bytes) {
    auto [a, b, c, d] = state_;
    for (uint32_t i = 0; i < 64; ++i) {
        uint32_t mix;
        uint32_t word;
        switch (i / 16) {
            case 0:
                mix = (b & c) | (~b & d), word = i;
                break;
            case 1:
                mix = (d & b) | (~d & c), word = (5 * i + 1) % 16;
                break;
            case 2:
                mix = b ^ c ^ d, word = (3 * i + 5) % 16;
                break;
            default:
                mix = c ^ (b | ~d), word = 7 * i % 16;
                break;
        }
        const uint32_t sum = a + mix + sines()[i] + base::load<uint32_t>(bytes + word * 4);
        a = d;
        d = c;
        c = b;
        b += std::rotl(sum, kShifts[i / 16][i % 4]);
    }
    state_[0] += a;
    state_[1] += b;
    state_[2] += c;
    state_[3] += d;
}

void Md5::add(std::string_view text) {
    size_t filled = length_ % 64;
    length_ += text.size();
    if (filled != 0) {
        const size_t part = std::min(64 - filled, text.size());
        std::memcpy(pending_.data() + filled, text.data(), part);
        text.remove_prefix(part);
        filled += part;
        if (filled < 64) return;
        block(pending_.data());
    }
    for (; text.size() >= 64; text.remove_prefix(64))
        block(reinterpret_cast<const uint8_t*>(text.data()));
    if (!text.empty()) std::memcpy(pending_.data(), text.data(), text.size());
}

std::string Md5::finish() {
    const uint64_t bits = length_ * 8;
    const size_t filled = length_ % 64;
    std::string tail(filled < 56 ? 56 - filled : 120 - filled, '\0');
    tail[0] = static_cast<char>(0x80);
    add(tail);
    char count[8];
    base::store(count, bits);
    add({count, sizeof count});
    std::string hex;
    for (uint32_t word : state_)
        fmt::format_to(std::back_inserter(hex), "{:08x}", __builtin_bswap32(word));
    return hex;
}

}  // namespace loom::file_tool
