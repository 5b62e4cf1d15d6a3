#pragma once
// Single values between PostgreSQL and the engine, both ways.

#include "pg/compat/backend.h"

#include <optional>
#include <string>
#include <vector>

#include "column/scalar.h"
#include "exec/vector.h"
#include "plan/type.h"

namespace loom::pg {

/// A numeric as an integer of so many digits after the point.
struct ScaledNumber {
    column::Int128 unscaled = 0;
    int digits = 0;  ///< of `unscaled`, at least 1
    int scale = 0;
};
/// Returns nothing for NaN, infinities and what 38 digits cannot hold.
std::optional<ScaledNumber> scaled_number(Datum numeric);
/// Returns `number` with `scale` digits after the point, if no digit is lost and 38 suffice.
std::optional<column::Int128> rescale(const ScaledNumber& number, int scale);

/// Returns whether bytes are UTF-8 without NUL, as which the engine takes text. PostgreSQL may have
/// others, by way of functions in C.
bool is_valid_text(const char* bytes, int size) noexcept;

/// Turns a value that is not NULL into the engine's domain; nothing if `type` cannot hold it.
std::optional<column::Scalar> to_scalar(Datum value, plan::Type type);

/// The elements of an array (not NULL) of a type that to_scalar knows. NULL elements are kNone.
std::optional<std::vector<column::Scalar>> to_scalars(Datum array, plan::Type type);

/// Turns rows [0, rows) of a plain vector into datums. By-reference values go to
/// CurrentMemoryContext. PostgreSQL-side code: call inside pg_call.
void make_datums_maylongjmp(const exec::Vector& vector, int64_t rows, Datum* values, bool* nulls);

/// Returns what the type's output function says of a constant of an opaque type.
const char* opaque_text_maylongjmp(const column::Scalar& value, plan::Type type);

}  // namespace loom::pg
