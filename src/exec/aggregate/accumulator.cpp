// The aggregates, and which PostgreSQL function each one is. NULL arguments never count.

#include "exec/aggregate/accumulator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "exec/aggregate/quotient.h"
#include "exec/fault.h"
#include "exec/query.h"

namespace loom::exec {

using column::BytesView;
using column::Int128;
using plan::Physical;
using plan::TypeId;

namespace {

// Values by group, zeroed as they come into being.
template <typename T>
class PerGroup {
  public:
    explicit PerGroup(base::MemoryBudget* budget) : buffer_(budget) {}
    void resize(int64_t groups) {
        if (groups <= size_) return;
        if (groups > capacity_) {
            capacity_ = std::max<int64_t>({groups, capacity_ * 2, 16});
            buffer_.resize(static_cast<uint64_t>(capacity_) * sizeof(T));
        }
        std::memset(static_cast<void*>(buffer_.template as<T>() + size_), 0,
                    static_cast<size_t>(groups - size_) * sizeof(T));
        size_ = groups;
    }
    T* data() noexcept { return buffer_.template as<T>(); }
    T& operator[](int64_t group) noexcept { return data()[group]; }

  private:
    base::Buffer buffer_;
    int64_t size_ = 0;
    int64_t capacity_ = 0;
};

// Calls body(group, row) for each row that is not NULL.
template <typename Body>
void for_rows(const uint32_t* groups, const Vector& arg, Body&& body) {
    if (arg.validity == nullptr) {
        if (groups == nullptr)
            for (int64_t i = 0; i < arg.length; ++i) body(0, i);
        else
            for (int64_t i = 0; i < arg.length; ++i) body(groups[i], i);
        return;
    }
    for (int64_t i = 0; i < arg.length; ++i)
        if (base::bit_at(arg.validity, i)) body(groups == nullptr ? 0 : groups[i], i);
}

template <typename T>
void put(StoredColumn& out, int64_t groups, const T* values, const uint8_t* present) {
    base::Buffer validity;
    validity.resize(static_cast<uint64_t>(base::bitmap_bytes(groups)));
    for (int64_t i = 0; i < groups; ++i)
        base::put_bit(validity.data(), i, present == nullptr || present[i] != 0);
    Vector vector;
    vector.type = out.type();
    vector.length = groups;
    vector.values = values;
    vector.validity = validity.data();
    out.append(vector);
}

// count(*) and count(x).
class Count final : public Accumulator {
  public:
    explicit Count(base::MemoryBudget* budget) : counts_(budget) {}
    void resize(int64_t groups) override { counts_.resize(groups); }
    void update(const uint32_t* groups, const Vector& arg) override {
        if (groups == nullptr) {
            counts_[0] += arg.validity == nullptr ? arg.length
                                                  : base::count_bits(arg.validity, 0, arg.length);
            return;
        }
        int64_t* counts = counts_.data();
        for_rows(groups, arg, [=](uint32_t group, int64_t) { ++counts[group]; });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<Count&>(other);
        for (const auto [g, to] : map) counts_[to] += from.counts_[g];
    }
    void output(int64_t groups, StoredColumn& out) override {
        put(out, groups, counts_.data(), nullptr);
    }

  private:
    PerGroup<int64_t> counts_;
};

// sum and avg of integers and numerics. The sum of a batch is taken in 64 bits where that cannot
// overflow, and added to 128 bits.
template <typename T>
class ExactSum final : public Accumulator {
  public:
    ExactSum(int scale, base::MemoryBudget* budget)
        : scale_(scale), sums_(budget), counts_(budget) {}

    void resize(int64_t groups) override {
        sums_.resize(groups);
        counts_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        if (groups == nullptr && arg.validity == nullptr && sizeof(T) <= 4) {
            int64_t sum = 0;
            for (int64_t i = 0; i < arg.length; ++i) sum += static_cast<int64_t>(values[i]);
            sums_[0] += sum;
            counts_[0] += arg.length;
            return;
        }
        Int128* sums = sums_.data();
        int64_t* counts = counts_.data();
        bool overflow = false;
        for_rows(groups, arg, [&](uint32_t group, int64_t row) {
            if constexpr (sizeof(T) == 16)
                overflow |= __builtin_add_overflow(sums[group], values[row], &sums[group]);
            else
                sums[group] += values[row];
            ++counts[group];
        });
        if (overflow) too_large();
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<ExactSum&>(other);
        for (const auto [g, to] : map) {
            if (__builtin_add_overflow(sums_[to], from.sums_[g], &sums_[to])) too_large();
            counts_[to] += from.counts_[g];
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        base::Buffer present;
        const Physical physical = plan::physical(out.type());
        const int width = plan::width(physical);
        values.resize(static_cast<uint64_t>(groups) * width);
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            present.data()[g] = counts_[g] > 0;
            uint8_t* place = values.data() + g * width;
            if (physical == Physical::kDecimal) {
                plan::Decimal quotient;
                if (counts_[g] > 0 && !divide(sums_[g], scale_, counts_[g], &quotient)) too_large();
                std::memcpy(place, &quotient, sizeof quotient);
            } else if (physical == Physical::kInt64) {
                // sum(int2), sum(int4): bigint, which PostgreSQL lets wrap as it adds.
                const auto sum = static_cast<int64_t>(sums_[g]);
                std::memcpy(place, &sum, sizeof sum);
            } else {
                if (magnitude(sums_[g]) >= kLimit) too_large();
                std::memcpy(place, &sums_[g], sizeof sums_[g]);
            }
        }
        put(out, groups, values.data(), present.data());
    }

  private:
    static constexpr Int128 power_of_ten(int exponent) {
        Int128 value = 1;
        for (int i = 0; i < exponent; ++i) value *= 10;
        return value;
    }
    static constexpr Int128 kLimit = power_of_ten(plan::kMaxPrecision);
    static Int128 magnitude(Int128 value) { return value < 0 ? -value : value; }
    [[noreturn]] static void too_large() {
        throw Unrepresentable("the sum of a column needs more than 38 digits");
    }

    int scale_;
    PerGroup<Int128> sums_;
    PerGroup<int64_t> counts_;
};

// sum and avg of floats; PostgreSQL adds float4 in float4 for sum, in float8 for avg.
template <typename T, typename Sum>
class FloatSum final : public Accumulator {
  public:
    FloatSum(bool average, base::MemoryBudget* budget)
        : average_(average), sums_(budget), counts_(budget), infinite_(budget) {}
    void resize(int64_t groups) override {
        sums_.resize(groups);
        counts_.resize(groups);
        infinite_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        Sum* sums = sums_.data();
        int64_t* counts = counts_.data();
        uint8_t* infinite = infinite_.data();
        for_rows(groups, arg, [=](uint32_t group, int64_t row) {
            sums[group] += static_cast<Sum>(values[row]);
            infinite[group] |= std::isinf(values[row]) ? 1 : 0;
            ++counts[group];
        });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<FloatSum&>(other);
        for (const auto [g, to] : map) {
            sums_[to] += from.sums_[g];
            infinite_[to] |= from.infinite_[g];
            counts_[to] += from.counts_[g];
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer present;
        present.resize(static_cast<uint64_t>(groups));
        for (int64_t g = 0; g < groups; ++g) {
            present.data()[g] = counts_[g] > 0;
            if (std::isinf(sums_[g]) && infinite_[g] == 0)
                throw SqlFault("22003", "value out of range: overflow");
            if (average_ && counts_[g] > 0) sums_[g] /= static_cast<Sum>(counts_[g]);
        }
        put(out, groups, sums_.data(), present.data());
    }

  private:
    bool average_;
    PerGroup<Sum> sums_;
    PerGroup<int64_t> counts_;
    PerGroup<uint8_t> infinite_;
};

// PostgreSQL's order of floats: NaN equals NaN and is above everything else.
template <typename T>
bool less(const T& a, const T& b) {
    if constexpr (std::is_floating_point_v<T>)
        return std::isnan(b) ? !std::isnan(a) : a < b;
    else
        return a < b;
}

template <typename T>
class Extreme final : public Accumulator {
  public:
    Extreme(bool maximum, base::MemoryBudget* budget)
        : maximum_(maximum), best_(budget), present_(budget) {}
    void resize(int64_t groups) override {
        best_.resize(groups);
        present_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        if (maximum_)
            for_rows(groups, arg, [&](uint32_t group, int64_t row) {
                if (!present_[group] || less(best_[group], values[row])) best_[group] = values[row];
                present_[group] = 1;
            });
        else
            for_rows(groups, arg, [&](uint32_t group, int64_t row) {
                if (!present_[group] || less(values[row], best_[group])) best_[group] = values[row];
                present_[group] = 1;
            });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<Extreme&>(other);
        for (const auto [g, to] : map) {
            if (!from.present_[g]) continue;
            T& best = best_[to];
            const T& value = from.best_[g];
            if (!present_[to] || (maximum_ ? less(best, value) : less(value, best))) best = value;
            present_[to] = 1;
        }
    }
    void output(int64_t groups, StoredColumn& out) override {
        put(out, groups, best_.data(), present_.data());
    }

  private:
    bool maximum_;
    PerGroup<T> best_;
    PerGroup<uint8_t> present_;
};

// min and max of text and bytea by bytes. The kept bytes are owned here; what is replaced is left
// behind, so texts that shrink or grow often cost memory.
class ExtremeBytes final : public Accumulator {
  public:
    ExtremeBytes(bool maximum, plan::Type type, base::MemoryBudget* budget)
        : maximum_(maximum), best_(budget), present_(budget), owned_(type, budget) {}
    void resize(int64_t groups) override {
        best_.resize(groups);
        present_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const auto* values = arg.as<BytesView>();
        for_rows(groups, arg,
                 [&](uint32_t group, int64_t row) { offer(group, values[row], arg.type); });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<ExtremeBytes&>(other);
        for (const auto [g, to] : map)
            if (from.present_[g]) offer(to, from.best_[g], owned_.type());
    }
    void output(int64_t groups, StoredColumn& out) override {
        put(out, groups, best_.data(), present_.data());
    }

  private:
    void offer(uint32_t group, const BytesView& value, plan::Type type) {
        if (present_[group]) {
            const int order = value.text().compare(best_[group].text());
            if (maximum_ ? order <= 0 : order >= 0) return;
        }
        Vector one;
        one.type = type;
        one.length = 1;
        one.values = &value;
        owned_.append(one);
        best_[group] = owned_.values<BytesView>()[owned_.length() - 1];
        present_[group] = 1;
    }

    bool maximum_;
    PerGroup<BytesView> best_;
    PerGroup<uint8_t> present_;
    StoredColumn owned_;
};

// bit_and, bit_or, bit_xor; bool_and and bool_or are those of bytes 0 and 1.
template <typename T>
class Bits final : public Accumulator {
  public:
    enum class Operation : uint8_t { kAnd, kOr, kXor };
    Bits(Operation operation, base::MemoryBudget* budget)
        : operation_(operation), values_(budget), present_(budget) {}
    void resize(int64_t groups) override {
        values_.resize(groups);
        present_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const T* values = arg.as<T>();
        for_rows(groups, arg, [&](uint32_t group, int64_t row) { add(group, values[row]); });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<Bits&>(other);
        for (const auto [g, to] : map)
            if (from.present_[g]) add(to, from.values_[g]);
    }
    void output(int64_t groups, StoredColumn& out) override {
        put(out, groups, values_.data(), present_.data());
    }

  private:
    void add(uint32_t group, T value) {
        T& state = values_[group];
        if (!present_[group])
            state = value;
        else if (operation_ == Operation::kAnd)
            state = static_cast<T>(state & value);
        else if (operation_ == Operation::kOr)
            state = static_cast<T>(state | value);
        else
            state = static_cast<T>(state ^ value);
        present_[group] = 1;
    }

    Operation operation_;
    PerGroup<T> values_;
    PerGroup<uint8_t> present_;
};

enum class Kind : uint8_t {
    kCountRows,
    kCount,
    kSum,
    kAverage,
    kMinimum,
    kMaximum,
    kAnd,
    kOr,
    kXor
};

struct Known {
    uint32_t function;
    Kind kind;
    TypeId arg;
};

// pg_proc OIDs of PostgreSQL's aggregates by argument type.
constexpr Known kKnown[] = {{2803, Kind::kCountRows, TypeId::kBool},
                            {2107, Kind::kSum, TypeId::kInt8},
                            {2108, Kind::kSum, TypeId::kInt4},
                            {2109, Kind::kSum, TypeId::kInt2},
                            {2110, Kind::kSum, TypeId::kFloat4},
                            {2111, Kind::kSum, TypeId::kFloat8},
                            {2114, Kind::kSum, TypeId::kNumeric},
                            {2100, Kind::kAverage, TypeId::kInt8},
                            {2101, Kind::kAverage, TypeId::kInt4},
                            {2102, Kind::kAverage, TypeId::kInt2},
                            {2103, Kind::kAverage, TypeId::kNumeric},
                            {2104, Kind::kAverage, TypeId::kFloat4},
                            {2105, Kind::kAverage, TypeId::kFloat8},
                            {2115, Kind::kMaximum, TypeId::kInt8},
                            {2116, Kind::kMaximum, TypeId::kInt4},
                            {2117, Kind::kMaximum, TypeId::kInt2},
                            {2119, Kind::kMaximum, TypeId::kFloat4},
                            {2120, Kind::kMaximum, TypeId::kFloat8},
                            {2122, Kind::kMaximum, TypeId::kDate},
                            {2123, Kind::kMaximum, TypeId::kTime},
                            {2126, Kind::kMaximum, TypeId::kTimestamp},
                            {2127, Kind::kMaximum, TypeId::kTimestampTz},
                            {2129, Kind::kMaximum, TypeId::kText},
                            {2130, Kind::kMaximum, TypeId::kNumeric},
                            {2131, Kind::kMinimum, TypeId::kInt8},
                            {2132, Kind::kMinimum, TypeId::kInt4},
                            {2133, Kind::kMinimum, TypeId::kInt2},
                            {2135, Kind::kMinimum, TypeId::kFloat4},
                            {2136, Kind::kMinimum, TypeId::kFloat8},
                            {2138, Kind::kMinimum, TypeId::kDate},
                            {2139, Kind::kMinimum, TypeId::kTime},
                            {2142, Kind::kMinimum, TypeId::kTimestamp},
                            {2143, Kind::kMinimum, TypeId::kTimestampTz},
                            {2145, Kind::kMinimum, TypeId::kText},
                            {2146, Kind::kMinimum, TypeId::kNumeric},
                            {2517, Kind::kAnd, TypeId::kBool},
                            {2518, Kind::kOr, TypeId::kBool},
                            {2519, Kind::kAnd, TypeId::kBool},
                            {2236, Kind::kAnd, TypeId::kInt2},
                            {2237, Kind::kOr, TypeId::kInt2},
                            {6164, Kind::kXor, TypeId::kInt2},
                            {2238, Kind::kAnd, TypeId::kInt4},
                            {2239, Kind::kOr, TypeId::kInt4},
                            {6165, Kind::kXor, TypeId::kInt4},
                            {2240, Kind::kAnd, TypeId::kInt8},
                            {2241, Kind::kOr, TypeId::kInt8},
                            {6166, Kind::kXor, TypeId::kInt8}};
constexpr uint32_t kCountAny = 2147;

std::optional<Kind> find_kind(uint32_t function, plan::Type arg) {
    if (function == kCountAny) return Kind::kCount;
    for (const Known& known : kKnown)
        if (known.function == function && (known.kind == Kind::kCountRows || known.arg == arg.id))
            return known.kind;
    return std::nullopt;
}

template <typename T>
std::unique_ptr<Accumulator> make_bits(Kind kind, base::MemoryBudget* budget) {
    using Operation = typename Bits<T>::Operation;
    return std::make_unique<Bits<T>>(kind == Kind::kAnd  ? Operation::kAnd
                                     : kind == Kind::kOr ? Operation::kOr
                                                         : Operation::kXor,
                                     budget);
}

template <typename T>
std::unique_ptr<Accumulator> make_exact(plan::Type arg, base::MemoryBudget* budget) {
    return std::make_unique<ExactSum<T>>(arg.id == TypeId::kNumeric ? arg.scale : 0, budget);
}

}  // namespace

std::optional<plan::Type> aggregate_type(uint32_t function, std::span<const plan::Type> args) {
    if (args.size() > 1) return std::nullopt;
    const plan::Type arg = args.empty() ? plan::make_type(TypeId::kBool) : args[0];
    const auto kind = find_kind(function, arg);
    if (!kind || args.empty() != (*kind == Kind::kCountRows)) return std::nullopt;
    const bool dynamic = plan::physical(arg) == Physical::kDecimal;
    switch (*kind) {
        case Kind::kCountRows:
        case Kind::kCount:
            return plan::make_type(TypeId::kInt8);
        case Kind::kSum:
        case Kind::kAverage:
            if (dynamic) return std::nullopt;
            if (arg.id == TypeId::kFloat4)
                return *kind == Kind::kSum ? arg : plan::make_type(TypeId::kFloat8);
            if (arg.id == TypeId::kFloat8) return arg;
            if (*kind == Kind::kAverage) return plan::make_numeric(0, 0);
            if (arg.id == TypeId::kInt2 || arg.id == TypeId::kInt4)
                return plan::make_type(TypeId::kInt8);
            return plan::make_numeric(plan::kMaxPrecision,
                                      arg.id == TypeId::kNumeric ? arg.scale : 0);
        default:
            if (dynamic) return std::nullopt;
            return arg;
    }
}

std::unique_ptr<Accumulator> make_accumulator(uint32_t function, plan::Type arg,
                                              base::MemoryBudget* budget) {
    const auto kind = find_kind(function, arg);
    if (!kind) throw Unrepresentable("an aggregate that the engine does not have");
    const Physical physical = plan::physical(arg);
    const bool maximum = *kind == Kind::kMaximum;
    switch (*kind) {
        case Kind::kCountRows:
        case Kind::kCount:
            return std::make_unique<Count>(budget);
        case Kind::kSum:
        case Kind::kAverage:
            switch (physical) {
                case Physical::kInt16:
                    return make_exact<int16_t>(arg, budget);
                case Physical::kInt32:
                    return make_exact<int32_t>(arg, budget);
                case Physical::kInt64:
                    return make_exact<int64_t>(arg, budget);
                case Physical::kInt128:
                    return make_exact<Int128>(arg, budget);
                case Physical::kFloat32:
                    if (*kind == Kind::kSum)
                        return std::make_unique<FloatSum<float, float>>(false, budget);
                    return std::make_unique<FloatSum<float, double>>(true, budget);
                case Physical::kFloat64:
                    return std::make_unique<FloatSum<double, double>>(*kind == Kind::kAverage,
                                                                      budget);
                default:
                    break;
            }
            break;
        case Kind::kMinimum:
        case Kind::kMaximum:
            switch (physical) {
                case Physical::kInt16:
                    return std::make_unique<Extreme<int16_t>>(maximum, budget);
                case Physical::kInt32:
                    return std::make_unique<Extreme<int32_t>>(maximum, budget);
                case Physical::kInt64:
                    return std::make_unique<Extreme<int64_t>>(maximum, budget);
                case Physical::kInt128:
                    return std::make_unique<Extreme<Int128>>(maximum, budget);
                case Physical::kFloat32:
                    return std::make_unique<Extreme<float>>(maximum, budget);
                case Physical::kFloat64:
                    return std::make_unique<Extreme<double>>(maximum, budget);
                case Physical::kBytes:
                    return std::make_unique<ExtremeBytes>(maximum, arg, budget);
                default:
                    break;
            }
            break;
        default:
            switch (physical) {
                case Physical::kBool:
                    return make_bits<uint8_t>(*kind, budget);
                case Physical::kInt16:
                    return make_bits<int16_t>(*kind, budget);
                case Physical::kInt32:
                    return make_bits<int32_t>(*kind, budget);
                case Physical::kInt64:
                    return make_bits<int64_t>(*kind, budget);
                default:
                    break;
            }
            break;
    }
    throw Unrepresentable("an aggregate over a type that the engine does not have");
}

}  // namespace loom::exec
