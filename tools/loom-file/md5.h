#pragma once
// MD5 (RFC 1321), to compare contents with the corpus; not for anything that must resist forgery.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace loom::file_tool {

/// Hashes text that comes in pieces.
class Md5 {
  public:
    void add(std::string_view text);
    /// Returns the 32 hexadecimal digits of all text added. Ends the use of this object.
    std::string finish();

  private:
    void block(const uint8_t* bytes);

    std::array<uint32_t, 4> state_{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    std::array<uint8_t, 64> pending_{};
    uint64_t length_ = 0;
};

}  // namespace loom::file_tool
