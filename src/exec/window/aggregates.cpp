// Aggregates over frames. Exact ones come from sums of prefixes; sums of floats are added row by
// row from the frame's first row on, as PostgreSQL does, which cannot take a float out of a sum.

#include <cmath>
#include <cstring>
#include <deque>

#include "exec/fault.h"
#include "exec/key.h"
#include "exec/query.h"
#include "exec/window/functions.h"
#include "sql/decimal.h"

namespace loom::exec {

using column::BytesView;
using column::Int128;
using plan::Physical;
using plan::TypeId;

namespace {

constexpr int64_t kRowsPerPoll = 1 << 14;

enum class Kind : uint8_t { kCount, kSum, kAverage, kMinimum, kMaximum, kAnd, kOr };

struct Known {
    uint32_t function;
    Kind kind;
};

// pg_proc OIDs; the argument's type is what aggregate_type() says.
constexpr Known kKnown[] = {
    {2803, Kind::kCount},   {2147, Kind::kCount},   {2107, Kind::kSum},     {2108, Kind::kSum},
    {2109, Kind::kSum},     {2110, Kind::kSum},     {2111, Kind::kSum},     {2114, Kind::kSum},
    {2100, Kind::kAverage}, {2101, Kind::kAverage}, {2102, Kind::kAverage}, {2103, Kind::kAverage},
    {2104, Kind::kAverage}, {2105, Kind::kAverage}, {2115, Kind::kMaximum}, {2116, Kind::kMaximum},
    {2117, Kind::kMaximum}, {2119, Kind::kMaximum}, {2120, Kind::kMaximum}, {2122, Kind::kMaximum},
    {2123, Kind::kMaximum}, {2126, Kind::kMaximum}, {2127, Kind::kMaximum}, {2129, Kind::kMaximum},
    {2130, Kind::kMaximum}, {2131, Kind::kMinimum}, {2132, Kind::kMinimum}, {2133, Kind::kMinimum},
    {2135, Kind::kMinimum}, {2136, Kind::kMinimum}, {2138, Kind::kMinimum}, {2139, Kind::kMinimum},
    {2142, Kind::kMinimum}, {2143, Kind::kMinimum}, {2145, Kind::kMinimum}, {2146, Kind::kMinimum},
    {2517, Kind::kAnd},     {2519, Kind::kAnd},     {2518, Kind::kOr}};

std::optional<Kind> kind_of(uint32_t function) {
    for (const Known& known : kKnown)
        if (known.function == function) return known.kind;
    return std::nullopt;
}

// Which rows an aggregate takes: those that pass the filter and whose argument is not NULL.
class Taken {
  public:
    explicit Taken(const WindowInput& input) {
        if (input.filter >= 0)
            filter_ = input.rows.column(static_cast<size_t>(input.filter)).view();
        if (!input.args.empty()) arg_ = input.arg(0);
    }
    bool operator[](int64_t row) const {
        if (filter_.values != nullptr && (filter_.is_null(row) || filter_.as<uint8_t>()[row] == 0))
            return false;
        return !arg_.is_null(row);
    }

  private:
    Vector filter_;
    Vector arg_;
};

// Prefix i is the sum over the rows before row i.
template <typename T>
class Prefixes {
  public:
    template <typename Value>
    Prefixes(const WindowInput& input, Value&& value) : sums_(input.budget) {
        sums_.resize(static_cast<uint64_t>(input.length() + 1) * sizeof(T));
        T* sums = sums_.as<T>();
        sums[0] = 0;
        const Taken taken(input);
        for (int64_t row = 0; row < input.length(); ++row) {
            if (row % kRowsPerPoll == 0) input.poll();
            T sum = sums[row];
            if (taken[row] && __builtin_add_overflow(sum, static_cast<T>(value(row)), &sum))
                throw Unrepresentable("sums of a window need more than 38 digits");
            sums[row + 1] = sum;
        }
    }
    T over(const RowSpan& span) const {
        return span.length() == 0 ? T{0} : sums_.as<T>()[span.end] - sums_.as<T>()[span.begin];
    }

  private:
    base::Buffer sums_;
};

Prefixes<int64_t> counts(const WindowInput& input) {
    return {input, [](int64_t) { return 1; }};
}

// Results as they are computed, row by row.
template <typename T>
class Results {
  public:
    explicit Results(const WindowInput& input)
        : values_(input.budget), present_(input.budget), length_(input.length()) {
        values_.resize(static_cast<uint64_t>(length_) * sizeof(T));
        present_.resize(static_cast<uint64_t>(length_));
    }
    void set(int64_t row, const T& value) {
        values_.as<T>()[row] = value;
        present_.data()[row] = 1;
    }
    void set_null(int64_t row) {
        values_.as<T>()[row] = T{};
        present_.data()[row] = 0;
    }
    void put(StoredColumn& out) const {
        append_values(out, values_.data(), present_.data(), length_);
    }

  private:
    base::Buffer values_;
    base::Buffer present_;
    int64_t length_;
};

void count(const WindowInput& input, StoredColumn& out) {
    const Prefixes<int64_t> taken = counts(input);
    Results<int64_t> results(input);
    for (int64_t row = 0; row < input.length(); ++row)
        results.set(row, taken.over(input.frames[row]));
    results.put(out);
}

constexpr Int128 power_of_ten(int exponent) {
    Int128 value = 1;
    for (int i = 0; i < exponent; ++i) value *= 10;
    return value;
}

[[noreturn]] void too_large() {
    throw Unrepresentable("the sum of a window needs more than 38 digits");
}

// The quotient that ends an average in numeric.
plan::Decimal average(Int128 sum, int scale, int64_t number) {
    sql::Fault fault;
    const sql::Decimal quotient = sql::decimal_divide({sum, scale}, {number, 0}, fault);
    if (fault.bits() != 0) too_large();
    return {quotient.unscaled, quotient.scale};
}

// Sums and averages of integers and numerics.
template <typename T>
void exact(const WindowInput& input, StoredColumn& out) {
    constexpr Int128 kLimit = power_of_ten(plan::kMaxPrecision);
    const Vector arg = input.arg(0);
    const T* values = arg.as<T>();
    const int scale = arg.type.id == TypeId::kNumeric ? arg.type.scale : 0;
    const Prefixes<int64_t> taken = counts(input);
    const Prefixes<Int128> sums(input, [&](int64_t row) { return values[row]; });
    const auto each = [&](auto& results, auto&& result) {
        for (int64_t row = 0; row < input.length(); ++row) {
            const RowSpan& frame = input.frames[row];
            const int64_t number = taken.over(frame);
            if (number == 0)
                results.set_null(row);
            else
                results.set(row, result(sums.over(frame), number));
        }
        results.put(out);
    };
    switch (plan::physical(out.type())) {
        case Physical::kDecimal: {
            Results<plan::Decimal> results(input);
            return each(results,
                        [&](Int128 sum, int64_t number) { return average(sum, scale, number); });
        }
        case Physical::kInt64: {
            Results<int64_t> results(input);
            return each(results, [](Int128 sum, int64_t) { return static_cast<int64_t>(sum); });
        }
        default: {
            Results<Int128> results(input);
            return each(results, [](Int128 sum, int64_t) {
                if (sum >= kLimit || sum <= -kLimit) too_large();
                return sum;
            });
        }
    }
}

[[noreturn]] void overflow() {
    throw SqlFault("22003", "value out of range: overflow");
}

// float4pl and float8pl.
template <typename T>
struct FloatTotal {
    T sum = 0;
    bool any = false;

    void add(T value) {
        const T total = any ? sum + value : value;
        if (any && std::isinf(total) && !std::isinf(sum) && !std::isinf(value)) overflow();
        sum = total;
        any = true;
    }
    T result() const { return sum; }
};

// float4_accum and float8_accum: the sum of squares counts only by its overflow, which is an error.
struct FloatMean {
    double number = 0;
    double sum = 0;
    double squares = 0;
    bool any = false;

    void add(double value) {
        any = true;
        const double before = number;
        const double sum_before = sum;
        number += 1;
        sum += value;
        if (before > 0) {
            const double difference = value * number - sum;
            squares += difference * difference / (number * before);
            if (std::isinf(sum) || std::isinf(squares)) {
                if (!std::isinf(sum_before) && !std::isinf(value)) overflow();
                squares = std::nan("");
            }
        } else if (std::isnan(value) || std::isinf(value)) {
            squares = std::nan("");
        }
    }
    double result() const { return sum / number; }
};

// Adds a frame's rows in their order. A frame that begins where the last one did goes on from
// there.
template <typename T, typename Total, typename Result>
void floats(const WindowInput& input, StoredColumn& out) {
    const Vector arg = input.arg(0);
    const T* values = arg.as<T>();
    const Taken taken(input);
    Results<Result> results(input);
    Total total;
    RowSpan added;
    int64_t work = 0;
    for (int64_t row = 0; row < input.length(); ++row) {
        const RowSpan& frame = input.frames[row];
        const bool goes_on = input.partitions[row].begin != row && frame.begin == added.begin &&
                             frame.end >= added.end;
        if (!goes_on) {
            total = Total();
            added = {frame.begin, frame.begin};
        }
        for (; added.end < frame.end; ++added.end) {
            if (++work % kRowsPerPoll == 0) input.poll();
            if (taken[added.end]) total.add(values[added.end]);
        }
        if (total.any)
            results.set(row, total.result());
        else
            results.set_null(row);
    }
    results.put(out);
}

template <typename T>
bool less(const T& a, const T& b, plan::Type type) {
    if constexpr (std::is_floating_point_v<T>)
        return std::isnan(b) ? !std::isnan(a) : a < b;  // NaN is above everything else
    else if constexpr (std::is_same_v<T, BytesView>)
        return compare_texts(a, b, type) < 0;
    else
        return a < b;
}

// The candidates of a frame that only moves forward: each beats those behind it. Of equal values
// the last one is the result, as PostgreSQL's *larger and *smaller functions have it.
template <typename T>
void extreme(const WindowInput& input, StoredColumn& out, bool maximum) {
    const Vector arg = input.arg(0);
    const T* values = arg.as<T>();
    const Taken taken(input);
    Results<T> results(input);
    std::deque<int32_t> candidates;
    RowSpan seen;
    int64_t work = 0;
    for (int64_t row = 0; row < input.length(); ++row) {
        const RowSpan& frame = input.frames[row];
        if (input.partitions[row].begin == row) {
            candidates.clear();
            seen = {frame.begin, frame.begin};
        }
        seen.end = std::max(seen.end, frame.begin);
        for (; seen.end < frame.end; ++seen.end) {
            if (++work % kRowsPerPoll == 0) input.poll();
            if (!taken[seen.end]) continue;
            const T& value = values[seen.end];
            const auto beats = [&](const T& other) {
                return maximum ? less(value, other, arg.type) : less(other, value, arg.type);
            };
            while (!candidates.empty() && !beats(values[candidates.back()])) candidates.pop_back();
            candidates.push_back(seen.end);
        }
        while (!candidates.empty() && candidates.front() < frame.begin) candidates.pop_front();
        if (candidates.empty() || candidates.front() >= frame.end)
            results.set_null(row);
        else
            results.set(row, values[candidates.front()]);
    }
    results.put(out);
}

void truth(const WindowInput& input, StoredColumn& out, bool all) {
    const Vector arg = input.arg(0);
    const Prefixes<int64_t> taken = counts(input);
    const Prefixes<int64_t> holding(input,
                                    [&](int64_t row) { return arg.as<uint8_t>()[row] != 0; });
    Results<uint8_t> results(input);
    for (int64_t row = 0; row < input.length(); ++row) {
        const int64_t number = taken.over(input.frames[row]);
        const int64_t held = holding.over(input.frames[row]);
        if (number == 0)
            results.set_null(row);
        else
            results.set(row, all ? held == number : held > 0);
    }
    results.put(out);
}

void total(const WindowInput& input, StoredColumn& out, bool average) {
    switch (plan::physical(input.arg(0).type)) {
        case Physical::kInt16:
            return exact<int16_t>(input, out);
        case Physical::kInt32:
            return exact<int32_t>(input, out);
        case Physical::kInt64:
            return exact<int64_t>(input, out);
        case Physical::kInt128:
            return exact<Int128>(input, out);
        case Physical::kFloat32:
            return average ? floats<float, FloatMean, double>(input, out)
                           : floats<float, FloatTotal<float>, float>(input, out);
        case Physical::kFloat64:
            return average ? floats<double, FloatMean, double>(input, out)
                           : floats<double, FloatTotal<double>, double>(input, out);
        default:
            throw Unrepresentable("a window aggregate over this type");
    }
}

void best(const WindowInput& input, StoredColumn& out, bool maximum) {
    switch (plan::physical(input.arg(0).type)) {
        case Physical::kInt16:
            return extreme<int16_t>(input, out, maximum);
        case Physical::kInt32:
            return extreme<int32_t>(input, out, maximum);
        case Physical::kInt64:
            return extreme<int64_t>(input, out, maximum);
        case Physical::kInt128:
            return extreme<Int128>(input, out, maximum);
        case Physical::kFloat32:
            return extreme<float>(input, out, maximum);
        case Physical::kFloat64:
            return extreme<double>(input, out, maximum);
        case Physical::kBytes:
            return extreme<BytesView>(input, out, maximum);
        default:
            throw Unrepresentable("a window aggregate over this type");
    }
}

}  // namespace

bool has_window_aggregate(uint32_t function, std::span<const plan::Type> args) {
    const auto kind = kind_of(function);
    if (!kind || !aggregate_type(function, args)) return false;
    // Numerics with scales of their own have no sums of prefixes, and equal ones are not alike.
    return *kind == Kind::kCount || plan::physical(args[0]) != Physical::kDecimal;
}

void compute_aggregate(uint32_t function, const WindowInput& input, StoredColumn& out) {
    const auto kind = kind_of(function);
    if (!kind) throw Unrepresentable("a window function that the engine does not have");
    switch (*kind) {
        case Kind::kCount:
            return count(input, out);
        case Kind::kSum:
        case Kind::kAverage:
            return total(input, out, *kind == Kind::kAverage);
        case Kind::kMinimum:
        case Kind::kMaximum:
            return best(input, out, *kind == Kind::kMaximum);
        case Kind::kAnd:
        case Kind::kOr:
            return truth(input, out, *kind == Kind::kAnd);
    }
}

}  // namespace loom::exec
