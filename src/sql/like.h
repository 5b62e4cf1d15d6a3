#pragma once
// LIKE on UTF-8 (textlike, bpcharlike): % is any string, _ one character, \ takes the next
// character as it is.

#include "sql/fault.h"
#include "sql/text.h"

namespace loom::sql {

/// Matches by backtracking to the last %. A trailing escape is an error only where matching comes
/// to it.
LOOM_SQL bool like(Bytes text, Bytes pattern, Fault& fault) {
    const uint8_t* t = text.data;
    const uint8_t* const t_end = t + text.size;
    const uint8_t* p = pattern.data;
    const uint8_t* const p_end = p + pattern.size;
    const uint8_t* retry_text = nullptr;  // where the last % may take one character more
    const uint8_t* retry_pattern = nullptr;
    while (t != t_end) {
        if (p < p_end && *p == '%') {
            // Each _ behind takes a character; what is left must be found from there on.
            for (++p; p < p_end && (*p == '%' || *p == '_'); ++p) {
                if (*p == '%') continue;
                if (t == t_end) return false;
                t = next_character(t, t_end);
            }
            if (p == p_end) return true;
            if (*p == '\\' && p + 1 == p_end) {
                fault.raise(kLikeEscape);
                return false;
            }
            if (t == t_end) return false;
            retry_text = t;
            retry_pattern = p;
            continue;
        }
        bool matches = false;
        if (p < p_end) {
            if (*p == '_') {
                t = next_character(t, t_end);
                ++p;
                continue;
            }
            const bool escaped = *p == '\\';
            if (escaped && p + 1 == p_end) {
                fault.raise(kLikeEscape);
                return false;
            }
            matches = p[escaped ? 1 : 0] == *t;
            if (matches) {
                p += escaped ? 2 : 1;
                ++t;
                continue;
            }
        }
        if (retry_text == nullptr) return false;
        retry_text = next_character(retry_text, t_end);
        if (retry_text == t_end) return false;
        t = retry_text;
        p = retry_pattern;
    }
    // The text is used up.
    while (p < p_end && *p == '%') ++p;
    return p == p_end;
}

LOOM_SQL bool not_like(Bytes text, Bytes pattern, Fault& fault) {
    return !like(text, pattern, fault);
}

}  // namespace loom::sql
