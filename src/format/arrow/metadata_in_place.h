#pragma once
// Finds one key among the metadata of a message without verifying or copying the rest: a batch of
// 2,000 columns carries some hundred kilobytes of bounds, of which a query wants a few.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace loom::arrow {

/// Key-value pairs of a message whose head was verified. The bytes may change while they are read:
/// each number is loaded once and checked before it is used. Raises kCorrupt for what leads outside
/// of the message.
class MetadataInPlace {
  public:
    explicit MetadataInPlace(base::ByteSpan message);

    uint32_t size() const noexcept { return size_; }
    bool has_key(uint32_t i, std::string_view key) const;
    /// Returns the value of pair `i`, or nothing if it has none.
    std::string value(uint32_t i) const;
    /// Returns the index of the first pair with `key`, size() if there is none. Tries `guess`
    /// first.
    uint32_t find(std::string_view key, uint32_t guess) const;

  private:
    uint64_t follow(uint64_t position) const;
    uint64_t field(uint64_t table, uint16_t slot) const;
    std::string_view text(uint32_t i, uint16_t slot) const;

    base::ByteSpan message_;
    uint64_t elements_ = 0;  ///< position of the vector's first element
    uint32_t size_ = 0;
};

}  // namespace loom::arrow
