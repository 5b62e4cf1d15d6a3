#pragma once
// Comparisons of numbers, dates and times, booleans: int4eq and relatives, float8lt and relatives,
// date_cmp, timestamp_cmp, booleq ...

#include "sql/definition.h"

namespace loom::sql {

/// Integers of one or two widths (int2, int4, int8 and what is stored as such).
struct IntegerOrder {
    template <typename A, typename B>
    LOOM_SQL static constexpr bool equal(A a, B b) {
        return a == b;
    }
    template <typename A, typename B>
    LOOM_SQL static constexpr bool less(A a, B b) {
        return a < b;
    }
    template <typename A, typename B>
    LOOM_SQL static constexpr bool less_equal(A a, B b) {
        return a <= b;
    }
};

/// float4, float8 and both mixed (compared as float8). NaN equals NaN and is above all else; -0
/// equals 0 (float8_cmp_internal).
struct FloatOrder {
    template <typename A, typename B>
    LOOM_SQL static constexpr bool equal(A x, B y) {
        const decltype(x + y) a = x;
        const decltype(x + y) b = y;
        return (a == b) | ((a != a) & (b != b));
    }
    template <typename A, typename B>
    LOOM_SQL static constexpr bool less(A x, B y) {
        const decltype(x + y) a = x;
        const decltype(x + y) b = y;
        return (a < b) | ((a == a) & (b != b));
    }
    template <typename A, typename B>
    LOOM_SQL static constexpr bool less_equal(A x, B y) {
        const decltype(x + y) a = x;
        const decltype(x + y) b = y;
        return (a <= b) | (b != b);
    }
};

/// The six operators over an order.
template <typename Order, typename A, typename B>
LOOM_SQL constexpr bool equal(A a, B b) {
    return Order::equal(a, b);
}
template <typename Order, typename A, typename B>
LOOM_SQL constexpr bool not_equal(A a, B b) {
    return !Order::equal(a, b);
}
template <typename Order, typename A, typename B>
LOOM_SQL constexpr bool less(A a, B b) {
    return Order::less(a, b);
}
template <typename Order, typename A, typename B>
LOOM_SQL constexpr bool less_equal(A a, B b) {
    return Order::less_equal(a, b);
}
template <typename Order, typename A, typename B>
LOOM_SQL constexpr bool greater(A a, B b) {
    return !Order::less_equal(a, b);
}
template <typename Order, typename A, typename B>
LOOM_SQL constexpr bool greater_equal(A a, B b) {
    return !Order::less(a, b);
}
/// Negative, 0 or positive (btree support function 1).
template <typename Order, typename A, typename B>
LOOM_SQL constexpr int32_t three_way(A a, B b) {
    return static_cast<int32_t>(!Order::less_equal(a, b)) - static_cast<int32_t>(Order::less(a, b));
}

}  // namespace loom::sql
