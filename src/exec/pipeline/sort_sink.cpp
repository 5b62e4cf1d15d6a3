#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "exec/key.h"
#include "exec/pipeline/sinks.h"

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

int compare(const Vector& v, Physical physical, uint32_t a, uint32_t b) {
    switch (physical) {
        case Physical::kBool:
            return order(v.as<uint8_t>()[a], v.as<uint8_t>()[b]);
        case Physical::kInt16:
            return order(v.as<int16_t>()[a], v.as<int16_t>()[b]);
        case Physical::kInt32:
            return order(v.as<int32_t>()[a], v.as<int32_t>()[b]);
        case Physical::kInt64:
            return order(v.as<int64_t>()[a], v.as<int64_t>()[b]);
        case Physical::kInt128:
            return order(v.as<__int128>()[a], v.as<__int128>()[b]);
        case Physical::kDecimal:
            return order_decimals(v.as<plan::Decimal>()[a], v.as<plan::Decimal>()[b]);
        case Physical::kFloat32:
            return order_floats(v.as<float>()[a], v.as<float>()[b]);
        case Physical::kFloat64:
            return order_floats(v.as<double>()[a], v.as<double>()[b]);
        case Physical::kBytes:
            return v.as<column::BytesView>()[a].text().compare(v.as<column::BytesView>()[b].text());
        case Physical::kInterval:
            return order(interval_span(v.as<plan::Interval>()[a]),
                         interval_span(v.as<plan::Interval>()[b]));
        case Physical::kUuid:
            return std::memcmp(v.as<uint8_t>() + a * 16, v.as<uint8_t>() + b * 16, 16);
    }
    return 0;
}

// Comparisons between two looks at the stop token: some milliseconds.
constexpr uint32_t kComparisonsPerPoll = 1 << 16;

struct RowOrder {
    const Poll* poll;
    mutable uint32_t comparisons;
    std::vector<Vector> columns;
    std::vector<Physical> physical;
    const std::vector<plan::SortKey>& keys;

    bool operator()(uint32_t a, uint32_t b) const {
        if (++comparisons % kComparisonsPerPoll == 0 && poll != nullptr) (*poll)();
        for (size_t k = 0; k < keys.size(); ++k) {
            const Vector& column = columns[k];
            const bool a_null = column.is_null(a);
            const bool b_null = column.is_null(b);
            if (a_null || b_null) {
                if (a_null && b_null) continue;
                return a_null == keys[k].nulls_first;
            }
            const int result = compare(column, physical[k], a, b);
            if (result != 0) return keys[k].descending ? result > 0 : result < 0;
        }
        return false;
    }
};

}  // namespace

SortSink::SortSink(std::vector<int> slots, std::vector<plan::Type> types,
                   std::vector<plan::SortKey> keys, int64_t limit, base::MemoryBudget* budget)
    : StoreSink(std::move(slots), std::move(types), budget),
      keys_(std::move(keys)),
      limit_(limit) {}

void SortSink::consume(int worker, Frame& frame) {
    StoreSink::consume(worker, frame);
    // A top-n throws away what cannot be among the first, now and then.
    RowStore& part = *parts_[worker];
    if (limit_ >= 0 && part.length() >= std::max<int64_t>(limit_ * 4, 65'536))
        part = sorted(std::move(part), nullptr);
}

RowStore SortSink::sorted(RowStore rows, const Poll* poll) const {
    if (rows.length() > UINT32_MAX) throw Unrepresentable("a sort of more than 4,294,967,295 rows");
    RowOrder order{poll, 0, {}, {}, keys_};
    for (const plan::SortKey& key : keys_) {
        const StoredColumn& column = rows.column(static_cast<size_t>(key.column));
        order.columns.push_back(column.view());
        order.physical.push_back(plan::physical(column.type()));
    }
    std::vector<uint32_t> positions(static_cast<size_t>(rows.length()));
    std::iota(positions.begin(), positions.end(), 0);
    size_t count = positions.size();
    if (limit_ >= 0 && static_cast<size_t>(limit_) < count) {
        count = static_cast<size_t>(limit_);
        std::partial_sort(positions.begin(), positions.begin() + limit_, positions.end(),
                          std::cref(order));
    } else {
        std::sort(positions.begin(), positions.end(), std::cref(order));
    }
    RowStore result(types_, budget_);
    for (size_t i = 0; i < types_.size(); ++i)
        result.column(i).append(rows.column(i).view(), positions.data(),
                                static_cast<int64_t>(count));
    result.set_length(static_cast<int64_t>(count));
    return result;
}

void SortSink::finish(const Poll& poll) {
    StoreSink::finish(poll);
    *rows_ = sorted(std::move(*rows_), &poll);
}

}  // namespace loom::exec
