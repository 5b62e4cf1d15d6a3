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

}  // namespace

int compare_values(const Vector& vector, Physical physical, uint32_t a, uint32_t b) {
    switch (physical) {
        case Physical::kBool:
            return order(vector.as<uint8_t>()[a], vector.as<uint8_t>()[b]);
        case Physical::kInt16:
            return order(vector.as<int16_t>()[a], vector.as<int16_t>()[b]);
        case Physical::kInt32:
            return order(vector.as<int32_t>()[a], vector.as<int32_t>()[b]);
        case Physical::kInt64:
            return order(vector.as<int64_t>()[a], vector.as<int64_t>()[b]);
        case Physical::kInt128:
            return order(vector.as<__int128>()[a], vector.as<__int128>()[b]);
        case Physical::kDecimal:
            return order_decimals(vector.as<plan::Decimal>()[a], vector.as<plan::Decimal>()[b]);
        case Physical::kFloat32:
            return order_floats(vector.as<float>()[a], vector.as<float>()[b]);
        case Physical::kFloat64:
            return order_floats(vector.as<double>()[a], vector.as<double>()[b]);
        case Physical::kBytes:
            return vector.as<column::BytesView>()[a].text().compare(
                vector.as<column::BytesView>()[b].text());
        case Physical::kInterval:
            return order(interval_span(vector.as<plan::Interval>()[a]),
                         interval_span(vector.as<plan::Interval>()[b]));
        case Physical::kUuid:
            return std::memcmp(vector.as<uint8_t>() + a * 16, vector.as<uint8_t>() + b * 16, 16);
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
        const int result = compare_values(column, physical_[k], a, b);
        if (result != 0) return keys_[k].descending ? result > 0 : result < 0;
    }
    return false;
}

}  // namespace loom::exec
