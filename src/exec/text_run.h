#pragma once
// Texts that lie one behind the other, as the values of a page do, so that all of their bytes can
// be searched at once.

#include <cstdint>

#include "base/bitmap.h"
#include "base/buffer.h"
#include "sql/definition.h"

namespace loom::exec {

/// What may lie between two texts of a run: less than the slack behind a buffer, so that a run
/// never reaches from one buffer into another.
inline constexpr int64_t kMaxTextGap = 16;
static_assert(kMaxTextGap < static_cast<int64_t>(base::kBufferSlack));
/// Fewer bytes are searched text by text.
inline constexpr int64_t kMinRunBytes = 256;

/// Texts to search. Nothing is known of NULL rows' bytes.
struct TextRows {
    const sql::Bytes* texts = nullptr;
    const uint8_t* validity = nullptr;  ///< null: no NULLs
    int64_t count = 0;

    int64_t size(int64_t row) const noexcept {
        return validity != nullptr && !base::bit_at(validity, row) ? 0 : texts[row].size;
    }
    const uint8_t* end(int64_t row) const noexcept { return texts[row].data + texts[row].size; }
};

/// Calls check(i, place) for texts that `find` finds something in; other texts, NULL and empty ones
/// are left out.
///
/// find(from, end) returns the next place that is worth a check, or null. check(i, place) looks at
/// text i from there on, and returns where to go on searching: a later place of the text, or its
/// end. Texts that lie alone are asked by alone(i).
template <typename Find, typename Check, typename Alone>
void search_texts(const TextRows& rows, const Find& find, const Check& check, const Alone& alone) {
    for (int64_t first = 0; first < rows.count;) {
        if (rows.size(first) == 0) {
            ++first;
            continue;
        }
        const uint8_t* const begin = rows.texts[first].data;
        const uint8_t* end = rows.end(first);
        int64_t last = first + 1;
        for (; last < rows.count; ++last) {
            if (rows.size(last) == 0) continue;
            const uint8_t* const next = rows.texts[last].data;
            if (next < end || next - end > kMaxTextGap) break;
            end = rows.end(last);
        }
        if (end - begin < kMinRunBytes) {
            for (; first < last; ++first)
                if (rows.size(first) > 0) alone(first);
            continue;
        }
        const uint8_t* at = begin;
        for (int64_t i = first; (at = find(at, end)) != nullptr;) {
            while (i < last && (rows.size(i) == 0 || rows.end(i) <= at)) ++i;
            if (i == last) break;
            // A place between two texts is none.
            at = at < rows.texts[i].data ? rows.texts[i].data : check(i, at);
        }
        first = last;
    }
}

}  // namespace loom::exec
