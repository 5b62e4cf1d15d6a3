#pragma once
// What is known of expressions before any row is read: bounds of their values, whether they may be
// NULL, whether they may fault.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "gpu/memory/column_layout.h"
#include "plan/expr.h"

namespace loom::gpu {

/// Least and greatest value that there can be, both included. Low above high: no value at all.
struct ValueBounds {
    __int128 low = 0;
    __int128 high = -1;

    bool none() const noexcept { return low > high; }
    bool fits_64() const noexcept { return none() || (low >= INT64_MIN && high <= INT64_MAX); }
    /// Whether so many values, added up in any order, stay within so many bits.
    enum class SumWidth : uint8_t { k64, k128 };
    bool adds_up(uint64_t count, SumWidth width) const noexcept;
};

/// What is known of the columns that an expression reads, and of the parameters of a run.
class ExpressionFacts {
  public:
    using ColumnOf = std::function<const ScanColumn&(int)>;
    ExpressionFacts(ColumnOf column, std::span<const plan::ParameterValue> parameters)
        : column_(std::move(column)), parameters_(parameters) {}

    /// Returns bounds of the values that an expression of integers (and what is held as such) has
    /// where it does not fault. Wider than need be, at most as wide as its type.
    ValueBounds bounds(const plan::Expr& expr) const;
    bool may_be_null(const plan::Expr& expr) const;
    /// As may_fault(), but for what bounds rule out.
    bool can_fault(const plan::Expr& expr) const;

  private:
    ValueBounds call(const plan::Expr& expr) const;
    bool is_valid_field(const plan::Expr& expr) const;
    ValueBounds all_of(const plan::Expr& expr, size_t first, size_t step) const;
    const column::Scalar& constant(const plan::Expr& expr) const;

    ColumnOf column_;
    std::span<const plan::ParameterValue> parameters_;
};

/// Returns the bounds of a type: of numerics those of its digits, of floats and texts none.
ValueBounds bounds_of_type(plan::Type type);

/// Tells whether computing an expression may fault for some row, numerics by their precision.
bool may_fault(const plan::Expr& expr);

/// Tells whether two expressions are one.
bool is_same(const plan::Expr& a, const plan::Expr& b);

}  // namespace loom::gpu
