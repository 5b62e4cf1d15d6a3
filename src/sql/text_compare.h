#pragma once
// Text by bytes: texteq, textne in any deterministic collation; text_lt and relatives, bttextcmp in
// C, POSIX and C.UTF-8; bytea and uuid always. bpchar ignores trailing blanks (bpchareq,
// bpcharlt, ...).

#include "sql/definition.h"

namespace loom::sql {

LOOM_SQL int compare_memory(const uint8_t* a, const uint8_t* b, int64_t size) {
#if defined(__CUDACC_RTC__)
    for (int64_t i = 0; i < size; ++i)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
#else
    return size == 0 ? 0 : __builtin_memcmp(a, b, static_cast<unsigned long>(size));
#endif
}

/// text and bytea (text_cmp, byteacmp).
struct BytesOrder {
    LOOM_SQL static int compare(Bytes a, Bytes b) {
        const int64_t size = a.size < b.size ? a.size : b.size;
        const int order = compare_memory(a.data, b.data, size);
        if (order != 0) return order;
        return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
    }
    LOOM_SQL static bool equal(Bytes a, Bytes b) {
        return a.size == b.size && compare_memory(a.data, b.data, a.size) == 0;
    }
    LOOM_SQL static bool less(Bytes a, Bytes b) { return compare(a, b) < 0; }
    LOOM_SQL static bool less_equal(Bytes a, Bytes b) { return compare(a, b) <= 0; }
};

/// Returns a char(n) value without its trailing blanks (bcTruelen).
LOOM_SQL Bytes without_padding(Bytes a) {
    while (a.size > 0 && a.data[a.size - 1] == ' ') --a.size;
    return a;
}

struct PaddedOrder {
    LOOM_SQL static bool equal(Bytes a, Bytes b) {
        return BytesOrder::equal(without_padding(a), without_padding(b));
    }
    LOOM_SQL static bool less(Bytes a, Bytes b) {
        return BytesOrder::less(without_padding(a), without_padding(b));
    }
    LOOM_SQL static bool less_equal(Bytes a, Bytes b) {
        return BytesOrder::less_equal(without_padding(a), without_padding(b));
    }
};

/// uuid_cmp.
struct UuidOrder {
    LOOM_SQL static bool equal(const Uuid& a, const Uuid& b) {
        return compare_memory(a.bytes, b.bytes, 16) == 0;
    }
    LOOM_SQL static bool less(const Uuid& a, const Uuid& b) {
        return compare_memory(a.bytes, b.bytes, 16) < 0;
    }
    LOOM_SQL static bool less_equal(const Uuid& a, const Uuid& b) {
        return compare_memory(a.bytes, b.bytes, 16) <= 0;
    }
};

}  // namespace loom::sql
