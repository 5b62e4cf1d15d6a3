#pragma once
// Columns for tests, in every form, and expressions over them checked in all.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/buffer.h"
#include "exec/expression.h"

namespace loom::exec::test {

using column::Scalar;
using plan::Expr;
using plan::Type;
using plan::TypeId;

/// A value or NULL.
using Value = Scalar;

inline Scalar i(column::Int128 value) {
    return Scalar::of_int(value);
}
inline Scalar f(double value) {
    return Scalar::of_float(value);
}
inline Scalar s(std::string value) {
    return Scalar::of_bytes(std::move(value));
}
inline const Scalar null;

inline Type type(TypeId id) {
    return plan::make_type(id);
}
inline Expr column(int index, Type of) {
    return plan::make_column(index, of);
}
inline Expr column(int index, TypeId of) {
    return plan::make_column(index, type(of));
}
inline Expr constant(TypeId of, Scalar value) {
    return plan::make_constant(type(of), std::move(value));
}
/// A call whose result type the registry gives.
Expr call(uint32_t function, std::vector<Expr> args);
Expr node(plan::ExprKind kind, TypeId of, std::vector<Expr> args);

struct Column {
    Type type;
    std::vector<Scalar> rows;
};

/// Owns the memory of a vector. NULL slots hold garbage.
class OwnedVector {
  public:
    static OwnedVector plain(const Column& column);
    static OwnedVector constant(const Column& column, size_t row);
    /// A dictionary of the distinct values, in an order of its own, with a NULL entry that NULL
    /// rows use or not.
    static OwnedVector codes(const Column& column, int code_width, bool null_entry);

    const Vector& vector() const noexcept { return vector_; }

  private:
    Vector vector_;
    std::vector<std::unique_ptr<base::Buffer>> buffers_;
    std::vector<std::unique_ptr<std::string>> texts_;
    std::unique_ptr<VectorDictionary> dictionary_;

    void* room(size_t bytes);
};

/// Reads a row as a scalar.
Scalar value_at(const Vector& vector, int64_t row);

/// What evaluating a row may yield.
struct Outcome {
    Scalar value;
    std::string fault;  ///< SQLSTATE, or "unrepresentable"; empty: none

    Outcome() {}
    Outcome(Scalar yielded, std::string raised)
        : value(std::move(yielded)), fault(std::move(raised)) {}
    bool operator==(const Outcome& other) const;
};
std::ostream& operator<<(std::ostream& out, const Outcome& outcome);

/// Evaluates row by row (each alone, as a batch of one) and checks that batches in all forms agree
/// with it: plain, constant, codes of 1, 2, 4 bytes; evaluate() and select(). Returns the rows.
enum class Depth : uint8_t { kAllForms, kFewForms };
std::vector<Outcome> evaluate_all(const Expr& expr, const std::vector<Column>& columns,
                                  Depth depth = Depth::kAllForms);

/// The same for one row of constants, without columns.
Outcome evaluate_constant(const Expr& expr);

}  // namespace loom::exec::test
