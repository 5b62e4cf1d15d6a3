#include "exec/sort/row_order.h"

#include <cmath>
#include <cstring>

#include "exec/key.h"

namespace loom::exec {

using plan::Physical;

namespace {

template <typename T>
int order(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

// NaN equals NaN and is above everything else.
int order_floats(double a, double b) {
    const bool a_nan = std::isnan(a);
    const bool b_nan = std::isnan(b);
    if (a_nan || b_nan) return order(a_nan, b_nan);
    return order(a, b);
}

// Orders decimals of different scales: brings the lower scale up; where that overflows, the
// magnitude of the one with fewer digits after the point is larger.
int order_decimals(const plan::Decimal& a, const plan::Decimal& b) {
    __int128 x = a.unscaled;
    __int128 y = b.unscaled;
    for (int64_t i = a.scale; i < b.scale; ++i)
        if (__builtin_mul_overflow(x, __int128{10}, &x)) return a.unscaled < 0 ? -1 : 1;
    for (int64_t i = b.scale; i < a.scale; ++i)
        if (__builtin_mul_overflow(y, __int128{10}, &y)) return b.unscaled < 0 ? 1 : -1;
    return order(x, y);
}

plan::Decimal decimal_at(const Vector& vector, uint32_t row) {
    switch (plan::physical(vector.type)) {
        case Physical::kInt64:
            return {vector.as<int64_t>()[row], vector.type.scale};
        case Physical::kInt128:
            return {vector.as<__int128>()[row], vector.type.scale};
        default:
            return vector.as<plan::Decimal>()[row];
    }
}

}  // namespace

int compare_numerics(const Vector& a, uint32_t a_row, const Vector& b, uint32_t b_row) {
    return order_decimals(decimal_at(a, a_row), decimal_at(b, b_row));
}

int compare_values(const Vector& a, uint32_t a_row, const Vector& b, uint32_t b_row,
                   Physical physical) {
    const auto by_order = [&]<typename T>(T) { return order(a.as<T>()[a_row], b.as<T>()[b_row]); };
    switch (physical) {
        case Physical::kBool:
            return by_order(uint8_t{});
        case Physical::kInt16:
            return by_order(int16_t{});
        case Physical::kInt32:
            return by_order(int32_t{});
        case Physical::kInt64:
            return by_order(int64_t{});
        case Physical::kInt128:
            return by_order(__int128{});
        case Physical::kDecimal:
            return order_decimals(a.as<plan::Decimal>()[a_row], b.as<plan::Decimal>()[b_row]);
        case Physical::kFloat32:
            return order_floats(a.as<float>()[a_row], b.as<float>()[b_row]);
        case Physical::kFloat64:
            return order_floats(a.as<double>()[a_row], b.as<double>()[b_row]);
        case Physical::kBytes:
            return compare_texts(a.as<column::BytesView>()[a_row], b.as<column::BytesView>()[b_row],
                                 a.type);
        case Physical::kInterval:
            return order(interval_span(a.as<plan::Interval>()[a_row]),
                         interval_span(b.as<plan::Interval>()[b_row]));
        case Physical::kUuid:
            return std::memcmp(a.as<uint8_t>() + a_row * 16, b.as<uint8_t>() + b_row * 16, 16);
    }
    return 0;
}

RowOrder::RowOrder(const RowStore& rows, const std::vector<plan::SortKey>& keys, size_t first)
    : keys_(keys), first_(first) {
    for (const plan::SortKey& key : keys) {
        const StoredColumn& column = rows.column(static_cast<size_t>(key.column));
        columns_.push_back(column.view());
        physical_.push_back(plan::physical(column.type()));
    }
}

bool RowOrder::operator()(uint32_t a, uint32_t b) const {
    for (size_t k = first_; k < keys_.size(); ++k) {
        const Vector& column = columns_[k];
        const bool a_null = column.is_null(a);
        const bool b_null = column.is_null(b);
        if (a_null || b_null) {
            if (a_null && b_null) continue;
            return a_null == keys_[k].nulls_first;
        }
        const int result = compare_values(column, a, column, b, physical_[k]);
        if (result != 0) return keys_[k].descending ? result > 0 : result < 0;
    }
    return false;
}

}  // namespace loom::exec
