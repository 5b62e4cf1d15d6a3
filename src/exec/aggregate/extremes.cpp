// min, max, any_value, and the aggregates of bits and booleans.

#include <cmath>

#include "exec/aggregate/families.h"
#include "exec/fault.h"
#include "exec/key.h"
#include "sql/decimal.h"

namespace loom::exec {

using column::BytesView;
using column::Int128;
using plan::Physical;

namespace {

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
            const int order = compare_texts(value, best_[group], type);
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

// min and max of numerics whose values have scales of their own. Of equal values PostgreSQL shows
// the last in the order of its rows, which is not the engine's: where they differ in scale,
// PostgreSQL has to find out.
class ExtremeDecimal final : public Accumulator {
  public:
    ExtremeDecimal(bool maximum, base::MemoryBudget* budget)
        : maximum_(maximum), best_(budget), states_(budget) {}
    void resize(int64_t groups) override {
        best_.resize(groups);
        states_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const auto* values = arg.as<sql::Decimal>();
        for_rows(groups, arg,
                 [&](uint32_t group, int64_t row) { offer(group, values[row], kPresent); });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<ExtremeDecimal&>(other);
        for (const auto [g, to] : map)
            if (from.states_[g] != 0) offer(to, from.best_[g], from.states_[g]);
    }
    void output(int64_t groups, StoredColumn& out) override {
        for (int64_t g = 0; g < groups; ++g)
            if (states_[g] == kAmbiguous)
                throw Unrepresentable("an extreme among equal numerics of different scales");
        put(out, groups, best_.data(), states_.data());
    }

  private:
    // 0: no value yet.
    static constexpr uint8_t kPresent = 1;
    static constexpr uint8_t kAmbiguous = 2;

    void offer(uint32_t group, const sql::Decimal& value, uint8_t state) {
        sql::Decimal& best = best_[group];
        const int order =
            states_[group] == 0 ? (maximum_ ? 1 : -1) : sql::decimal_compare(value, best);
        if (order == 0) {
            if (state == kAmbiguous || value.scale != best.scale) states_[group] = kAmbiguous;
        } else if ((order > 0) == maximum_) {
            best = value;
            states_[group] = state;
        }
    }

    bool maximum_;
    PerGroup<sql::Decimal> best_;
    PerGroup<uint8_t> states_;
};

// any_value. PostgreSQL gives the first in the order of its rows, which is not the engine's; so the
// values of a group have to be one, to the last bit.
class AnyValue final : public Accumulator {
  public:
    AnyValue(plan::Type type, base::MemoryBudget* budget)
        : is_bytes_(plan::physical(type) == Physical::kBytes),
          width_(static_cast<size_t>(plan::width(plan::physical(type)))),
          compared_(plan::is_decimal(type) ? offsetof(plan::Decimal, scale) + sizeof(int64_t)
                                           : width_),
          values_(budget),
          present_(budget),
          owned_(type, budget) {}
    void resize(int64_t groups) override {
        values_.resize(groups);
        present_.resize(groups);
    }
    void update(const uint32_t* groups, const Vector& arg) override {
        const auto* values = arg.as<uint8_t>();
        for_rows(groups, arg, [&](uint32_t group, int64_t row) {
            offer(group, values + static_cast<size_t>(row) * width_);
        });
    }
    void merge(Accumulator& other, const GroupMap& map) override {
        auto& from = static_cast<AnyValue&>(other);
        for (const auto [g, to] : map)
            if (from.present_[g]) offer(to, from.values_[g].bytes);
    }
    void output(int64_t groups, StoredColumn& out) override {
        base::Buffer values;
        values.resize(static_cast<uint64_t>(groups) * width_);
        for (int64_t g = 0; g < groups; ++g)
            std::memcpy(values.data() + static_cast<size_t>(g) * width_, values_[g].bytes, width_);
        put(out, groups, values.data(), present_.data());
    }

  private:
    struct Slot {
        alignas(16) uint8_t bytes[sizeof(plan::Decimal)];
    };

    static BytesView view(const uint8_t* place) {
        BytesView bytes;
        std::memcpy(&bytes, place, sizeof bytes);
        return bytes;
    }
    bool same(const uint8_t* a, const uint8_t* b) const {
        return is_bytes_ ? view(a).text() == view(b).text() : std::memcmp(a, b, compared_) == 0;
    }
    void offer(uint32_t group, const uint8_t* value) {
        uint8_t* place = values_[group].bytes;
        if (present_[group]) {
            if (!same(place, value)) throw Unrepresentable("any_value of values that differ");
            return;
        }
        present_[group] = 1;
        std::memcpy(place, value, width_);
        if (!is_bytes_) return;
        Vector one;
        one.type = owned_.type();
        one.length = 1;
        one.values = value;
        owned_.append(one);
        std::memcpy(place, &owned_.values<BytesView>()[owned_.length() - 1], sizeof(BytesView));
    }

    bool is_bytes_;
    size_t width_;
    size_t compared_;  // without padding
    PerGroup<Slot> values_;
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

template <typename T>
std::unique_ptr<Accumulator> bits_of(AggregateKind kind, base::MemoryBudget* budget) {
    using Operation = typename Bits<T>::Operation;
    return std::make_unique<Bits<T>>(kind == AggregateKind::kAnd  ? Operation::kAnd
                                     : kind == AggregateKind::kOr ? Operation::kOr
                                                                  : Operation::kXor,
                                     budget);
}

}  // namespace

std::unique_ptr<Accumulator> make_extreme(AggregateKind kind, plan::Type arg,
                                          base::MemoryBudget* budget) {
    const bool maximum = kind == AggregateKind::kMaximum;
    switch (plan::physical(arg)) {
        case Physical::kInt16:
            return std::make_unique<Extreme<int16_t>>(maximum, budget);
        case Physical::kInt32:
            return std::make_unique<Extreme<int32_t>>(maximum, budget);
        case Physical::kInt64:
            return std::make_unique<Extreme<int64_t>>(maximum, budget);
        case Physical::kInt128:
            return std::make_unique<Extreme<Int128>>(maximum, budget);
        case Physical::kDecimal:
            return std::make_unique<ExtremeDecimal>(maximum, budget);
        case Physical::kFloat32:
            return std::make_unique<Extreme<float>>(maximum, budget);
        case Physical::kFloat64:
            return std::make_unique<Extreme<double>>(maximum, budget);
        case Physical::kBytes:
            return std::make_unique<ExtremeBytes>(maximum, arg, budget);
        default:
            return nullptr;
    }
}

std::unique_ptr<Accumulator> make_any(plan::Type arg, base::MemoryBudget* budget) {
    return std::make_unique<AnyValue>(arg, budget);
}

std::unique_ptr<Accumulator> make_bits(AggregateKind kind, plan::Type arg,
                                       base::MemoryBudget* budget) {
    switch (plan::physical(arg)) {
        case Physical::kBool:
            return bits_of<uint8_t>(kind, budget);
        case Physical::kInt16:
            return bits_of<int16_t>(kind, budget);
        case Physical::kInt32:
            return bits_of<int32_t>(kind, budget);
        case Physical::kInt64:
            return bits_of<int64_t>(kind, budget);
        default:
            return nullptr;
    }
}

}  // namespace loom::exec
