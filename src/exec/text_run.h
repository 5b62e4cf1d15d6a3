#pragma once
// Texts that lie one behind the other, as the values of a page do, so that all of their bytes can
// be searched at once.

#include <cstdint>

#include "base/buffer.h"
#include "sql/definition.h"

namespace loom::exec {

/// What may lie between two texts of a run: less than the slack behind a buffer, so that a run
/// never reaches from one buffer into another.
inline constexpr int64_t kMaxTextGap = 16;
static_assert(kMaxTextGap < static_cast<int64_t>(base::kBufferSlack));
/// Fewer bytes are searched text by text.
inline constexpr int64_t kMinRunBytes = 256;

/// Calls check(i, place) for texts that `find` finds something in; the other texts are left out.
///
/// find(from, end) returns the next place that is worth a check, or null. check(i, place) looks at
/// text i from there on, and returns where to go on searching: a later place of the text, or its
/// end. Texts that lie alone are asked by alone(i).
template <typename Find, typename Check, typename Alone>
void search_texts(const sql::Bytes* texts, int64_t count, const Find& find, const Check& check,
                  const Alone& alone) {
    for (int64_t first = 0; first < count;) {
        const uint8_t* const begin = texts[first].data;
        const uint8_t* end = begin + texts[first].size;
        int64_t last = first + 1;
        for (; last < count; ++last) {
            // NULL and empty texts may lie anywhere, and have nothing to find.
            if (texts[last].size == 0) continue;
            if (texts[last].data < end || texts[last].data - end > kMaxTextGap) break;
            end = texts[last].data + texts[last].size;
        }
        if (end - begin < kMinRunBytes) {
            for (; first < last; ++first)
                if (texts[first].size > 0) alone(first);
            continue;
        }
        const uint8_t* at = begin;
        for (int64_t i = first; (at = find(at, end)) != nullptr;) {
            while (i < last && (texts[i].size == 0 || texts[i].data + texts[i].size <= at)) ++i;
            if (i == last) break;
            // A place between two texts is none.
            at = at < texts[i].data ? texts[i].data : check(i, at);
        }
        first = last;
    }
}

}  // namespace loom::exec
