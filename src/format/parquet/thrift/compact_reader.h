#pragma once
// Reads Thrift's compact protocol from untrusted bytes.
//
// All Parquet metadata come this way. Reading a struct means one visitor that gets each field's id
// and type and says whether it took the value; what it leaves is skipped:
//
//     read_struct(in, [&](int id, Type type) {
//         switch (id) {
//             case 1: return in.get(type, header.size);
//             default: return false;
//         }
//     });
//
// A known field of an unexpected type is skipped like an unknown one. Every step stays within the
// bytes; nesting is bounded by kMaxDepth; a list's length is checked against the bytes left, so
// that it may be used to allocate.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace loom::parquet::thrift {

enum class Type : uint8_t {
    kStop = 0,
    kTrue = 1,
    kFalse = 2,
    kByte = 3,
    kI16 = 4,
    kI32 = 5,
    kI64 = 6,
    kDouble = 7,
    kBinary = 8,
    kList = 9,
    kSet = 10,
    kMap = 11,
    kStruct = 12
};

/// Bytes that must be readable behind the bytes given to a CompactReader, whatever they hold.
/// Fixed-width loads reach at most 1 + 10 + 8 bytes past the end before the check.
inline constexpr size_t kSlack = 32;

/// Nested structs and containers beyond this are kCorrupt; Parquet needs fewer than ten.
inline constexpr int kMaxDepth = 64;

struct ListHeader {
    Type element = Type::kStop;
    uint32_t size = 0;
};

class CompactReader {
  public:
    explicit CompactReader(base::ByteSpan bytes) noexcept
        : begin_(bytes.data()), cursor_(begin_), end_(begin_ + bytes.size()) {}

    size_t position() const noexcept { return static_cast<size_t>(cursor_ - begin_); }
    size_t remaining() const noexcept { return static_cast<size_t>(end_ - cursor_); }

    /// Reads a field's header into `id` (which holds the id before it) and `type`. Returns false at
    /// the end of the struct.
    bool next_field(int& id, Type& type);
    /// Reads the header of a list or set; each element takes at least one byte of what is left.
    ListHeader list();
    uint64_t varint();
    int64_t zigzag() {
        const uint64_t value = varint();
        return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
    }
    /// Reads a binary. The result points into the reader's bytes.
    base::ByteSpan binary();
    /// Reads a boolean that is an element of a list: 1 is true, 0 and 2 are written for false.
    bool list_boolean();
    /// Moves on by `bytes` that the caller has looked at (kCorrupt if there are fewer).
    void advance(size_t bytes);
    /// Skips a value of `type` (as the header of a field gave it).
    void skip(Type type);

    // Each get() takes a value if `type` fits the target, else leaves it and returns false.
    // Integers that do not fit the target are kCorrupt.
    bool get(Type type, bool& out) noexcept;
    bool get(Type type, int32_t& out);
    bool get(Type type, int64_t& out);
    bool get(Type type, std::string& out);
    bool get(Type type, base::ByteSpan& out);

    void enter() {
        if (++depth_ > kMaxDepth) base::corrupt("metadata nested deeper than {} levels", kMaxDepth);
    }
    void leave() noexcept { --depth_; }

  private:
    const uint8_t* begin_;
    const uint8_t* cursor_;
    const uint8_t* end_;
    int depth_ = 0;
};

/// Reads one struct; see the top of this file for `visit`.
template <typename Visit>
void read_struct(CompactReader& in, Visit&& visit) {
    in.enter();
    int id = 0;
    for (Type type; in.next_field(id, type);)
        if (!visit(id, type)) in.skip(type);
    in.leave();
}

/// Reads a list whose elements are `expected`, calling `element` for each. Returns false, taking
/// nothing, if `type` is no list; a list of other elements is skipped.
template <typename Element>
bool read_list(CompactReader& in, Type type, Type expected, Element&& element) {
    if (type != Type::kList && type != Type::kSet) return false;
    const ListHeader header = in.list();
    const bool boolean = expected == Type::kTrue && header.element == Type::kFalse;
    for (uint32_t i = 0; i < header.size; ++i) {
        if (header.element == expected || boolean)
            element(header.size);
        else if (header.element <= Type::kFalse)
            in.skip(Type::kByte);
        else
            in.skip(header.element);
    }
    return true;
}

/// Returns the first byte behind the struct that starts at `from`, or nullptr if it does not end
/// before `end`. The fast way over what nobody asked for; `depth` counts the levels above.
const uint8_t* skip_struct(const uint8_t* from, const uint8_t* end, int depth) noexcept;

}  // namespace loom::parquet::thrift
