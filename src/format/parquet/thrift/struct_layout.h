#pragma once
// Skips structs that look like one seen before, without parsing them.
//
// The length of a struct in the compact protocol is decided by some of its bits: field headers,
// sizes of lists and texts, and the top bit of each byte of a number. A layout is a mask of these
// bits; bytes that agree with an earlier struct under its mask have that struct's length, for
// certain. Column chunks of one column hardly differ from row group to row group, so that this
// takes 10 ns a chunk where parsing takes 75.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace loom::parquet::thrift {

/// Appends the mask of the struct at `from` to `mask`, one byte for each of its bytes. Returns the
/// first byte behind the struct, or nullptr (leaving part of a mask) if it does not end before
/// `end`.
const uint8_t* mark_struct(const uint8_t* from, const uint8_t* end, int depth,
                           std::vector<uint8_t>& mask);

/// The layouts of the structs in a list, learned from the list before it. Structs that were skipped
/// must stay where they are as long as the cache is used.
class LayoutCache {
  public:
    /// Skips the struct at `from`, the `index`-th of its list; bytes need kSlack bytes behind
    /// `end`. Returns nullptr if it does not end before `end`.
    const uint8_t* skip(size_t index, const uint8_t* from, const uint8_t* end);

  private:
    struct Layout {
        const uint8_t* seen = nullptr;
        uint32_t mask = 0;  // position in masks_
        uint32_t length = 0;
    };

    bool matches(const Layout& layout, const uint8_t* from) const noexcept;

    std::vector<Layout> layouts_;
    std::vector<uint8_t> masks_;
    std::vector<uint8_t> fresh_;
};

}  // namespace loom::parquet::thrift
