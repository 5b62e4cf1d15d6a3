#pragma once
// Functions of text that yield a part of their argument or a number. Text is valid UTF-8; positions
// count characters.

#include "sql/fault.h"
#include "sql/integer.h"
#include "sql/text_compare.h"

namespace loom::sql {

/// Whether a byte starts a character.
LOOM_SQL bool starts_character(uint8_t byte) {
    return (byte & 0xC0) != 0x80;
}
/// Returns the end of the character at `at`, which is before `end`.
LOOM_SQL const uint8_t* next_character(const uint8_t* at, const uint8_t* end) {
    do ++at;
    while (at < end && !starts_character(*at));
    return at;
}
/// Returns the position behind `count` characters, or the end.
LOOM_SQL const uint8_t* skip_characters(Bytes text, int64_t count) {
    const uint8_t* at = text.data;
    const uint8_t* const end = at + text.size;
    for (; count > 0 && at < end; --count) at = next_character(at, end);
    return at;
}
LOOM_SQL Bytes between(const uint8_t* from, const uint8_t* to) {
    return {from, to - from};
}

/// textlen.
LOOM_SQL int32_t text_length(Bytes text) {
    int64_t count = 0;
    for (int64_t i = 0; i < text.size; ++i) count += starts_character(text.data[i]) ? 1 : 0;
    return static_cast<int32_t>(count);
}
/// bpcharlen.
LOOM_SQL int32_t bpchar_length(Bytes text) {
    return text_length(without_padding(text));
}
/// textoctetlen, bpcharoctetlen, byteaoctetlen.
LOOM_SQL int32_t octet_length(Bytes text) {
    return static_cast<int32_t>(text.size);
}

/// text_substr_no_len.
LOOM_SQL Bytes text_substring_from(Bytes text, int32_t start) {
    return between(skip_characters(text, int64_t{start} - 1), text.data + text.size);
}
/// text_substr: characters [start, start + length) of those that exist.
LOOM_SQL Bytes text_substring(Bytes text, int32_t start, int32_t length, Fault& fault) {
    if (length < 0) {
        fault.raise(kSubstringLength);
        return {};
    }
    const int64_t end = int64_t{start} + length;
    const int64_t first = start > 1 ? start : 1;
    if (end <= first) return {};
    const uint8_t* const from = skip_characters(text, first - 1);
    const Bytes rest = between(from, text.data + text.size);
    return between(from, skip_characters(rest, end - first));
}
/// text_left, text_right; a negative count leaves out so many at the other side.
LOOM_SQL Bytes text_left(Bytes text, int32_t count) {
    const int64_t taken = count < 0 ? int64_t{text_length(text)} + count : count;
    return between(text.data, skip_characters(text, taken));
}
LOOM_SQL Bytes text_right(Bytes text, int32_t count, Fault& fault) {
    fault.raise(kOther, count == Integer<int32_t>::kMin);
    const int64_t left = count < 0 ? -int64_t{count} : int64_t{text_length(text)} - count;
    return between(skip_characters(text, left), text.data + text.size);
}

/// ltrim1, rtrim1, btrim1: blanks only.
LOOM_SQL Bytes text_trim_left(Bytes text) {
    while (text.size > 0 && *text.data == ' ') {
        ++text.data;
        --text.size;
    }
    return text;
}
LOOM_SQL Bytes text_trim_right(Bytes text) {
    return without_padding(text);
}
LOOM_SQL Bytes text_trim(Bytes text) {
    return text_trim_left(without_padding(text));
}

/// ltrim, rtrim, btrim with the characters to remove, which must be ASCII here: then bytes are
/// characters.
LOOM_SQL bool is_any_of(uint8_t byte, Bytes set) {
    for (int64_t i = 0; i < set.size; ++i)
        if (set.data[i] == byte) return true;
    return false;
}
template <bool kLeft, bool kRight>
LOOM_SQL Bytes text_trim_set(Bytes text, Bytes set, Fault& fault) {
    for (int64_t i = 0; i < set.size; ++i) fault.raise(kNotAscii, set.data[i] >= 0x80);
    while (kLeft && text.size > 0 && is_any_of(text.data[0], set)) {
        ++text.data;
        --text.size;
    }
    while (kRight && text.size > 0 && is_any_of(text.data[text.size - 1], set)) --text.size;
    return text;
}

LOOM_SQL bool text_starts_with(Bytes text, Bytes prefix) {
    return text.size >= prefix.size && compare_memory(text.data, prefix.data, prefix.size) == 0;
}

/// Returns where `part`, which is not empty, first starts in `text`, in bytes, or -1.
LOOM_SQL int64_t find_bytes(Bytes text, Bytes part) {
    const uint8_t first = part.data[0];
    for (int64_t at = 0; at + part.size <= text.size; ++at)
        if (text.data[at] == first && compare_memory(text.data + at, part.data, part.size) == 0)
            return at;
    return -1;
}
/// textpos: 1 for the first character, 0 for none.
LOOM_SQL int32_t text_position(Bytes text, Bytes part) {
    if (part.size == 0) return 1;
    const int64_t at = find_bytes(text, part);
    return at < 0 ? 0 : text_length({text.data, at}) + 1;
}

/// booltext.
LOOM_SQL Bytes bool_text(uint8_t value) {
    return value != 0 ? Bytes{reinterpret_cast<const uint8_t*>("true"), 4}
                      : Bytes{reinterpret_cast<const uint8_t*>("false"), 5};
}

/// Writes text.size bytes of upper or lower case. Only ASCII is the same in every locale but
/// Turkish ones; other bytes raise kNotAscii.
template <bool kUpper>
LOOM_SQL void change_case(Bytes text, uint8_t* out, Fault& fault) {
    uint8_t all = 0;
    for (int64_t i = 0; i < text.size; ++i) {
        const uint8_t byte = text.data[i];
        all |= byte;
        const bool letter = kUpper ? byte >= 'a' && byte <= 'z' : byte >= 'A' && byte <= 'Z';
        out[i] = letter ? byte ^ 0x20 : byte;
    }
    fault.raise(kNotAscii, (all & 0x80) != 0);
}

}  // namespace loom::sql
