#include "exec/regex/byte_nfa.h"

#include <algorithm>
#include <array>

namespace loom::exec::regex {

namespace {

constexpr size_t kMaxStates = 6000;

using Kind = ByteNfa::Kind;
using Utf8 = std::array<uint8_t, 4>;

// The last code points of one, two and three bytes.
constexpr uint32_t kEnds[] = {0x7F, 0x7FF, 0xFFFF};

int encode(uint32_t c, Utf8& out) {
    int length = 1;
    while (length < 4 && c > kEnds[length - 1]) ++length;
    if (length == 1) {
        out[0] = static_cast<uint8_t>(c);
        return 1;
    }
    for (int i = length - 1; i > 0; --i, c >>= 6) out[i] = static_cast<uint8_t>(0x80 | (c & 0x3F));
    out[0] = static_cast<uint8_t>(0xFF00 >> length | c);
    return length;
}

// Built from the end of the pattern to its start: each part is given the state behind it.
class Builder {
  public:
    bool build(const Tree& tree, int32_t next, int32_t* start);
    bool too_large() const noexcept { return states.size() > kMaxStates; }
    int32_t add(ByteNfa::State state) {
        states.push_back(state);
        return static_cast<int32_t>(states.size()) - 1;
    }

    std::vector<ByteNfa::State> states;

  private:
    int32_t either(int32_t a, int32_t b) {
        return a < 0 ? b : add({.kind = Kind::kSplit, .next = a, .other = b});
    }
    int32_t set(const CharSet& set, int32_t next);
    int32_t range(uint32_t first, uint32_t last, int32_t next);
    bool repeat(const Tree& tree, int32_t next, int32_t* start);
};

// Code points whose encodings differ in how many bytes they have, or in a byte before one that is
// not free, are different sequences.
int32_t Builder::range(uint32_t first, uint32_t last, int32_t next) {
    const auto split = [&](uint32_t end) {
        const int32_t low = range(first, end, next);
        return either(low, range(end + 1, last, next));
    };
    for (const uint32_t end : kEnds)
        if (first <= end && last > end) return split(end);
    if (last > 0x7F)
        for (int i = 1; i < 4; ++i) {
            const uint32_t low_bits = (1U << (6 * i)) - 1;
            if ((first & ~low_bits) == (last & ~low_bits)) continue;
            if ((first & low_bits) != 0) return split(first | low_bits);
            if ((last & low_bits) != low_bits) return split((last & ~low_bits) - 1);
        }
    Utf8 from;
    Utf8 to;
    const int length = encode(first, from);
    encode(last, to);
    for (int i = length - 1; i >= 0; --i)
        next = add({.kind = Kind::kBytes, .first = from[i], .last = to[i], .next = next});
    return next;
}

int32_t Builder::set(const CharSet& set, int32_t next) {
    int32_t start = -1;
    for (const CodeRange& part : set.sure())
        start = either(start, range(part.first, part.last, next));
    if (!set.unsure().empty()) {
        const int32_t unsure = add({.kind = Kind::kUnsure});
        for (const CodeRange& part : set.unsure())
            start = either(start, range(part.first, part.last, unsure));
    }
    // A set of nothing: a range of bytes that no text has.
    if (start < 0) start = add({.kind = Kind::kBytes, .first = 0xFF, .last = 0xFF, .next = next});
    return start;
}

bool Builder::repeat(const Tree& tree, int32_t next, int32_t* start) {
    const Tree& body = tree.parts[0];
    if (tree.most < 0) {
        const int32_t loop = add({.kind = Kind::kSplit, .other = next});
        int32_t inside;
        if (!build(body, loop, &inside)) return false;
        states[static_cast<size_t>(loop)].next = inside;
        next = loop;
    }
    const int32_t behind = next;
    for (int i = tree.least; i < tree.most; ++i) {
        int32_t inside;
        if (!build(body, next, &inside)) return false;
        next = add({.kind = Kind::kSplit, .next = inside, .other = behind});
    }
    for (int i = 0; i < tree.least; ++i)
        if (!build(body, next, &next)) return false;
    *start = next;
    return true;
}

bool Builder::build(const Tree& tree, int32_t next, int32_t* start) {
    if (too_large()) return false;
    switch (tree.kind) {
        case Tree::Kind::kSet:
            *start = set(tree.set, next);
            return true;
        case Tree::Kind::kBegin:
            *start = add({.kind = Kind::kBegin, .next = next});
            return true;
        case Tree::Kind::kEnd:
            *start = add({.kind = Kind::kEnd, .next = next});
            return true;
        case Tree::Kind::kRepeat:
            return repeat(tree, next, start);
        case Tree::Kind::kSequence:
            for (auto part = tree.parts.rbegin(); part != tree.parts.rend(); ++part)
                if (!build(*part, next, &next)) return false;
            *start = next;
            return true;
        case Tree::Kind::kAlternatives: {
            int32_t all = -1;
            for (const Tree& part : tree.parts) {
                int32_t one;
                if (!build(part, next, &one)) return false;
                all = either(all, one);
            }
            *start = all;
            return true;
        }
    }
    return false;
}

}  // namespace

std::optional<ByteNfa> make_nfa(const Tree& tree) {
    Builder builder;
    const int32_t accept = builder.add({.kind = Kind::kAccept});
    ByteNfa nfa;
    if (!builder.build(tree, accept, &nfa.start) || builder.too_large()) return std::nullopt;
    nfa.states = std::move(builder.states);
    return nfa;
}

}  // namespace loom::exec::regex
