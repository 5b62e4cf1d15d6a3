#pragma once
// What the families of aggregates' states have in common. For accumulators only.

#include <algorithm>
#include <cstring>
#include <memory>

#include "exec/aggregate/accumulator.h"
#include "exec/aggregate/aggregate_kind.h"

namespace loom::exec {

/// Values by group, zeroed as they come into being.
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
    int64_t size() const noexcept { return size_; }
    T* data() noexcept { return buffer_.template as<T>(); }
    T& operator[](int64_t group) noexcept { return data()[group]; }

  private:
    base::Buffer buffer_;
    int64_t size_ = 0;
    int64_t capacity_ = 0;
};

/// Calls body(group, row) for each row that is not NULL.
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

/// Appends the values of groups [0, groups); those without `present` are NULL. Null `present`:
/// none.
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

// Each returns null for an argument that the family does not take.
std::unique_ptr<Accumulator> make_count(base::MemoryBudget* budget);
std::unique_ptr<Accumulator> make_sum(AggregateKind kind, plan::Type arg,
                                      base::MemoryBudget* budget);
std::unique_ptr<Accumulator> make_extreme(AggregateKind kind, plan::Type arg,
                                          base::MemoryBudget* budget);
std::unique_ptr<Accumulator> make_any(plan::Type arg, base::MemoryBudget* budget);
std::unique_ptr<Accumulator> make_bits(AggregateKind kind, plan::Type arg,
                                       base::MemoryBudget* budget);
std::unique_ptr<Accumulator> make_variance(AggregateKind kind, plan::Type arg,
                                           base::MemoryBudget* budget);
std::unique_ptr<Accumulator> make_approximate_count(plan::Type arg, base::MemoryBudget* budget);
/// Both arguments are float8.
std::unique_ptr<Accumulator> make_regression(AggregateKind kind, base::MemoryBudget* budget);

}  // namespace loom::exec
